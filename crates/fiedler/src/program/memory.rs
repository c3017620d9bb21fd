//! How much memory the program has used, and how much there is.

/// The most bytes held at any time so far, where the system tells.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

/// Bytes that could be had now without pushing anything out, where the system tells; a container's limit counts.
pub fn free_bytes() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let of_machine = || {
        let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
    };
    let of_container = || {
        let limit = number("/sys/fs/cgroup/memory.max")?;
        let used = number("/sys/fs/cgroup/memory.current")?;
        // Files that are only kept at hand give way when memory is wanted.
        let kinds = std::fs::read_to_string("/sys/fs/cgroup/memory.stat").ok()?;
        let files = kinds.lines().find_map(|line| line.strip_prefix("file "))?.trim().parse::<u64>().ok()?;
        Some(limit.saturating_sub(used.saturating_sub(files)))
    };
    of_machine().into_iter().chain(of_container()).min()
}

//! How much memory the process has used, and how much there is.

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

/// Peak memory: the most bytes held at any time so far. Where the system does not keep that (outside of Linux), the bytes held now.
pub fn peak_bytes() -> Option<u64> {
    of_linux().or_else(held_bytes)
}

/// Bytes that could be had now without pushing anything out, where the system tells; a container's limit counts.
pub fn free_bytes() -> Option<u64> {
    of_machine().into_iter().chain(of_container()).min()
}

/// Bytes as people say them.
pub fn in_words(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 995e6 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// What the machine has left, on every system that `sysinfo` knows.
fn of_machine() -> Option<u64> {
    let mut system = System::new();
    system.refresh_memory();
    Some(system.available_memory()).filter(|&bytes| bytes > 0)
}

fn of_linux() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

/// Bytes held now.
pub fn held_bytes() -> Option<u64> {
    let own = sysinfo::get_current_pid().ok()?;
    let mut system = System::new();
    let memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), true, memory);
    system.process(own).map(sysinfo::Process::memory)
}

/// What the limit of a Linux control group leaves.
fn of_container() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")?;
    let used = number("/sys/fs/cgroup/memory.current")?;
    // Files that are only kept at hand give way when memory is wanted.
    let kinds = std::fs::read_to_string("/sys/fs/cgroup/memory.stat").ok()?;
    let files = kinds.lines().find_map(|line| line.strip_prefix("file "))?.trim().parse::<u64>().ok()?;
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_asking_gives_a_sensible_answer() {
        assert!(free_bytes().is_some_and(|bytes| bytes > 1 << 20));
        let held = held_bytes();
        assert!(held.is_some_and(|bytes| bytes > 1 << 16), "{held:?}");
        assert!(peak_bytes() >= held.filter(|_| cfg!(target_os = "linux")));
    }

    /// The way that all systems share tells what Linux tells by itself, but for what other processes do in between.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_has_as_much_left_as_the_kernel_says() {
        let kernel = || {
            let text = std::fs::read_to_string("/proc/meminfo").expect("/proc/meminfo");
            let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).expect("MemAvailable");
            1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number")
        };
        let (before, found, after) = (kernel(), of_machine().expect("a number of bytes"), kernel());
        let (low, high) = (before.min(after), before.max(after));
        let slack = high / 10;
        assert!(low.saturating_sub(slack) <= found && found <= high + slack, "{found} is not near {low} to {high}");
        assert!(free_bytes().is_some_and(|free| free <= found + slack));
    }
}

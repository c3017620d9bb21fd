//! One process in a folder at a time: that of a run, or one that runs, schemes and tables are kept in.
//!
//! Whoever works in a folder holds `run.lock` there: JSON with process id, host and start time. It is made only where there is none,
//! refreshed while work goes on, and removed at the end. A lock is stale when its process on this host is gone, or when it was made on
//! another host and has not been refreshed for [`STALE_AFTER`]; only then is it taken over.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use fiedler_graph::{Event, Observer};
use serde::{Deserialize, Serialize};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::error::{Error, Result};

/// Name of the lock.
const FILE: &str = "run.lock";
/// How long a lock of another host counts after it was last refreshed.
pub const STALE_AFTER: Duration = Duration::from_secs(6 * 3600);
/// Time between two refreshments.
const REFRESHED_EVERY: Duration = Duration::from_secs(60);
/// How long a lock may be unreadable: it is made in two steps, the second of which takes no time.
const UNREADABLE_FOR: Duration = Duration::from_secs(10);
/// Seconds by which clocks may disagree on when a process began.
const CLOCKS: u64 = 5;

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    pid: u32,
    host: String,
    /// Seconds since 1970.
    started: u64,
    /// What tells two locks of one process apart.
    nanoseconds: u32,
}

/// A folder that only this process works in, until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    owner: Owner,
    refreshed: Mutex<Instant>,
}

impl RunLock {
    /// Makes the folder where it is not there, and takes its lock.
    ///
    /// # Errors
    /// As [`RunLock::take`].
    pub fn make(folder: &Path) -> Result<RunLock> {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        RunLock::take(folder)
    }

    /// Takes the lock of a folder that exists.
    ///
    /// # Errors
    /// When another process holds it ([`Error::Busy`]), or the system refuses.
    pub fn take(folder: &Path) -> Result<RunLock> {
        let path = folder.join(FILE);
        let owner = Owner::this_process();
        // The second attempt is for a stale lock that was removed in between.
        for _ in 0..2 {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return RunLock::fill(path, owner, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => remove_stale(folder, &path)?,
                Err(error) => return Err(Error::io("create", &path)(error)),
            }
        }
        Err(busy(folder, &path, "another process that has just begun"))
    }

    fn fill(path: PathBuf, owner: Owner, mut file: File) -> Result<RunLock> {
        let lock = RunLock { path, owner, refreshed: Mutex::new(Instant::now()) };
        let text = serde_json::to_string(&lock.owner).map_err(|error| Error::unexpected("lock", error))?;
        file.write_all(text.as_bytes()).map_err(Error::io("write", &lock.path))?;
        Ok(lock)
    }

    /// Tells other hosts that work goes on; at most once a minute does anything.
    fn refresh(&self) {
        let Ok(mut last) = self.refreshed.lock() else { return };
        if last.elapsed() >= REFRESHED_EVERY {
            *last = Instant::now();
            // Where that fails the lock only looks older than it is.
            let file = OpenOptions::new().write(true).open(&self.path);
            let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        }
    }

    /// An observer that refreshes the lock with every event.
    pub(crate) fn refreshing<'a>(&'a self, observer: &'a dyn Observer) -> impl Observer + 'a {
        Refreshing { lock: self, observer }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A lock that somebody took over is theirs.
        if Owner::read(&self.path).as_ref() == Some(&self.owner) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

struct Refreshing<'a> {
    lock: &'a RunLock,
    observer: &'a dyn Observer,
}

impl Observer for Refreshing<'_> {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        self.lock.refresh();
        self.observer.event(event)
    }
}

impl Owner {
    fn this_process() -> Owner {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Owner { pid: std::process::id(), host: this_host(), started: now.as_secs(), nanoseconds: now.subsec_nanos() }
    }

    fn read(path: &Path) -> Option<Owner> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    fn in_words(&self) -> String {
        format!("process {} on {} since {}", self.pid, self.host, in_words(self.started))
    }

    /// Whether the process is gone; a later process of the same number is another one.
    fn is_gone(&self) -> bool {
        let pid = Pid::from_u32(self.pid);
        let mut system = System::new();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
        match system.process(pid) {
            Some(process) => process.start_time() > self.started + CLOCKS,
            None => true,
        }
    }
}

fn this_host() -> String {
    System::host_name().unwrap_or_else(|| "this host".into())
}

/// Removes a lock that nobody holds any more; fails where somebody does.
fn remove_stale(folder: &Path, path: &Path) -> Result<()> {
    let owner = Owner::read(path);
    let Some(age) = age(path) else { return Ok(()) };
    let stale = match &owner {
        Some(owner) if owner.host == this_host() => owner.is_gone(),
        Some(_) => age > STALE_AFTER,
        None => age > UNREADABLE_FOR,
    };
    if !stale {
        let holder = owner.map_or_else(|| "a process that cannot be told".into(), |owner| owner.in_words());
        return Err(busy(folder, path, &holder));
    }
    // Two processes may find the same stale lock: what is moved away must still be it.
    let moved = folder.join(format!(".fiedler-lock-{}.part", std::process::id()));
    match fs::rename(path, &moved) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("remove", path)(error)),
    }
    let theirs = Owner::read(&moved).filter(|now| Some(now) != owner.as_ref());
    if let Some(theirs) = theirs {
        let _ = fs::hard_link(&moved, path);
        let _ = fs::remove_file(&moved);
        return Err(busy(folder, path, &theirs.in_words()));
    }
    fs::remove_file(&moved).map_err(Error::io("remove", &moved))
}

/// Time since a lock was made or refreshed; none where it is gone.
fn age(path: &Path) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(modified.elapsed().unwrap_or_default())
}

fn busy(folder: &Path, path: &Path, owner: &str) -> Error {
    let hint =
        format!("wait for it, or choose another folder; if no such process works there, remove {}", path.display());
    Error::Busy { folder: folder.into(), owner: owner.into(), hint }
}

/// Seconds since 1970 as a date and a time of day.
fn in_words(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's `civil_from_days`, for dates after 1970.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn write(folder: &Path, owner: &Owner) {
        fs::write(folder.join(FILE), serde_json::to_string(owner).unwrap()).unwrap();
    }

    #[test]
    fn a_second_holder_is_refused_and_told_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let lock = RunLock::take(folder.path()).unwrap();
        let refused = RunLock::take(folder.path()).unwrap_err();
        assert_eq!(refused.kind(), crate::ErrorKind::Busy);
        assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
        drop(lock);
        assert!(!folder.path().join(FILE).exists());
        RunLock::take(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_of_a_process_that_is_gone_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = Owner { pid: child.id(), ..Owner::this_process() };
        child.wait().unwrap();
        write(folder.path(), &gone);
        let lock = RunLock::take(folder.path()).unwrap();
        assert_eq!(Owner::read(&folder.path().join(FILE)), Some(lock.owner.clone()));
        // A process of the same number that began later is another one.
        drop(lock);
        write(folder.path(), &Owner { started: 0, ..Owner::this_process() });
        RunLock::take(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_of_another_host_counts_until_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        write(folder.path(), &Owner { host: "elsewhere".into(), ..Owner::this_process() });
        let refused = RunLock::take(folder.path()).unwrap_err();
        assert!(refused.to_string().contains("elsewhere"), "{refused}");
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - STALE_AFTER - Duration::from_secs(1)).unwrap();
        RunLock::take(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_that_somebody_took_over_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let lock = RunLock::take(folder.path()).unwrap();
        let theirs = Owner { host: "elsewhere".into(), ..Owner::this_process() };
        write(folder.path(), &theirs);
        drop(lock);
        assert_eq!(Owner::read(&folder.path().join(FILE)), Some(theirs));
    }

    #[test]
    fn dates_are_right() {
        assert_eq!(in_words(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(in_words(1_709_210_096), "2024-02-29 12:34:56 UTC");
    }
}

//! The threads that work: a pool of the package's own.
//!
//! After a fork the threads of a pool are gone, and whoever waits for them waits for ever. So a pool belongs to the process that made it:
//! another process makes a new one, and leaves the old where it is. It is asked for only while a thread is attached to Python, which is
//! where Python forks, so that nobody holds the lock when it does.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// Bytes of a thread's stack, as in the program.
const STACK: usize = 8 << 20;

struct Pool {
    process: u32,
    threads: Arc<ThreadPool>,
}

struct Pools {
    /// Threads that were asked for; zero stands for as many as the machine has.
    wanted: usize,
    current: Option<Pool>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { wanted: 0, current: None });

/// The pool of this process.
pub fn get(_: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(pool) = pools.current.as_ref().filter(|pool| pool.process == process) {
        return Ok(Arc::clone(&pool.threads));
    }
    let threads = ThreadPoolBuilder::new().num_threads(pools.wanted).stack_size(STACK).build();
    let threads = Arc::new(threads.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?);
    // Dropping a pool waits for threads that are not there in this process.
    mem::forget(pools.current.replace(Pool { process, threads: Arc::clone(&threads) }));
    Ok(threads)
}

/// Chooses how many threads work; `None` for as many as the machine has. Work under way goes on with those it has.
#[pyfunction]
pub fn set_threads(py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
    if threads == Some(0) {
        return Err(errors::setting(py, "threads", "threads is 0; expected a positive number, or None"));
    }
    let before = {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        pools.wanted = threads.unwrap_or(0);
        pools.current.take()
    };
    match before {
        // Its threads end when whoever works with them is done.
        Some(pool) if pool.process == std::process::id() => py.detach(|| drop(pool)),
        other => mem::forget(other),
    }
    Ok(())
}

//! Ctrl-C and a request to terminate ask politely: work under way stops at its next step, and nothing half-written is left.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on neither Ctrl-C nor SIGTERM, which batch systems send, kills the program at once; a second one does.
pub fn listen(quiet: bool) {
    // Where no handler can be set, signals work as they always do.
    let _ = ctrlc::set_handler(move || stop(quiet));
    #[cfg(unix)]
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|_| stop(quiet)));
    }
}

fn stop(quiet: bool) {
    if ASKED.swap(true, Ordering::SeqCst) {
        // Checkpoints are renamed into place when they are whole, so the last one stays whatever is under way.
        if !quiet {
            anstream::eprintln!("stopped at once; what the last checkpoint holds can be resumed");
        }
        std::process::exit(130);
    }
    if !quiet {
        anstream::eprintln!("stopping after this step; press Ctrl-C again to stop at once");
    }
}

/// Whether the user asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

//! Ctrl-C asks politely: work under way stops at its next step, and nothing half-written is left.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C no longer kills the program at once; a second one does.
pub fn listen(quiet: bool) {
    let asked = move || {
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
    };
    // Where no handler can be set, Ctrl-C works as it always does.
    let _ = ctrlc::set_handler(asked);
}

/// Whether the user asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

//! The program `fiedler`; see `fiedler_cli`.

use std::process::ExitCode;

/// Large arrays come and go; this allocator hands their pages over faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fiedler_cli::main(std::env::args_os().collect()).into()
}

//! The program `fiedler`.

mod program;

/// Large arrays come and go; this allocator hands their pages over faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    program::run()
}

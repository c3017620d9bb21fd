//! The program `fiedler`.

mod program;

fn main() -> std::process::ExitCode {
    program::run()
}

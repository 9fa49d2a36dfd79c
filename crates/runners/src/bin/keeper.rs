//! The keeper on its own, for the tests of this crate. The product starts the same
//! function as a hidden verb of its one binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    legation_runners::keep::main()
}

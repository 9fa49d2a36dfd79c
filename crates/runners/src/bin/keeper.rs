//! The keeper and the envoy on their own, for the tests of this crate. The product starts
//! the same functions as hidden verbs of its one binary.

use std::process::ExitCode;

use legation_runners::{envoy, keep};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(envoy::VERB) {
        return envoy::main();
    }
    keep::main()
}

//! Everything that is heard of a program, in words.

use std::fmt::Write as _;

use legation_runners::envoy::{Outcome, Program, Turn};

use super::{charge, exit, shown};

/// What one turn comes to, if the program prints this and ends with that code.
pub(crate) fn hear<P: Program + Default>(output: &str, code: i32) -> String {
    let mut program = P::default();
    program.spawn(&charge(), &Turn { text: "go on", no: 0 }).unwrap();
    let mut events = Vec::new();
    program.push(output.as_bytes(), &mut events);
    let end = exit(code);
    program.overhear(end.last_words, &mut events);
    let mut text = shown(&events);
    let _ = match program.end(&end) {
        Outcome::Over => writeln!(text, "over"),
        Outcome::Broken(fault) => {
            let after = fault.retry_after.map(|after| format!(", again after {after} s"));
            let after = after.unwrap_or_default();
            writeln!(text, "broken, {}{after}: {}", fault.kind.as_str(), fault.message)
        }
    };
    text
}

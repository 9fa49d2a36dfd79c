//! A slash command that is understood is written back as a line that means the same.
#![no_main]

use legation_core::text::slash::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    if let Ok(command) = parse(line) {
        assert_eq!(parse(&command.to_string()).as_ref(), Ok(&command));
    }
});

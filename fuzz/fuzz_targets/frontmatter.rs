//! Agent files of every vendor: read, or reported, and never both left out.
#![no_main]

use std::path::Path;

use legation_runners::agents::{Vendor, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for vendor in Vendor::ALL {
        let (agent, findings) = read(vendor, Path::new("agent.md"), bytes);
        assert!(agent.is_some() || !findings.is_empty());
    }
});

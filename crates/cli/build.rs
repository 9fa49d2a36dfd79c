//! How the binary is linked.
//!
//! A keeper and an envoy stand beside every attempt, all of them this binary. Linked to be
//! loaded anywhere, each would write half a megabyte of addresses at its start and share
//! none of it; linked for one place, it writes none, and a hundred agents fit where thirty
//! did. The code is free of `unsafe`, and the libraries, stack and heap move as before.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let environment = std::env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default();
    if target == "linux" && environment == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}

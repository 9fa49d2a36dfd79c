//! Links the program at a fixed address.
//!
//! Every attempt starts it twice, as its keeper and to hand in its return, and a program
//! that can lie anywhere spends most of its start on moving itself: some thirty thousand
//! addresses, each page of which is copied and shared with nobody. What is written in Rust loses little by it;
//! stack, heap and libraries lie where the system puts them.

fn main() {
    let is = |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value == wanted);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

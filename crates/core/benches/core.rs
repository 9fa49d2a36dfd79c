//! How fast the rules are. Run by `cargo xtask bench core`, which asks for the
//! cases once in time and once in instructions.

mod cases;
mod counts;

use std::process::ExitCode;

use criterion::Criterion;

fn main() -> ExitCode {
    if let Some(exit) = counts::asked_for() {
        return exit;
    }
    let mut criterion = Criterion::default().configure_from_args();
    for case in cases::CASES {
        let mut round = (case.set_up)();
        criterion.bench_function(case.name, |bencher| bencher.iter(&mut round));
    }
    criterion.final_summary();
    ExitCode::SUCCESS
}

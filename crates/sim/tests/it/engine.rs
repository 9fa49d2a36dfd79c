//! The engine in its made-up world: it holds every property, and worlds that are
//! broken on purpose do not.

use legation_sim::engine_world::{Flaw, run, run_flawed};

fn log(seed: u64) -> Vec<String> {
    run(seed).unwrap_or_else(|(broken, _)| panic!("seed {seed}: {broken}")).log
}

/// Whether a flaw breaks this property in one of the first worlds.
fn breaks(flaw: Flaw, property: &str) -> bool {
    let broken = |seed| run_flawed(seed, flaw).err();
    (0..100).filter_map(broken).any(|(broken, _)| broken.property() == property)
}

#[test]
fn the_same_seed_is_the_same_life() {
    for seed in 0..10 {
        assert_eq!(log(seed), log(seed), "seed {seed}");
    }
}

#[test]
fn thirty_seeds_hold_every_property() {
    let outcomes = (0..30).map(|seed| match run(seed) {
        Ok(outcome) => outcome,
        Err((broken, _)) => panic!("seed {seed}: {broken}"),
    });
    let (mut steps, mut crashes, mut nested) = (0, 0, 0);
    for outcome in outcomes {
        steps += outcome.steps;
        crashes += outcome.crashes;
        let asked_below = |line: &&String| line.contains("\"caller\":{\"attempt\"");
        nested += outcome.log.iter().filter(asked_below).count();
    }
    assert!(steps > 2_000, "{steps} steps are no test");
    assert!(crashes > 5, "{crashes} crashes are no test");
    assert!(nested > 10, "{nested} nested delegations are no test");
}

#[test]
fn an_end_that_is_never_reported_is_noticed() {
    assert!(breaks(Flaw::LosesAnEnd, "nothing waits for ever"));
}

#[test]
fn a_journal_that_forgets_what_it_took_is_noticed() {
    assert!(breaks(Flaw::LosesAnAppend, "only what is written down is started"));
    assert!(breaks(Flaw::LosesAnAppend, "what is shown is in the log"));
    assert!(breaks(Flaw::LosesAnAppend, "an answer is what the log says"));
}

#[test]
fn something_that_is_started_twice_is_noticed() {
    assert!(breaks(Flaw::StartsTwice, "nothing is started twice"));
}

#[test]
fn an_engine_that_runs_more_than_it_may_is_noticed() {
    assert!(breaks(Flaw::TooWide, "no more slots are taken than there are"));
}

#[test]
fn a_process_that_outlives_its_end_is_noticed() {
    assert!(breaks(Flaw::OutlivesItsEnd, "nothing runs beside its successor"));
}

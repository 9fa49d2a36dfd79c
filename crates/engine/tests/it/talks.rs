//! How many conversations the engine has at once, and with whom.

use legation_core::ids::AttemptId;
use legation_engine::talks::{Full, MAX_TALKS_OF_ATTEMPT, MAX_UNNAMED_TALKS, Side, Talk, Talks};

const MOST: usize = 4096;

fn attempt(number: usize) -> Side {
    Side::Attempt(AttemptId::new(format!("exec-{number}")))
}

#[test]
fn an_attempt_has_a_small_number_and_no_other_has_less_for_it() {
    let talks = Talks::new(MOST);
    let mut open: Vec<Talk> = Vec::new();
    open.extend((0..MAX_TALKS_OF_ATTEMPT).map(|_| talks.begin(attempt(1)).unwrap()));
    assert_eq!(talks.begin(attempt(1)).unwrap_err(), Full::Attempt(MAX_TALKS_OF_ATTEMPT));
    drop(talks.begin(attempt(2)).unwrap());
    // Whoever ends one may have another.
    open.pop();
    open.push(talks.begin(attempt(1)).unwrap());
    open.clear();
    assert!(talks.is_empty());
}

#[test]
fn however_many_attempts_there_are_somebody_outside_gets_in() {
    let talks = Talks::new(MOST);
    let all = (0..).map(|at| talks.begin(attempt(at / MAX_TALKS_OF_ATTEMPT)));
    let _inside: Vec<Talk> = all.map_while(Result::ok).collect();
    assert_eq!(talks.begin(attempt(9999)).unwrap_err(), Full::Attempts(MOST - MOST / 4));
    let outside: Vec<Talk> = (0..).map_while(|_| talks.begin(Side::Outside).ok()).collect();
    assert_eq!(outside.len(), MOST / 4);
    assert_eq!(talks.begin(Side::Outside).unwrap_err(), Full::Engine(MOST));
}

#[test]
fn who_has_not_said_which_attempt_it_is_is_counted_and_moves_once_it_has() {
    let talks = Talks::new(MOST);
    let (Side::Attempt(one), other) = (attempt(1), attempt(2)) else { panic!() };
    let mut silent: Vec<Talk> =
        (0..MAX_UNNAMED_TALKS).map(|_| talks.begin(Side::Unnamed).unwrap()).collect();
    assert_eq!(talks.begin(Side::Unnamed).unwrap_err(), Full::Attempts(MAX_UNNAMED_TALKS));
    let moved = silent.iter_mut().map(|talk| talk.is_of(&one)).filter(Result::is_ok).count();
    assert_eq!(moved, MAX_TALKS_OF_ATTEMPT);
    // That one speaks for it is no way around, wherever it comes from.
    let mut daemon = talks.begin(Side::Outside).unwrap();
    assert_eq!(daemon.is_of(&one), Err(Full::Attempt(MAX_TALKS_OF_ATTEMPT)));
    // Nor is it that its process has ended.
    let ended = (0..).map_while(|_| talks.begin(Side::Unknown).ok());
    assert_eq!(ended.collect::<Vec<_>>().len(), MAX_TALKS_OF_ATTEMPT);
    drop((silent, daemon));
    drop(talks.begin(other).unwrap());
    assert!(talks.is_empty());
}

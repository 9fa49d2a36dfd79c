//! An engine that goes away while somebody waits.

use expect_test::expect;
use legation_engine::news::What;
use legation_engine::protocol::Wish;

use super::engine;
use crate::fake_engine::{Step, accepted, answer, news, run};
use crate::session::Session;

#[test]
fn an_engine_that_dies_is_looked_for_and_the_same_delegation_waited_for() {
    let session = Session::new();
    let dies = vec![accepted(), news(What::Started(run()))];
    let engine = engine(&session, vec![dies, vec![answer("partial")]]);
    expect![[r#"
        a → linter: the plan names it
        2026-01-02T03:04:05Z del-1 started   a [linter] lint
        Look after it
        del-1 · partial · parallel · 1 of 1 · 1.6s · 1,200 tokens · $0.02
        └─ partial    a lint · linter · 1.5s · 1,200 tokens · $0.02 · attempt 2
             Found \u{1b}[31mnothing.
        Result: All is well.
          a.txt  report
        Next: legation diff del-1 a shows its work, which is kept.
          legation retry del-1 a   starts it again
          legation skip del-1 a    goes on without it
        ! the engine has gone; looking for it again
        [exit 3]
    "#]]
    .assert_eq(&session.run(&["delegate", "Look after it"]));
    assert!(matches!(engine.heard().wish, Wish::Delegate(_)));
    let Wish::Wait { delegation } = engine.heard().wish else { panic!("a wait") };
    assert_eq!(delegation.as_str(), "del-1");
}

#[test]
fn an_engine_that_dies_before_it_answers_is_asked_again_with_the_same_key() {
    let session = Session::new();
    let engine = engine(&session, vec![Vec::new(), vec![accepted(), answer("completed")]]);
    let seen = session.run(&["--json", "delegate", "Look after it"]);
    assert!(seen.contains("\"status\": \"completed\""), "{seen}");
    let wishes = [engine.heard().wish, engine.heard().wish];
    assert_eq!(wishes[0], wishes[1]);
}

#[test]
fn an_engine_that_dies_again_and_again_is_given_up() {
    let session = Session::new();
    let mut scripts = vec![vec![accepted()]];
    scripts.extend(vec![Vec::new(); 5]);
    let _engine = engine(&session, scripts);
    let seen = session.run(&["delegate", "Look after it"]);
    expect![[r#"
        a → linter: the plan names it
        ! the engine has gone; looking for it again
        ! the engine has gone; looking for it again
        ! the engine has gone; looking for it again
        ! the engine has gone; looking for it again
        ! the engine has gone; looking for it again
        ! ERROR: the engine has gone
        ! Suggestion: `legation status` shows what is recorded; try again
        [exit 1]
    "#]]
    .assert_eq(&seen);
}

#[test]
fn an_engine_of_another_release_is_not_asked_again() {
    let session = Session::new();
    let _engine = engine(&session, vec![vec![Step::Write("{\"hello\":1}\n")]]);
    expect![[r#"
        ! ERROR: the engine said something that cannot be understood: unknown variant `hello`, expected one of `accepted`, `news`, `note`, `answer`, `done`, `refused` at line 1 column 8
        ! Suggestion: end the engine of another release, then try again
        [exit 1]
    "#]].assert_eq(&session.run(&["delegate", "Look after it"]));
}

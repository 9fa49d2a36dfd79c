//! Whose process a caller is.

use legation_runners::supervise::{Ancestry, ancestry, owner_of, session_in};

use super::stage::{Stage, ended, pids};

#[tokio::test]
async fn a_caller_is_known_by_its_ancestors_whatever_it_did_to_hide() {
    let (one, two) = (Stage::new(), Stage::new());
    let commands = "echo $$
        (setsid sh -c 'echo $$; exec sleep 1000' &) &
        env -i setsid sh -c '(setsid sh -c \"echo \\$\\$; exec sleep 1000\" &) &' &
        wait; exec sleep 1000";
    let mut first = one.shell(commands).await;
    let mut second = two.shell("echo $$; exec sleep 1000").await;
    let inside = pids(&mut first, 3).await;
    let other = pids(&mut second, 1).await;
    let keepers = [(first.process, "first"), (second.process, "second")];
    for pid in inside {
        assert_eq!(owner_of(pid, &keepers), Some("first"), "{pid}");
        assert_eq!(ancestry(pid, &[]), Ancestry::<&str>::Own, "{pid}");
    }
    assert_eq!(owner_of(other[0], &keepers), Some("second"));
    assert!(session_in(other[0], &two.session));
    assert!(!session_in(other[0], &one.session));
    assert_eq!(ancestry(first.process.pid, &keepers), Ancestry::Attempt("first"));
    // This test, its parents and the first process of all are nobody's.
    assert_eq!(ancestry(std::process::id(), &keepers), Ancestry::Outside);
    assert_eq!(ancestry(1, &keepers), Ancestry::Outside);
    for running in [&mut first, &mut second] {
        running.remote().stop();
        ended(running).await;
    }
    assert_eq!(ancestry(other[0], &keepers), Ancestry::Gone);
}

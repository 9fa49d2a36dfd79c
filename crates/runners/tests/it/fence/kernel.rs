//! Kernels that can hold less, and none at all.

use expect_test::expect;
use landlock::{AccessFs, Ruleset, RulesetAttr};
use legation_core::config::Network;
use legation_runners::fence::{Error, Held, Kernel};

use super::stage::Stage;

#[test]
fn what_each_kernel_holds() {
    let mut told = String::new();
    for abi in 0..=7 {
        let obstacle = (abi == 0).then(|| "this kernel has no Landlock".to_owned());
        let kernel = Kernel { abi, obstacle };
        let held = kernel.rules().filter(|(_, held)| *held == Held::Yes);
        let held: Vec<&str> = held.map(|(rule, _)| rule.name).collect();
        let [fit, offline] = [Network::Allow, Network::Deny].map(|network| {
            let gaps = kernel.gaps(network).len();
            format!(
                "{gaps} gaps, {}",
                if kernel.unfit(network).is_none() { "fit" } else { "unfit" }
            )
        });
        told.push_str(&format!("{abi}: {}; {fit}; offline {offline}\n", held.join(" ")));
    }
    expect![[r#"
        0: ; 7 gaps, unfit; offline 9 gaps, unfit
        1: read memory; 5 gaps, unfit; offline 7 gaps, unfit
        2: read move memory; 4 gaps, unfit; offline 6 gaps, unfit
        3: read write move memory; 3 gaps, fit; offline 5 gaps, unfit
        4: read write move network memory; 3 gaps, fit; offline 4 gaps, fit
        5: read write move devices network memory; 2 gaps, fit; offline 3 gaps, fit
        6: read write move devices network signals abstract_sockets memory; 0 gaps, fit; offline 1 gaps, fit
        7: read write move devices network signals abstract_sockets memory; 0 gaps, fit; offline 1 gaps, fit
    "#]].assert_eq(&told);
}

#[test]
fn this_kernel_is_asked_once_and_can_fence() {
    let kernel = Kernel::current();
    assert!(kernel.can_fence(), "{kernel:?}");
    assert!(std::ptr::eq(kernel, Kernel::current()));
    assert_eq!(Stage::new().try_run("true").unwrap().1.gaps, kernel.gaps(Network::Allow));
}

/// Runs something on a thread that is inside so many fences that the kernel raises no
/// further one.
fn fenced_to_the_limit<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            for _ in 0..16 {
                let ruleset = Ruleset::default().handle_access(AccessFs::MakeBlock).unwrap();
                ruleset.create().unwrap().restrict_self().unwrap();
            }
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn where_no_fence_can_be_raised_a_program_runs_without_and_says_so() {
    let mut stage = Stage::new();
    stage.fence.required = false;
    let (said, standing) = fenced_to_the_limit(|| stage.try_run("cat $R/house/secret")).unwrap();
    assert_eq!(said, "house/secret");
    assert!(!standing.is_on);
    expect!["failed to restrict the calling thread: Argument list too long (os error 7)"]
        .assert_eq(&standing.gaps.join("\n"));
}

#[test]
fn where_it_is_required_nothing_runs_without() {
    let stage = Stage::new();
    let refused = fenced_to_the_limit(|| stage.try_run("touch ran"));
    assert!(matches!(&refused, Err(Error::NoFence(_))), "{refused:?}");
    assert!(!stage.path("work/ran").exists());
}

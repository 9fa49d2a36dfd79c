//! Kernels that can hold less, and none at all.

use expect_test::expect;
use landlock::{AccessFs, Ruleset, RulesetAttr};
use legation_core::config::Network;
use legation_runners::fence::{Asked, Error, Held, Kernel, Namespaces};

use super::stage::Stage;

const EVERY_NETWORK: [Asked; 3] =
    [asked(Network::Allow), asked(Network::OwnPorts), asked(Network::Deny)];

const fn asked(network: Network) -> Asked {
    Asked { network, required: false }
}

fn none() -> Namespaces {
    Namespaces::None("they take root".to_owned())
}

/// A kernel that has all that is not told of it.
fn with(abi: u32, namespaces: Namespaces) -> Kernel {
    Kernel { abi, obstacle: None, namespaces, unparted: None, unfiltered: None, untold: None }
}

fn fitness(kernel: &Kernel, network: Asked) -> String {
    let gaps = kernel.gaps(network).len();
    format!("{gaps} gaps, {}", if kernel.unfit(network).is_none() { "fit" } else { "unfit" })
}

#[test]
fn what_each_kernel_holds() {
    let mut told = String::new();
    for abi in 0..=7 {
        let obstacle = (abi == 0).then(|| "this kernel has no Landlock".to_owned());
        let kernel = Kernel { obstacle, ..with(abi, none()) };
        let held = kernel.rules(asked(Network::Allow)).filter(|(_, held)| *held == Held::Yes);
        let held: Vec<&str> = held.map(|(rule, _)| rule.name).collect();
        let [fit, ports, offline] = EVERY_NETWORK.map(|network| fitness(&kernel, network));
        let held = held.join(" ");
        told.push_str(&format!("{abi}: {held}; {fit}; own ports {ports}; offline {offline}\n"));
    }
    expect![[r#"
        0: ; 12 gaps, unfit; own ports 13 gaps, unfit; offline 14 gaps, unfit
        1: read limits memory keys; 8 gaps, unfit; own ports 9 gaps, unfit; offline 10 gaps, unfit
        2: read move limits memory keys; 7 gaps, unfit; own ports 8 gaps, unfit; offline 9 gaps, unfit
        3: read write move limits memory keys; 6 gaps, fit; own ports 7 gaps, unfit; offline 8 gaps, unfit
        4: read write move network ports limits memory keys; 6 gaps, fit; own ports 6 gaps, fit; offline 7 gaps, unfit
        5: read write move devices network ports limits memory keys; 5 gaps, fit; own ports 5 gaps, fit; offline 6 gaps, unfit
        6: read write move devices network ports signals limits abstract_sockets memory keys; 3 gaps, fit; own ports 3 gaps, fit; offline 4 gaps, unfit
        7: read write move devices network ports signals limits abstract_sockets memory keys refusals; 3 gaps, fit; own ports 3 gaps, fit; offline 4 gaps, unfit
    "#]].assert_eq(&told);
}

#[test]
fn what_namespaces_add() {
    let mut told = String::new();
    for (name, namespaces) in
        [("both", Namespaces::Both), ("in users", Namespaces::InUsers), ("none", none())]
    {
        let kernel = with(3, namespaces);
        let required = Asked { required: true, ..Asked::default() };
        for asked in EVERY_NETWORK.into_iter().chain([required]) {
            let rules = kernel.rules(asked);
            let rules = rules.filter(|(rule, _)| {
                ["network", "shared_memory", "modes", "udp"].contains(&rule.name)
            });
            let rules: Vec<String> = rules
                .map(|(rule, held)| match held {
                    Held::Yes => rule.name.to_owned(),
                    Held::No(why) => {
                        format!("no {} ({}", rule.name, why.rsplit_once('(').unwrap().1)
                    }
                })
                .collect();
            let fitness = fitness(&kernel, asked);
            let Asked { network, required } = asked;
            let network = if required { "required".into() } else { format!("{network:?}") };
            told.push_str(&format!("{name}, {network}: {}; {fitness}\n", rules.join(", ")));
        }
    }
    expect![[r#"
        both, Allow: network, modes, shared_memory, udp; 3 gaps, fit
        both, OwnPorts: network, modes, shared_memory, udp; 4 gaps, unfit
        both, Deny: network, modes, shared_memory, udp; 3 gaps, fit
        both, required: network, modes, shared_memory, udp; 3 gaps, fit
        in users, Allow: network, no modes (it takes root, a network that is denied, or a fence that is required), no shared_memory (it takes root, a network that is denied, or a fence that is required), udp; 6 gaps, fit
        in users, OwnPorts: network, no modes (it takes root, a network that is denied, or a fence that is required), no shared_memory (it takes root, a network that is denied, or a fence that is required), udp; 7 gaps, unfit
        in users, Deny: network, modes, shared_memory, udp; 3 gaps, fit
        in users, required: network, modes, shared_memory, udp; 3 gaps, fit
        none, Allow: no network (Linux 6.7) or without a filter of calls, no modes (they take root), no shared_memory (they take root), no udp (they take root); 6 gaps, fit
        none, OwnPorts: no network (Linux 6.7) or without a filter of calls, no modes (they take root), no shared_memory (they take root), no udp (they take root); 7 gaps, unfit
        none, Deny: no network (Linux 6.7) or without a filter of calls, no modes (they take root), no shared_memory (they take root), no udp (they take root); 8 gaps, unfit
        none, required: no network (Linux 6.7) or without a filter of calls, no modes (they take root), no shared_memory (they take root), no udp (they take root); 6 gaps, fit
    "#]].assert_eq(&told);
}

#[test]
fn why_refusals_are_not_told_is_said() {
    let why = |abi, untold: Option<&str>| {
        let untold = untold.map(str::to_owned);
        let kernel = Kernel { untold, ..with(abi, none()) };
        let mut rules = kernel.rules(asked(Network::Allow));
        rules.find_map(|(rule, held)| (rule.name == "refusals").then_some(held)).unwrap()
    };
    let tells = "the kernel tells it to the machine's audit log, from Landlock 7 (Linux 6.15)";
    assert_eq!(why(7, None), Held::Yes);
    assert_eq!(why(6, None), Held::No(tells.to_owned()));
    assert_eq!(why(7, Some("audit is off")), Held::No(format!("{tells} (audit is off)")));
}

#[test]
fn what_is_neither_filtered_nor_parted_is_a_gap_and_its_reason_is_told() {
    let (unfiltered, unparted) = (Some("no filters".to_owned()), Some("none here".to_owned()));
    let kernel = Kernel { unfiltered, unparted, ..with(7, Namespaces::Both) };
    let required = Asked { required: true, ..Asked::default() };
    // Like signals: an attempt is worth its fence without.
    assert_eq!(kernel.unfit(required), None);
    // But for sockets that Landlock is not asked about, where it alone holds the ports.
    let ports = Asked { network: Network::OwnPorts, ..required };
    assert!(kernel.unfit(ports).unwrap().ends_with("without a filter of calls (no filters)"));
    expect![[r#"
        other processes can be ended by their limits: Landlock is not asked, and there is no filter of calls (no filters)
        keys in the user's keyring can be used: Landlock is not asked, and there is no filter of calls (no filters)
        shared memory, semaphores and queues outside can be used and removed: Landlock is not asked, and there is no namespace of them (none here)
    "#]].assert_eq(&(kernel.gaps(required).join("\n") + "\n"));
}

#[test]
fn this_kernel_is_asked_once_and_can_fence() {
    let kernel = Kernel::current();
    assert!(kernel.can_fence(), "{kernel:?}");
    assert!(std::ptr::eq(kernel, Kernel::current()));
    assert_eq!(Stage::new().try_run("true").unwrap().1.gaps, kernel.gaps(asked(Network::Allow)));
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

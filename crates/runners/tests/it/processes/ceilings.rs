//! Limits of memory and processes: held where this machine can, told where it cannot.

use legation_runners::keep::{Ceilings, Good};

use super::stage::{Stage, ended, rest};

/// What came of commands under these limits: their code, what they said, and the gaps.
async fn run(ceilings: Ceilings, commands: &str) -> (Option<i32>, String, Vec<String>) {
    let mut stage = Stage::new();
    stage.attempt = format!("exec-{}", stage.session.as_str().trim_start_matches("sess_"));
    stage.cgroup = ceilings.group(&stage.attempt);
    stage.ceilings = ceilings;
    let mut running = stage.shell(commands).await;
    let said = String::from_utf8_lossy(&rest(&mut running).await).into_owned();
    let ended = ended(&mut running).await;
    for folder in ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", "/sys/fs/cgroup"] {
        let left = std::path::Path::new(folder).join(format!("legation-{}", stage.attempt));
        assert!(!left.exists(), "{left:?} is left");
    }
    (ended.code, said + &ended.start_failed.unwrap_or_default(), ended.ceiling_gaps)
}

#[tokio::test]
async fn too_many_processes_are_refused_by_the_kernel_or_it_is_said_that_they_are_not() {
    let ceilings = Ceilings { pids: Some(12), ..Ceilings::default() };
    let many = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 30 & done 2>/dev/null; \
                jobs -p | wc -l; kill $(jobs -p); exit 0";
    let (code, said, gaps) = run(ceilings, many).await;
    let started: usize = said.trim().parse().unwrap_or(0);
    match Good::Pids.obstacle() {
        None => assert!(started < 16 && gaps.is_empty(), "{code:?} {said} {gaps:?}"),
        Some(why) => assert_eq!((started, gaps), (16, vec![why])),
    }
}

#[tokio::test]
async fn too_much_memory_is_refused_by_the_kernel_or_it_is_said_that_it_is_not() {
    let ceilings = Ceilings { memory_mb: Some(48), ..Ceilings::default() };
    // A line without an end has to be held whole.
    let greedy = "head -c 200000000 /dev/zero | tr '\\0' x | sort | wc -c";
    let (_, said, gaps) = run(ceilings, greedy).await;
    let all = said.trim() == "200000000" || said.trim() == "200000001";
    match Good::Memory.obstacle() {
        None => assert!(!all && gaps.is_empty(), "{said} {gaps:?}"),
        Some(why) => assert!(all && gaps == [why.clone()], "{said} {gaps:?} {why}"),
    }
}

#[tokio::test]
async fn what_stays_below_its_limits_notices_nothing() {
    let ceilings = Ceilings { memory_mb: Some(4096), pids: Some(500), ..Ceilings::default() };
    let (code, said, gaps) = run(ceilings, "echo $(echo fine)").await;
    assert_eq!((code, said.as_str(), gaps), (Some(0), "fine\n", ceilings.gaps()));
}

#[tokio::test]
async fn no_process_has_more_files_open_than_it_may_and_none_raises_its_limit() {
    let ceilings = Ceilings { open_files: Some(100), ..Ceilings::default() };
    let (_, said, gaps) =
        run(ceilings, "ulimit -Sn; ulimit -Hn; sh -c 'ulimit -n 101' || echo no").await;
    assert_eq!((said.as_str(), gaps), ("100\n100\nno\n", Vec::new()));
    // Nobody gets more than there is.
    let ceilings = Ceilings { open_files: Some(u64::MAX >> 1), ..Ceilings::default() };
    let (_, said, gaps) = run(ceilings, "ulimit -Sn; ulimit -Hn").await;
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let hard = hard.map_or_else(|| "unlimited".to_owned(), |hard| hard.to_string());
    assert!(said.lines().all(|line| line == hard), "{said} {hard} {gaps:?}");
}

#[tokio::test]
async fn where_limits_are_required_and_cannot_be_held_nothing_starts() {
    // Less than nothing can be held nowhere: the kernel refuses the number.
    let ceilings = Ceilings { pids: Some(u64::MAX), required: true, ..Ceilings::default() };
    let (code, said, _) = run(ceilings, "echo started").await;
    assert_eq!(code, None);
    assert!(said.contains("`sandbox.fence` requires") && !said.contains("started"), "{said}");
}

//! What an attempt may take, from the configuration to the receipt.

use super::stage::{Stage, shown};

#[test]
fn a_limit_holds_or_the_receipt_says_that_it_does_not() {
    let stage = Stage::fenced("", "pids = 20\nmemoryMb = 512\n");
    let many =
        "for n in $(seq 40); do sleep 60 & done 2> $OUT/refused; jobs -p | wc -l > $OUT/many";
    let done = "kill $(jobs -p); legation submit --status completed --summary done";
    stage.agent("w", "", &format!("{many}\n{done}"));
    let (_, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let (_, report) = stage.json(&["doctor"]);
    let is_held = report["machine"]["processLimit"]["available"].as_bool().unwrap();
    let id = view["delegationId"].as_str().unwrap();
    let tree = stage.tree(id);
    let (_, attempt) = tree.attempts.iter().next().unwrap();
    let gaps = attempt.end.as_ref().unwrap().receipt.fence_gaps.join("\n");
    let started: usize = stage.told("many").trim().parse().unwrap_or(0);
    assert_eq!((started < 40, gaps.contains("processes cannot be limited")), (is_held, !is_held));
}

/// A call of the binary by whoever may have only so many files open.
fn confined(stage: &Stage, limit: &str, args: &[&str]) -> serde_json::Value {
    let line = format!("ulimit {limit}; exec legation \"$@\" --json");
    let mut call = stage.shell_command(&line);
    let ran = call.arg("sh").args(args).output().unwrap();
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", shown(&ran)))
}

#[test]
fn every_process_of_an_attempt_has_its_limit_of_open_files() {
    let stage = Stage::fenced("", "openFiles = 300\n");
    let tells = "echo $(ulimit -Sn) $(ulimit -Hn) > $OUT/limits\n\
                 legation submit --status completed --summary ok";
    stage.agent("w", "", tells);
    assert_eq!(stage.json(&["delegate", "--agent", "w", "Work"]).1["status"], "completed");
    assert_eq!(stage.told("limits"), "300 300\n");
    assert!(stage.json(&["doctor"]).1["machine"]["openFiles"].is_u64());
}

#[test]
fn the_engine_takes_the_descriptors_it_may_have_and_starts_no_more_than_they_allow() {
    let config = "[limits]\nmaxConcurrentAgents = 20\nmaxDelegationsPerTask = 20\n";
    let stage = Stage::new(config);
    // Whoever comes in counts those that are there.
    let counts = "touch $OUT/in-$$; ls $OUT | grep -c '^in-' >> $OUT/crowd\n\
                  until [ $(wc -l < $OUT/crowd) -ge 4 ]; do :; done\n\
                  rm $OUT/in-$$; legation submit --status completed --summary ok";
    stage.agent("w", "", counts);
    let parts: Vec<String> =
        (0..9).map(|n| format!("{{\"id\":\"p{n}\",\"agent\":\"w\"}}")).collect();
    let plan = stage.out("plan.json");
    std::fs::write(&plan, format!("{{\"subtasks\":[{}]}}", parts.join(","))).unwrap();
    let args = ["delegate", "--plan", plan.to_str().unwrap(), "All of it"];
    // Room for four: 256 are kept, and an attempt takes eight.
    let view = confined(&stage, "-Sn 100; ulimit -Hn 288", &args);
    assert_eq!(view["status"], "completed", "{view}");
    let crowd = stage.told("crowd");
    let most = crowd.lines().map(|line| line.trim().parse::<u32>().unwrap()).max();
    assert_eq!((most, crowd.lines().count()), (Some(4), 9), "{crowd}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", stage.engine().unwrap()));
    let limits = limits.unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let figures: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(figures, ["288", "288"], "{files}");
}

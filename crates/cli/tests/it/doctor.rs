//! `legation doctor`: what is told where all is well, and where something is broken.

use expect_test::expect;
use serde_json::Value;

use crate::engine::repository;
use crate::session::Session;

/// The report with what differs from machine to machine made equal.
fn report(session: &Session) -> String {
    let seen = session.run(&["doctor"]);
    // Whether somebody has switched the audit log on is no affair of ours.
    let (before, rest) = seen.split_once("receipts name what").unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let seen = format!("{before}receipts name what …\n\n{after}");
    let lines = seen.lines().map(|line| match line {
        line if line.starts_with("legation ") => "legation … on Linux …".to_owned(),
        line if line.starts_with("  yes  git ") => "  yes  git …".to_owned(),
        line if line.contains("KB") => line.split_once("whole").unwrap().0.to_owned() + "whole, …",
        line if line.contains("receipts name") => "  …      receipts name what …".to_owned(),
        line => line.replace("Landlock 7", "Landlock …"),
    });
    // What the machine offers beside the fence is its own affair.
    let offers = [
        "user namespaces",
        "overlay file system",
        "cgroups of the",
        "limits of memory",
        "limits of processes",
    ];
    let told = lines.filter(|line| !offers.iter().any(|offer| line.contains(offer)));
    told.map(|line| line + "\n").collect()
}

fn json(session: &Session) -> Value {
    let seen = session.run(&["doctor", "--json"]);
    let (value, _) = seen.rsplit_once("[exit ").unwrap_or((&seen, ""));
    serde_json::from_str(value).unwrap()
}

#[test]
fn an_empty_folder_is_told_of_in_80_columns_and_stays_empty() {
    let session = Session::new();
    let before = session.files();
    let seen = report(&session);
    expect![[r#"
        legation … on Linux …

        project   $TMP/project, a plain folder
        agents    0 loaded
        runners   command: budget enforced per turn, stopped at the line of usage that
                  crosses it; what is told with `submit` counts at the end
                  acp: budget enforced at the end, as the agent tells; many tell when a
                  turn ends
                  llm: no key and no login found, budget enforced per call, tokens are
                  told after each call of the model
                  not installed: claude-code, codex, opencode, gemini
        default   none: no program is installed, so agents have to name a runner
        prices    those of 2025-11; `[prices]` may say others
        engine    not running; it is started when it is needed
        journal   nothing was delegated here yet

        workspace made as copy: the project is in no git repository

        fence     on, by Landlock … (`sandbox.fence` is `auto`)
          holds  no reading of other workspaces, the journal, tokens and ignored files
          holds  no writing outside the workspace, TMPDIR and `sandbox.writable`
          holds  moves and links between folders, inside what may be written only
          holds  no control of devices other than terminals
          holds  no TCP where `sandbox.network` is `deny`
          holds  no listening on ports of others where `sandbox.network` is `own_ports`
          holds  no signals to the engine, the keeper and other attempts
          holds  no limits set for processes outside
          holds  no sockets without a file outside the attempt
          holds  no look into the memory and environment of other processes
          holds  no keys from the keyring of the user
          holds  no changing of modes, owners and times outside
          holds  no reading, writing and setting of terminals outside
          holds  no shared memory, semaphores and queues outside (`ipcs`)
          holds  no UDP where `sandbox.network` is `deny`
          gap    no talking to services that listen on a socket file: Landlock cannot
                 tell the engine's socket from others yet
          …      receipts name what …

        machine
          yes  git …
          yes  limits of open files (`sandbox.openFiles`)

        Nothing is broken.
    "#]]
    .assert_eq(&seen);
    assert!(seen.lines().all(|line| line.chars().count() <= 80), "{seen}");
    assert_eq!(session.files(), before);
}

#[test]
fn what_is_broken_is_told_together_and_is_a_failure() {
    let session = Session::new();
    session.write(".legation/config.toml", "[limits]\nmaxDepth = 99\n");
    session.write(".legation/agents/bad.md", "---\nid: [\n---\nDo it.\n");
    session.write(".legation/legation.db", "this is no journal, however long one looks at it\n");
    let value = json(&session);
    let problems: Vec<&str> =
        value["problems"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    expect![[r#"
        bad configuration: .legation/config.toml:2: limits.maxDepth = 99 is out of range: it takes a whole number from 1 to 5
        agent files have errors; `legation agents check` shows them
        the journal: $TMP/project/.legation/legation.db is not a journal of Legation; move it away, or choose another place"#]].assert_eq(&problems.join("\n"));
    assert_eq!((&value["ok"], &value["journal"]["sound"]), (&false.into(), &false.into()));
    assert!(session.run(&["doctor"]).ends_with("[exit 1]\n"));
}

#[test]
fn programs_are_told_every_rule_of_the_fence_and_whether_it_holds() {
    let session = Session::new();
    let value = json(&session);
    let rules = value["fence"]["rules"].as_array().unwrap();
    let (refusals, rules) = rules.split_last().unwrap();
    let rules = rules.iter();
    let told = rules.map(|rule| format!("{} {}\n", rule["name"].as_str().unwrap(), rule["held"]));
    expect![[r#"
        read true
        write true
        move true
        devices true
        network true
        ports true
        signals true
        limits true
        abstract_sockets true
        memory true
        keys true
        modes true
        terminals true
        shared_memory true
        udp true
        socket_files false
    "#]]
    .assert_eq(&told.collect::<String>());
    assert_eq!(refusals["name"], "refusals");
    assert_eq!(refusals["why"].is_null(), refusals["held"] == true, "{refusals}");
    assert_eq!(value["runners"][0]["budget"], "per turn");
    assert_eq!(value["agents"]["loaded"], 0);
    assert!(value["machine"]["kernel"].is_string(), "{value}");
}

#[test]
fn a_fence_that_is_switched_off_holds_nothing() {
    let session = Session::new();
    session.write(".legation/config.toml", "[sandbox]\nfence = \"off\"\n");
    let value = json(&session);
    assert_eq!((&value["ok"], &value["fence"]["on"]), (&true.into(), &false.into()));
    let held = value["fence"]["rules"].as_array().unwrap().iter();
    assert_eq!(held.filter(|rule| rule["held"] == true).count(), 0);
    let seen = report(&session);
    assert!(seen.contains("off; Landlock … is there (`sandbox.fence` is `off`)"), "{seen}");
}

#[test]
fn how_workspaces_are_made_is_told_with_why_not_in_another_way() {
    let session = repository();
    let seen = session.run(&["doctor"]);
    // Who may lay overlays has them in every repository.
    let (made, not) = match json(&session)["workspaces"]["mechanism"].as_str().unwrap() {
        "overlay" => ("overlay: the kernel allows it", "pool: overlay is faster"),
        _ => (
            "worktree: the repository is small",
            "pool: with less than 500 files a checkout is as fast",
        ),
    };
    assert!(seen.contains(&format!("\nworkspace made as {made}\n")), "{seen}");
    assert!(seen.contains(&format!("\n  not    {not}\n")), "{seen}");
    session.write(".legation/config.toml", "[workspace]\nmechanism = \"pool\"\n");
    let value = json(&session);
    expect![[r#"["pool","workspace.mechanism asks for it",null]"#]].assert_eq(
        &serde_json::json!([
            value["workspaces"]["mechanism"],
            value["workspaces"]["because"],
            value["workspaces"]["obstacle"]
        ])
        .to_string(),
    );
    let others = value["workspaces"]["others"].as_array().unwrap().iter();
    let others: Vec<&str> = others.map(|other| other["mechanism"].as_str().unwrap()).collect();
    assert_eq!(others, ["overlay", "worktree", "copy"]);
}

#[test]
fn folders_that_cannot_be_shared_are_told() {
    let session = Session::new();
    let config = "[workspace]\nmechanism = \"copy\"\nshare = [\"node_modules\"]\n";
    session.write(".legation/config.toml", config);
    let problem = json(&session)["problems"][0].as_str().unwrap().to_owned();
    let told = "`workspace.share` has no effect here, workspaces are made as copy: \
                copies share nothing";
    assert_eq!(problem, told);
}

#[test]
fn an_apply_that_was_interrupted_is_told() {
    for record in ["underway.json", "applying/1-2-3"] {
        let session = Session::new();
        assert_eq!(json(&session)["problems"], serde_json::json!([]));
        let record = session.paths().state.join(record);
        std::fs::create_dir_all(record.parent().unwrap()).unwrap();
        std::fs::write(&record, "").unwrap();
        let problem = json(&session)["problems"][0].as_str().unwrap().to_owned();
        assert!(problem.starts_with("an apply or rollback was interrupted"), "{problem}");
    }
}

#[test]
fn a_workspace_whose_record_a_power_cut_has_emptied_is_told() {
    let session = Session::new();
    let record = session.paths().state.join("repos/exec-1.git/place.json");
    std::fs::create_dir_all(record.parent().unwrap()).unwrap();
    std::fs::write(&record, "").unwrap();
    let problem = json(&session)["problems"][0].as_str().unwrap().to_owned();
    assert!(problem.contains("/repos/exec-1.git/place.json cannot be read, so"), "{problem}");
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_before_anybody_delegates() {
    let session = Session::new();
    session.write("file", "");
    let home = session.dir().join("file");
    let mut doctor = session.command(&session.dir(), &["doctor", "--json"]);
    let ran = doctor.env("HOME", &home).env_remove("XDG_STATE_HOME").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.starts_with("nothing can be delegated here: "), "{problem}");
    assert!(problem.contains(home.to_str().unwrap()), "{problem}");
}

#[test]
fn the_runner_of_agents_that_name_none_is_told_with_why_it_is_that() {
    let mut session = Session::new();
    let bin = session.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["codex", "gemini"] {
        use std::os::unix::fs::PermissionsExt as _;
        let file = bin.join(program);
        std::fs::write(&file, "#!/bin/sh\necho 1.2.3\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    session.set("PATH", &format!("{}:{path}", bin.display()));
    let seen = session.run(&["doctor"]);
    let first = "default   codex: the first that is installed; none of them has a key or a login\n";
    assert!(seen.contains(first), "{seen}");
    assert!(seen.contains("codex: 1.2.3 at $TMP/bin/codex, no key and no login found"), "{seen}");
    session.set("GEMINI_API_KEY", "k");
    session.write(".legation/config.toml", "[prices.\"our-model\"]\ninput = 1.0\noutput = 2.0\n");
    let value = json(&session);
    assert_eq!(value["defaultRunner"]["name"], "gemini", "{value}");
    let because = "the first that is installed and has a key or a login";
    assert_eq!(value["defaultRunner"]["because"], because);
    assert_eq!(value["prices"]["own"], serde_json::json!(["our-model"]));
    let month: Vec<&str> = value["prices"]["asOf"].as_str().unwrap().split('-').collect();
    assert!(matches!(month.as_slice(), [year, month] if year.len() == 4 && month.len() == 2));
}

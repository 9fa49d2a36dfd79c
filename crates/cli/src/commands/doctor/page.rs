//! The report for people.

use legation_core::config;

use super::machine::Offer;
use super::runners::Found;
use super::spaces::Workspaces;
use super::{Fence, Report};
use crate::page::{block, count, row, tame};

/// Columns of a heading at the left.
const HEAD: usize = 10;

pub(super) fn text(report: &Report) -> String {
    let mut text = block(&headline(report), 0);
    text.push('\n');
    text.push_str(&about_project(report));
    text.push_str(&about_runs(report));
    text.push('\n');
    text.push_str(&report.workspaces.as_ref().map(about_workspaces).unwrap_or_default());
    text.push_str(&about_fence(&report.fence));
    text.push('\n');
    text.push_str(&about_machine(report));
    text.push('\n');
    match report.problems.as_slice() {
        [] => text.push_str("Nothing is broken.\n"),
        problems => {
            text.push_str(&format!("{}:\n", count(problems.len(), "problem")));
            problems.iter().for_each(|problem| text.push_str(&row("  - ", &tame(problem))));
        }
    }
    text
}

fn headline(report: &Report) -> String {
    let kernel = report.machine.kernel.as_deref().unwrap_or("of unknown release");
    format!("legation {} on Linux {kernel}", report.version)
}

/// A heading and what stands behind it.
fn entry(head: &str, rest: &str) -> String {
    row(&format!("{head:<HEAD$}"), &tame(rest))
}

fn about_project(report: &Report) -> String {
    let project = &report.project;
    let kind = if project.git { "in a git repository" } else { "a plain folder" };
    let mut text = entry("project", &format!("{}, {kind}", project.directory));
    for warning in &project.warnings {
        text.push_str(&entry("", &format!("warning: {warning}")));
    }
    let agents = &report.agents;
    let wrong = match (agents.errors, agents.warnings) {
        (0, 0) => String::new(),
        (errors, warnings) => {
            let (errors, warnings) = (count(errors, "error"), count(warnings, "warning"));
            format!(", {errors}, {warnings}: see `legation agents check`")
        }
    };
    text + &entry("agents", &format!("{} loaded{wrong}", agents.loaded))
}

fn about_runner(runner: &Found) -> String {
    let Found { name, program, version, login, budget, note, .. } = runner;
    let place = program.as_ref().map(|program| {
        let version = version.as_deref().unwrap_or("version unknown");
        format!("{version} at {}, ", program.display())
    });
    let login = match login {
        Some(true) => "key or login found, ",
        Some(false) => "no key and no login found, ",
        None => "",
    };
    format!("{name}: {}{login}budget enforced {budget}, {note}", place.unwrap_or_default())
}

fn about_runs(report: &Report) -> String {
    let mut text = String::new();
    let (found, missing): (Vec<&Found>, Vec<&Found>) =
        report.runners.iter().partition(|runner| runner.found);
    for (at, runner) in found.into_iter().enumerate() {
        let head = if at == 0 { "runners" } else { "" };
        text.push_str(&entry(head, &about_runner(runner)));
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|runner| runner.name).collect();
        text.push_str(&entry("", &format!("not installed: {}", names.join(", "))));
    }
    let default = match &report.default_runner {
        Some(default) => format!("{}: {}", default.name, default.because),
        None => "none: no program is installed, so agents have to name a runner".to_owned(),
    };
    text.push_str(&entry("default", &default));
    let own = match report.prices.own.as_slice() {
        [] => "`[prices]` may say others".to_owned(),
        own => format!("`[prices]` has others for {}", own.join(", ")),
    };
    let as_of = report.prices.as_of;
    text.push_str(&entry("prices", &format!("those of {as_of}; {own}")));
    let engine = match report.engine.pid {
        Some(pid) => format!("runs as process {pid}"),
        None => "not running; it is started when it is needed".to_owned(),
    };
    text.push_str(&entry("engine", &engine));
    let journal = &report.journal;
    let state = match (journal.sound, journal.bytes) {
        (None, _) => "nothing was delegated here yet".to_owned(),
        (Some(true), bytes) => {
            format!("{}, whole, {} KB", journal.file, bytes.unwrap_or_default().div_ceil(1024))
        }
        (Some(false), _) => format!("{}, cannot be used", journal.file),
    };
    text + &entry("journal", &state)
}

fn about_workspaces(workspaces: &Workspaces) -> String {
    let Workspaces { mechanism, because, others, .. } = workspaces;
    let mut text = entry("workspace", &format!("made as {mechanism}: {because}"));
    // One reason for all is said once.
    for other in others.iter().filter(|other| other.why != *because) {
        text.push_str(&row("  not    ", &tame(&format!("{}: {}", other.mechanism, other.why))));
    }
    text + "\n"
}

fn about_fence(fence: &Fence) -> String {
    let setting = match fence.setting {
        config::Fence::Require => "require",
        config::Fence::Auto => "auto",
        config::Fence::Off => "off",
    };
    let state = match (&fence.obstacle, fence.on) {
        (Some(why), _) => format!("cannot be raised: {why}"),
        (None, true) => format!("on, by Landlock {}", fence.landlock_abi),
        (None, false) => format!("off; Landlock {} is there", fence.landlock_abi),
    };
    let mut text = entry("fence", &format!("{state} (`sandbox.fence` is `{setting}`)"));
    for rule in &fence.rules {
        let head = if rule.held { "  holds  " } else { "  gap    " };
        let why = rule.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text.push_str(&row(head, &format!("{}{why}", rule.rule)));
    }
    text
}

fn about_machine(report: &Report) -> String {
    let machine = &report.machine;
    let offer = |name: &str, offer: &Offer| {
        let head = if offer.available { "  yes  " } else { "  no   " };
        let note = offer.note.map(|note| format!(": {note}")).unwrap_or_default();
        row(head, &format!("{name}{note}"))
    };
    let git = match &machine.git {
        Some(version) => format!("  yes  git {}\n", tame(version)),
        None => "  no   git: projects are copied as plain folders\n".to_owned(),
    };
    let mut text = "machine\n".to_owned() + &git;
    text.push_str(&offer("user namespaces", &machine.user_namespaces));
    text.push_str(&offer("overlay file system", &machine.overlay));
    text.push_str(&offer("cgroups of the second version", &machine.cgroup2));
    text.push_str(&offer("limits of memory (`sandbox.memoryMb`)", &machine.memory_limit));
    text.push_str(&offer("limits of processes (`sandbox.pids`)", &machine.process_limit));
    // That is held for each process by the process itself, wherever there are processes.
    text.push_str(&row("  yes  ", "limits of open files (`sandbox.openFiles`)"));
    text
}

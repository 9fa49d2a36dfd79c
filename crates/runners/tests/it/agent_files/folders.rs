use expect_test::expect;
use legation_core::agent::Roster;
use legation_core::config::Config;
use legation_runners::agents::{Loaded, load, load_at_most};
use tempfile::TempDir;

use super::line;

fn write(root: &TempDir, path: &str, content: &str) {
    let path = root.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn agent(description: &str) -> String {
    format!("---\ndescription: {description}\n---\nx\n")
}

fn told(root: &TempDir, loaded: &Loaded) -> String {
    let agents = loaded.agents.iter().map(|agent| {
        let description = &agent.definition.description;
        format!("{} {} {description}\n", agent.id, agent.file.display())
    });
    let findings = loaded.findings.iter().map(line);
    let all: String = agents.chain(findings).collect();
    all.replace(root.path().to_str().unwrap(), "~")
}

#[test]
fn the_project_wins_over_the_home_and_our_own_folder_over_the_vendors() {
    let root = TempDir::new().unwrap();
    for (path, description) in [
        ("p/.legation/agents/a.md", "project, ours"),
        ("p/.claude/agents/a.md", "project, Claude"),
        ("p/.claude/agents/b.md", "project, Claude"),
        ("p/.claude/agents/team/deep/c.md", "in a folder"),
        ("p/.opencode/agent/d.md", "project, OpenCode"),
        ("p/.gemini/agents/e.md", "project, Gemini"),
        ("h/.legation/agents/f.md", "home, ours"),
        ("h/.claude/agents/b.md", "home, Claude"),
        ("h/.config/opencode/agents/g.md", "home, OpenCode"),
        ("h/.opencode/agents/g.md", "home, OpenCode, the other folder"),
        ("h/.opencode/agents/j.md", "home, OpenCode, the other folder"),
        ("h/.opencode/agent/k.md", "home, OpenCode, the other folder"),
        ("h/.gemini/agents/h.MD", "home, Gemini"),
    ] {
        write(&root, path, &agent(description));
    }
    write(&root, "p/.codex/agents/i.toml", "description = \"project, Codex\"");
    write(&root, "p/.codex/agents/ignored.md", &agent("not TOML"));
    write(&root, "p/.claude/agents/notes.txt", "not Markdown");
    write(&root, "p/.claude/agents/.hidden.md", &agent("hidden"));
    let (project, home) = (root.path().join("p"), root.path().join("h"));
    expect![[r#"
        a ~/p/.legation/agents/a.md project, ours
        b ~/p/.claude/agents/b.md project, Claude
        c ~/p/.claude/agents/team/deep/c.md in a folder
        d ~/p/.opencode/agent/d.md project, OpenCode
        e ~/p/.gemini/agents/e.md project, Gemini
        i ~/p/.codex/agents/i.toml project, Codex
        f ~/h/.legation/agents/f.md home, ours
        g ~/h/.config/opencode/agents/g.md home, OpenCode
        j ~/h/.opencode/agents/j.md home, OpenCode, the other folder
        k ~/h/.opencode/agent/k.md home, OpenCode, the other folder
        h ~/h/.gemini/agents/h.MD home, Gemini
        note ~/p/.claude/agents/a.md `a` is already defined in ~/p/.legation/agents/a.md; this file is not used (give it another id if both are wanted)
        note ~/h/.claude/agents/b.md `b` is already defined in ~/p/.claude/agents/b.md; this file is not used (give it another id if both are wanted)
        note ~/h/.opencode/agents/g.md `g` is already defined in ~/h/.config/opencode/agents/g.md; this file is not used (give it another id if both are wanted)
    "#]].assert_eq(&told(&root, &load(&project, Some(&home))));
}

#[test]
fn a_project_that_is_the_home_is_read_once() {
    let root = TempDir::new().unwrap();
    write(&root, ".claude/agents/a.md", &agent("once"));
    expect![[r#"
        a ~/.claude/agents/a.md once
    "#]]
    .assert_eq(&told(&root, &load(root.path(), Some(root.path()))));
}

#[test]
fn a_bad_file_is_told_about_and_the_others_load() {
    let root = TempDir::new().unwrap();
    write(&root, ".legation/agents/bad.md", "---\nname: [x\n---\n");
    write(&root, ".legation/agents/good.md", &agent("good"));
    write(&root, ".legation/agents/large.md", &"x".repeat(1024 * 1024 + 1));
    let latin = root.path().join(".legation/agents/latin.md");
    std::fs::write(latin, b"---\nname: caf\xe9\n---\n").unwrap();
    expect![[r#"
        good ~/.legation/agents/good.md good
        error ~/.legation/agents/bad.md:2 the frontmatter is not valid YAML: unclosed bracket '[' (correct that line; quotes around a text help)
        error ~/.legation/agents/large.md the file is larger than 1 MiB (shorten it)
        error ~/.legation/agents/latin.md:2 the file is not valid UTF-8 (save it as UTF-8 text)
    "#]].assert_eq(&told(&root, &load(root.path(), None)));
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_circles_and_pipes_are_not_waited_for() {
    use std::os::unix::fs::symlink;
    let root = TempDir::new().unwrap();
    write(&root, "shared/one.md", &agent("linked"));
    write(&root, ".claude/agents/two.md", &agent("own"));
    let agents = root.path().join(".claude/agents");
    symlink(root.path().join("shared"), agents.join("shared")).unwrap();
    symlink(&agents, agents.join("self")).unwrap();
    symlink(root.path().join("nowhere"), agents.join("dead.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(agents.join("pipe.md")).status();
    assert!(made.unwrap().success());
    expect![[r#"
        two ~/.claude/agents/two.md own
        one ~/.claude/agents/shared/one.md linked
        error ~/.claude/agents/dead.md the file cannot be read: No such file or directory (os error 2) (check that it exists and its permissions)
        error ~/.claude/agents/pipe.md not a regular file (move it out of the agents folder)
    "#]].assert_eq(&told(&root, &load(root.path(), None)));
}

#[test]
fn folders_are_entered_only_so_deep() {
    let root = TempDir::new().unwrap();
    let deep = |depth: usize| format!(".claude/agents/{}a{depth}.md", "d/".repeat(depth));
    for depth in [8, 9] {
        write(&root, &deep(depth), &agent("deep"));
    }
    let loaded = load(root.path(), None);
    let ids: Vec<&str> = loaded.agents.iter().map(|agent| agent.id.as_str()).collect();
    assert_eq!(ids, ["a8"]);
}

#[test]
fn only_so_many_files_are_read() {
    let root = TempDir::new().unwrap();
    for name in ["a", "b", "c", "d"] {
        write(&root, &format!(".claude/agents/{name}.md"), &agent("one of many"));
    }
    expect![[r#"
        a ~/.claude/agents/a.md one of many
        b ~/.claude/agents/b.md one of many
        error ~/.claude/agents/c.md more than 2 agent files; this one and the rest are not read (move some of them away)
    "#]].assert_eq(&told(&root, &load_at_most(2, root.path(), None)));
}

#[test]
fn a_bad_reference_is_told_with_the_line_it_stands_on() {
    let root = TempDir::new().unwrap();
    let lists = "subagents:\n  allow:\n    - b\n    - bb\n    - ghost\n  deny: [phantom]\n";
    write(&root, ".legation/agents/a.md", &format!("---\ndescription: x\n{lists}---\n"));
    let list = "subagents: {allow: \"c, a\"}\n";
    write(&root, ".legation/agents/b.md", &format!("---\ndescription: x\n{list}---\n"));
    let toml = "description = 'x'\n\n[subagents]\nallow = ['c']\n";
    write(&root, ".codex/agents/c.toml", toml);
    let loaded = load(root.path(), None);
    let roster = Roster::new(loaded.definitions(), &Config::default());
    let found: String = loaded.check_references(&roster).iter().map(line).collect();
    expect![[r#"
        error ~/.legation/agents/a.md:6 [subagents.allow] `a` names `bb`, and there is no such agent (correct the name, or write the agent)
        error ~/.legation/agents/a.md:7 [subagents.allow] `a` names `ghost`, and there is no such agent (correct the name, or write the agent)
        warning ~/.legation/agents/a.md:8 [subagents.deny] `a` names `phantom`, and there is no such agent (correct the name, or write the agent)
        error ~/.codex/agents/c.toml:4 [subagents.allow] `c` names itself in `subagents.allow` (take the name out, or set `subagents.recursive: true`)
        error ~/.legation/agents/b.md:3 [subagents.allow] `b` names `a` and closes a cycle: a → b → a (take one of the names out, or make one of the agents `recursive`)
    "#]].assert_eq(&found.replace(root.path().to_str().unwrap(), "~"));
}

#[test]
fn a_home_without_agents_and_a_project_without_folders_are_empty() {
    let root = TempDir::new().unwrap();
    assert_eq!(load(root.path(), None), Loaded::default());
    assert_eq!(load(&root.path().join("missing"), Some(root.path())), Loaded::default());
}

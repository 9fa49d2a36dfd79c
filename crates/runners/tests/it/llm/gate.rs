//! What each use of a tool is allowed.

use legation_core::agent::Level::{self, Allow, Ask, Deny};
use legation_runners::envoy::Tools;
use legation_runners::llm::gate::{is_offered, level, level_of_all, server_level};

use crate::talked::{layers, tools};

fn with(shell: Level, others: &[(&str, Level)]) -> Tools {
    let others = others.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
    Tools { others, ..tools(shell) }
}

#[test]
fn a_rule_about_a_part_counts_for_what_it_matches() {
    let git = [("shell(git *)", Allow)];
    let no_rm = [("shell(rm *)", Deny)];
    let asks = [("shell(git push*)", Ask)];
    let first = [("shell(git add*)", Ask), ("shell(git*)", Allow)];
    for (tools, command, expected) in [
        (with(Deny, &git), "git status", Allow),
        (with(Deny, &git), "git", Allow),
        (with(Deny, &git), "git status; rm -rf /", Deny),
        (with(Deny, &git), "git log > /etc/passwd", Deny),
        (with(Deny, &git), "git $(rm x)", Deny),
        (with(Deny, &git), "gitx", Deny),
        (with(Ask, &git), "ls", Ask),
        (with(Allow, &no_rm), "ls", Allow),
        (with(Allow, &no_rm), "rm x", Deny),
        (with(Allow, &no_rm), "ls && rm x", Deny),
        (with(Allow, &no_rm), "echo `rm x`", Deny),
        (with(Allow, &asks), "git push origin", Ask),
        (with(Allow, &asks), "git log", Allow),
        (with(Deny, &asks), "git push origin", Ask),
        (with(Deny, &first), "git add x", Ask),
    ] {
        assert_eq!(level(&tools, "shell", command), expected, "{command}");
    }
}

#[test]
fn paths_have_rules_too() {
    let tools = with(Deny, &[("edit(secrets/*)", Deny), ("read(docs/*)", Allow)]);
    let tools = Tools { read: Deny, ..tools };
    assert_eq!(level(&tools, "edit", "secrets/key"), Deny);
    assert_eq!(level(&tools, "edit", "src/a.rs"), Allow);
    assert_eq!(level(&tools, "read", "docs/a;b.md"), Allow);
    assert_eq!(level(&tools, "read", "src/a.rs"), Deny);
    assert!(is_offered(&tools, "read"));
    assert!(!is_offered(&tools, "shell"));
}

#[test]
fn a_rule_that_closes_files_closes_what_it_means_however_it_is_written() {
    for (part, path, expected) in [
        ("secrets/*", "secrets/a/b", Deny),
        ("secrets/**", "secrets/a", Deny),
        ("./secrets/*", "secrets/a", Deny),
        ("/secrets/*", "secrets/a", Deny),
        ("secrets", "secrets/a/b", Deny),
        ("secrets/", "secrets/a", Deny),
        ("**/.env", ".env", Deny),
        ("**/.env", "a/b/.env", Deny),
        ("a/**/b", "a/b", Deny),
        (".", "a", Deny),
        (".*", ".env", Deny),
        (".*", "", Allow),
        (".*", "a", Allow),
        ("secrets/*", "secretsx/a", Allow),
        ("secrets", "a/secrets", Allow),
    ] {
        let tools = with(Allow, &[(&format!("read({part})"), Deny)]);
        assert_eq!(level(&tools, "read", path), expected, "{part} {path}");
    }
}

#[test]
fn all_of_a_folder_is_as_free_as_its_strictest_part() {
    let tools = with(Allow, &[("read(secrets/*)", Deny), ("read(/src/private/*)", Ask)]);
    for (folder, expected) in
        [("", Deny), ("secrets", Deny), ("secrets/a", Deny), ("src", Ask), ("docs", Allow)]
    {
        assert_eq!(level_of_all(&tools, "read", folder), expected, "{folder}");
    }
}

#[test]
fn tools_of_servers_are_denied_unless_named() {
    let layers = layers(&["mcp:git/*"], &["mcp:db/read"], &["mcp:git/push"]);
    let tools = Tools { layers, ..tools(Allow) };
    for (server, tool, expected) in
        [("git", "log", Allow), ("git", "push", Deny), ("db", "read", Ask), ("db", "drop", Deny)]
    {
        assert_eq!(server_level(&tools, server, tool), expected, "{server}/{tool}");
    }
}

//! What it is told about permissions.

use std::fmt::Write;

use expect_test::{Expect, expect};
use legation_core::agent::Level;
use legation_runners::envoy::Tools;
use legation_runners::opencode::{permissions, table};

use crate::contract::charge;

fn check(change: impl FnOnce(&mut Tools), expected: &Expect) {
    let mut tools = charge().tools;
    change(&mut tools);
    let mut shown = String::new();
    for (name, told) in permissions(&tools, true) {
        let _ = writeln!(shown, "{name}: {told}");
    }
    for row in table(&tools) {
        let _ = writeln!(shown, "| {} | {:?} | {} |", row.tool, row.level, row.told);
    }
    expected.assert_eq(&shown);
}

fn other(tools: &mut Tools, name: &str, level: Level) {
    tools.others.insert(name.to_owned(), level);
}

#[test]
fn everything_is_closed_before_anything_is_opened() {
    check(
        |_| {},
        &expect![[r#"
        *: "deny"
        read: "allow"
        glob: "allow"
        grep: "allow"
        list: "allow"
        lsp: "allow"
        edit: "allow"
        bash: "allow"
        webfetch: "deny"
        websearch: "deny"
        codesearch: "deny"
        todowrite: "allow"
        todoread: "allow"
        external_directory: "allow"
        task: "deny"
        skill: "deny"
        question: "deny"
        plan_enter: "deny"
        plan_exit: "deny"
        legation_*: "allow"
        legation_delegate: "deny"
        legation_delegate_batch: "deny"
        legation_delegate_wait: "deny"
        legation_delegate_status: "deny"
        legation_delegate_list: "deny"
        legation_delegate_cancel: "deny"
        | read | Allow | read, glob, grep, list, lsp: allow |
        | edit | Allow | edit: allow |
        | shell | Allow | bash: allow |
        | web | Ask | webfetch, websearch, codesearch: deny |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | task: deny |
    "#]],
    );
}

#[test]
fn nothing_is_open_where_nothing_is_allowed() {
    let close = |tools: &mut Tools| {
        (tools.read, tools.edit, tools.shell) = (Level::Ask, Level::Deny, Level::Ask);
    };
    check(
        close,
        &expect![[r#"
        *: "deny"
        read: "deny"
        glob: "deny"
        grep: "deny"
        list: "deny"
        lsp: "deny"
        edit: "deny"
        bash: "deny"
        webfetch: "deny"
        websearch: "deny"
        codesearch: "deny"
        todowrite: "allow"
        todoread: "allow"
        external_directory: "allow"
        task: "deny"
        skill: "deny"
        question: "deny"
        plan_enter: "deny"
        plan_exit: "deny"
        legation_*: "allow"
        legation_delegate: "deny"
        legation_delegate_batch: "deny"
        legation_delegate_wait: "deny"
        legation_delegate_status: "deny"
        legation_delegate_list: "deny"
        legation_delegate_cancel: "deny"
        | read | Ask | read, glob, grep, list, lsp: deny |
        | edit | Deny | edit: deny |
        | shell | Ask | bash: deny |
        | web | Ask | webfetch, websearch, codesearch: deny |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | task: deny |
    "#]],
    );
}

#[test]
fn parts_of_the_shell_are_told_and_what_is_denied_comes_last() {
    let parts = |tools: &mut Tools| {
        tools.shell = Level::Deny;
        tools.delegate = Level::Allow;
        other(tools, "shell(git *)", Level::Allow);
        other(tools, "shell(git push *)", Level::Deny);
        other(tools, "shell(make ?)", Level::Allow);
    };
    check(
        parts,
        &expect![[r#"
        *: "deny"
        read: "allow"
        glob: "allow"
        grep: "allow"
        list: "allow"
        lsp: "allow"
        edit: "allow"
        bash: {"*":"deny","git *":"allow","git push *":"deny"}
        webfetch: "deny"
        websearch: "deny"
        codesearch: "deny"
        todowrite: "allow"
        todoread: "allow"
        external_directory: "allow"
        task: "deny"
        skill: "deny"
        question: "deny"
        plan_enter: "deny"
        plan_exit: "deny"
        legation_*: "allow"
        | read | Allow | read, glob, grep, list, lsp: allow |
        | edit | Allow | edit: allow |
        | shell | Deny | bash: deny `*`, allow `git *`, deny `git push *` |
        | web | Ask | webfetch, websearch, codesearch: deny |
        | delegate | Allow | the tools of the server `legation` |
        | its own sub-agents | Deny | task: deny |
    "#]],
    );
}

#[test]
fn parts_that_cannot_be_told_close_the_whole() {
    let parts = |tools: &mut Tools| {
        other(tools, "shell(*rm*)", Level::Deny);
        other(tools, "read(.env)", Level::Deny);
        other(tools, "edit(src/*)", Level::Allow);
    };
    check(
        parts,
        &expect![[r#"
        *: "deny"
        read: "deny"
        glob: "deny"
        grep: "deny"
        list: "deny"
        lsp: "deny"
        edit: "allow"
        bash: {"*":"allow","*rm*":"deny"}
        webfetch: "deny"
        websearch: "deny"
        codesearch: "deny"
        todowrite: "allow"
        todoread: "allow"
        external_directory: "allow"
        task: "deny"
        skill: "deny"
        question: "deny"
        plan_enter: "deny"
        plan_exit: "deny"
        legation_*: "allow"
        legation_delegate: "deny"
        legation_delegate_batch: "deny"
        legation_delegate_wait: "deny"
        legation_delegate_status: "deny"
        legation_delegate_list: "deny"
        legation_delegate_cancel: "deny"
        | read | Allow | read, glob, grep, list, lsp: deny |
        | edit | Allow | edit: allow |
        | shell | Allow | bash: allow `*`, deny `*rm*` |
        | web | Ask | webfetch, websearch, codesearch: deny |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | task: deny |
    "#]],
    );
}

#[test]
fn tools_of_other_servers_are_opened_by_name() {
    let servers = |tools: &mut Tools| {
        other(tools, "mcp:github/search", Level::Allow);
        other(tools, "mcp:jira/*", Level::Allow);
        other(tools, "mcp:slack/post", Level::Ask);
        other(tools, "mcp:*", Level::Allow);
        other(tools, "mcp:legation/delegate", Level::Allow);
        other(tools, "task", Level::Allow);
        other(tools, "external_directory", Level::Allow);
        other(tools, "*", Level::Allow);
    };
    check(
        servers,
        &expect![[r#"
        *: "deny"
        read: "allow"
        glob: "allow"
        grep: "allow"
        list: "allow"
        lsp: "allow"
        edit: "allow"
        bash: "allow"
        webfetch: "deny"
        websearch: "deny"
        codesearch: "deny"
        todowrite: "allow"
        todoread: "allow"
        external_directory: "allow"
        github_search: "allow"
        jira_*: "allow"
        task: "deny"
        skill: "deny"
        question: "deny"
        plan_enter: "deny"
        plan_exit: "deny"
        legation_*: "allow"
        legation_delegate: "deny"
        legation_delegate_batch: "deny"
        legation_delegate_wait: "deny"
        legation_delegate_status: "deny"
        legation_delegate_list: "deny"
        legation_delegate_cancel: "deny"
        | read | Allow | read, glob, grep, list, lsp: allow |
        | edit | Allow | edit: allow |
        | shell | Allow | bash: allow |
        | web | Ask | webfetch, websearch, codesearch: deny |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | * | Allow | not offered |
        | external_directory | Allow | not offered |
        | mcp:* | Allow | not offered |
        | mcp:github/search | Allow | github_search: allow |
        | mcp:jira/* | Allow | jira_*: allow |
        | mcp:legation/delegate | Allow | not offered |
        | mcp:slack/post | Ask | not offered |
        | task | Allow | not offered |
        | its own sub-agents | Deny | task: deny |
    "#]],
    );
}

#[test]
fn without_a_fence_files_elsewhere_stay_closed() {
    let told = permissions(&charge().tools, false);
    assert_eq!(told.get("external_directory"), None);
    assert_eq!(told.get("*").unwrap(), "deny");
}

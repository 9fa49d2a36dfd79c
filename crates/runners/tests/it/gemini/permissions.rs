//! What it is told about permissions.

use std::fmt::Write;

use expect_test::{Expect, expect};
use legation_core::agent::Level;
use legation_runners::envoy::Tools;
use legation_runners::gemini::{policy, table};

use crate::contract::charge;

/// The rules, a line each, the strongest first.
fn rules(tools: &Tools) -> String {
    let file: toml::Table = policy(tools).parse().unwrap();
    let mut lines: Vec<(i64, String)> = Vec::new();
    for rule in file["rule"].as_array().unwrap() {
        let priority = rule["priority"].as_integer().unwrap();
        let names: Vec<&str> =
            rule["toolName"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        let mut line =
            format!("{priority} {} {}", rule["decision"].as_str().unwrap(), names.join(" "));
        for key in ["mcpName", "commandPrefix", "allowRedirection"] {
            if let Some(value) = rule.get(key) {
                let _ = write!(line, ", {key} {value}");
            }
        }
        lines.push((-priority, line));
    }
    lines.sort_by_key(|(priority, _)| *priority);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

fn check(change: impl FnOnce(&mut Tools), expected: &Expect) {
    let mut tools = charge().tools;
    change(&mut tools);
    let mut shown = rules(&tools);
    for row in table(&tools) {
        let _ = writeln!(shown, "| {} | {:?} | {} |", row.tool, row.level, row.told);
    }
    expected.assert_eq(&shown);
}

fn other(tools: &mut Tools, name: &str, level: Level) {
    tools.others.insert(name.to_owned(), level);
}

#[test]
fn what_is_not_allowed_is_closed_against_every_rule_of_the_user() {
    check(
        |_| {},
        &expect![[r#"
        999 deny google_web_search web_fetch
        999 deny activate_skill ask_user browser_agent cli_help codebase_investigator enter_plan_mode exit_plan_mode generalist invoke_agent save_memory
        999 deny delegate delegate_batch delegate_wait delegate_status delegate_list delegate_cancel, mcpName "legation"
        998 allow *, mcpName "legation"
        1 allow glob grep_search list_directory read_file read_many_files search_file_content
        1 allow replace write_file
        1 allow run_shell_command, allowRedirection true
        1 allow list_mcp_resources read_mcp_resource update_topic write_todos
        0 deny *
        | read | Allow | allow glob, grep_search, list_directory, read_file, read_many_files, search_file_content |
        | edit | Allow | allow replace, write_file |
        | shell | Allow | allow run_shell_command |
        | web | Ask | deny google_web_search, web_fetch |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | off, and denied: invoke_agent |
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
        999 deny glob grep_search list_directory read_file read_many_files search_file_content
        999 deny replace write_file
        999 deny run_shell_command
        999 deny google_web_search web_fetch
        999 deny activate_skill ask_user browser_agent cli_help codebase_investigator enter_plan_mode exit_plan_mode generalist invoke_agent save_memory
        999 deny delegate delegate_batch delegate_wait delegate_status delegate_list delegate_cancel, mcpName "legation"
        998 allow *, mcpName "legation"
        1 allow list_mcp_resources read_mcp_resource update_topic write_todos
        0 deny *
        | read | Ask | deny glob, grep_search, list_directory, read_file, read_many_files, search_file_content |
        | edit | Deny | deny replace, write_file |
        | shell | Ask | deny run_shell_command |
        | web | Ask | deny google_web_search, web_fetch |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | off, and denied: invoke_agent |
    "#]],
    );
}

#[test]
fn parts_of_the_shell_are_told_by_their_beginning() {
    let parts = |tools: &mut Tools| {
        tools.shell = Level::Deny;
        tools.delegate = Level::Allow;
        other(tools, "shell(git *)", Level::Allow);
        other(tools, "shell(git)", Level::Allow);
        other(tools, "shell(git push *)", Level::Deny);
        other(tools, "shell(make)", Level::Allow);
        other(tools, "shell(*build*)", Level::Allow);
    };
    check(
        parts,
        &expect![[r#"
        999 deny run_shell_command, commandPrefix "git push"
        999 deny google_web_search web_fetch
        999 deny activate_skill ask_user browser_agent cli_help codebase_investigator enter_plan_mode exit_plan_mode generalist invoke_agent save_memory
        998 allow run_shell_command, commandPrefix "git", allowRedirection true
        998 allow *, mcpName "legation"
        997 deny run_shell_command
        1 allow glob grep_search list_directory read_file read_many_files search_file_content
        1 allow replace write_file
        1 allow list_mcp_resources read_mcp_resource update_topic write_todos
        0 deny *
        | read | Allow | allow glob, grep_search, list_directory, read_file, read_many_files, search_file_content |
        | edit | Allow | allow replace, write_file |
        | shell | Deny | deny run_shell_command of `git push`; allow run_shell_command of `git`; deny run_shell_command |
        | web | Ask | deny google_web_search, web_fetch |
        | delegate | Allow | the tools of the server `legation` |
        | its own sub-agents | Deny | off, and denied: invoke_agent |
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
        999 deny glob grep_search list_directory read_file read_many_files search_file_content
        999 deny run_shell_command
        999 deny google_web_search web_fetch
        999 deny activate_skill ask_user browser_agent cli_help codebase_investigator enter_plan_mode exit_plan_mode generalist invoke_agent save_memory
        999 deny delegate delegate_batch delegate_wait delegate_status delegate_list delegate_cancel, mcpName "legation"
        998 allow *, mcpName "legation"
        1 allow replace write_file
        1 allow list_mcp_resources read_mcp_resource update_topic write_todos
        0 deny *
        | read | Allow | deny glob, grep_search, list_directory, read_file, read_many_files, search_file_content |
        | edit | Allow | allow replace, write_file |
        | shell | Allow | deny run_shell_command |
        | web | Ask | deny google_web_search, web_fetch |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | its own sub-agents | Deny | off, and denied: invoke_agent |
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
        other(tools, "write_todos", Level::Allow);
        other(tools, "invoke_agent", Level::Allow);
        other(tools, "odd name\"", Level::Allow);
    };
    check(
        servers,
        &expect![[r#"
        999 deny google_web_search web_fetch
        999 deny activate_skill ask_user browser_agent cli_help codebase_investigator enter_plan_mode exit_plan_mode generalist invoke_agent save_memory
        999 deny delegate delegate_batch delegate_wait delegate_status delegate_list delegate_cancel, mcpName "legation"
        998 allow *, mcpName "legation"
        1 allow glob grep_search list_directory read_file read_many_files search_file_content
        1 allow replace write_file
        1 allow run_shell_command, allowRedirection true
        1 allow search, mcpName "github"
        1 allow *, mcpName "jira"
        1 allow write_todos
        1 allow list_mcp_resources read_mcp_resource update_topic write_todos
        0 deny *
        | read | Allow | allow glob, grep_search, list_directory, read_file, read_many_files, search_file_content |
        | edit | Allow | allow replace, write_file |
        | shell | Allow | allow run_shell_command |
        | web | Ask | deny google_web_search, web_fetch |
        | delegate | Deny | not offered; of the server `legation` only what hands in a return |
        | invoke_agent | Allow | not offered |
        | mcp:* | Allow | not offered |
        | mcp:github/search | Allow | allow search of github |
        | mcp:jira/* | Allow | allow * of jira |
        | mcp:legation/delegate | Allow | not offered |
        | mcp:slack/post | Ask | not offered |
        | odd name" | Allow | not offered |
        | write_todos | Allow | allow write_todos |
        | its own sub-agents | Deny | off, and denied: invoke_agent |
    "#]],
    );
}

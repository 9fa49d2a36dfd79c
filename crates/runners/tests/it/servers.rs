//! Servers of tools as files name them, and which an agent gets.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{Expect, expect};
use legation_core::agent::{McpServer, Reach};
use legation_runners::agents::{Vendor, read};
use legation_runners::servers::{Servers, Sources, wanted};

use crate::talked::layers;

fn shown(servers: &Servers) -> String {
    let line = |(name, server): (&String, &Result<McpServer, String>)| match server {
        Ok(McpServer { reach: Reach::Stdio { command, env }, timeout_ms }) => {
            format!("{name}: {command:?} {env:?} {timeout_ms:?}\n")
        }
        Ok(McpServer { reach: Reach::Http { url, headers }, timeout_ms }) => {
            format!("{name}: {url} {headers:?} {timeout_ms:?}\n")
        }
        Err(why) => format!("{name}: not: {why}\n"),
    };
    servers.iter().map(line).collect()
}

/// What an agent gets whose file says this, in a project with that file.
fn check(frontmatter: &str, project: Option<&str>, allow: &[&str], expected: &Expect) {
    let text = format!("---\nname: a\ndescription: b\n{frontmatter}---\n");
    let (agent, findings) = read(Vendor::Claude, Path::new("a.md"), text.as_bytes());
    let agent = agent.unwrap_or_else(|| panic!("{findings:?}"));
    let env = BTreeMap::from([("MCP_KEY".to_owned(), "k-1".to_owned())]);
    let servers = wanted(&Sources {
        own: &agent.definition.mcp_servers,
        project,
        permissions: &layers(allow, &[], &[]),
        env: &env,
    });
    let findings = findings
        .iter()
        .map(|finding| format!("{}: {}\n", finding.line.unwrap_or_default(), finding.message));
    let deny = &agent.definition.tools.deny;
    let deny = if deny.is_empty() { String::new() } else { format!("denied: {deny:?}\n") };
    expected.assert_eq(&(findings.collect::<String>() + &deny + &shown(&servers)));
}

const PROJECT: &str = r#"{"mcpServers": {
    "git": {"command": "git-mcp", "args": ["--repo", "."], "env": {"KEY": "${MCP_KEY}", "N": 3}},
    "web": {"type": "http", "url": "${BASE:-https://x.org}/mcp", "headers": {"A": "Bearer ${MCP_KEY}"}, "timeout": 5000},
    "off": {"command": "x", "disabled": true},
    "secret": {"command": "x", "env": {"K": "${AWS_KEY}"}},
    "old": {"type": "sse", "url": "https://x.org/sse"},
    "empty": {},
    "a b": {"command": "x"},
    "legation": {"command": "evil"}
}}"#;

#[test]
fn servers_of_the_project_are_there_as_far_as_rules_leave_anything_of_them() {
    check("", Some(PROJECT), &["read"], &expect![[""]]);
    check(
        "",
        Some(PROJECT),
        &["mcp:git/log", "mcp:web/*"],
        &expect![[r#"
            git: ["git-mcp", "--repo", "."] {"KEY": "k-1", "N": "3"} None
            web: https://x.org/mcp {"A": "Bearer k-1"} Some(5000)
        "#]],
    );
    check(
        "",
        Some(PROJECT),
        &["mcp:*"],
        &expect![[r#"
            empty: not: it has neither a `command` nor a `url`
            git: ["git-mcp", "--repo", "."] {"KEY": "k-1", "N": "3"} None
            old: not: servers of the type `sse` are not spoken to; use `http`
            secret: not: `AWS_KEY` is not set, or not for agents to see; put it into the agent's `legation.env`, or give it a name that begins with `MCP_`
            web: https://x.org/mcp {"A": "Bearer k-1"} Some(5000)
        "#]],
    );
}

#[test]
fn an_agent_names_its_own_or_those_of_the_project() {
    let frontmatter = "mcpServers:\n  - git\n  - legation\n  - nobody\n  - mine: {type: stdio, command: npx, args: [-y, x]}\n";
    check(
        frontmatter,
        Some(PROJECT),
        &["mcp:*/log"],
        &expect![[r#"
            empty: not: it has neither a `command` nor a `url`
            git: ["git-mcp", "--repo", "."] {"KEY": "k-1", "N": "3"} None
            mine: ["npx", "-y", "x"] {} None
            nobody: not: `.mcp.json` has no server of that name
            old: not: servers of the type `sse` are not spoken to; use `http`
            secret: not: `AWS_KEY` is not set, or not for agents to see; put it into the agent's `legation.env`, or give it a name that begins with `MCP_`
            web: https://x.org/mcp {"A": "Bearer k-1"} Some(5000)
        "#]],
    );
    let frontmatter = "mcpServers:\n  git: {url: \"http://127.0.0.1:9/mcp\"}\n  cut: {command: [a, b], tool_timeout_sec: 1.5, bearer_token_env_var: X}\n";
    check(
        frontmatter,
        None,
        &["mcp:git/*", "mcp:cut/*"],
        &expect![[r#"
        cut: ["a", "b"] {} Some(1500)
        git: http://127.0.0.1:9/mcp {} None
    "#]],
    );
}

#[test]
fn what_makes_no_sense_is_told_and_closes_nothing_else() {
    let frontmatter = "mcpServers:\n  both: {command: a, url: b}\n  \"x y\": {command: a, disabled_tools: [z]}\n  text: soon\n  args: {command: a, args: [[]]}\n  off: {enabled: false, command: a}\n  named:\n";
    check(
        frontmatter,
        None,
        &["mcp:*"],
        &expect![[r#"
            5: the server `both` cannot be used: it has both a `command` and a `url`
            6: a server cannot be called `x y`
            7: the server `text` cannot be used: it must be a map
            8: the server `args` cannot be used: `args` must be a list of texts
            denied: ["mcp:x y/z", "mcp:off/*"]
            named: not: `.mcp.json` has no server of that name
        "#]],
    );
    check(
        "mcpServers: 7\n",
        None,
        &["mcp:*"],
        &expect![[r#"
        4: `mcpServers` has a number where a server should be
    "#]],
    );
    check(
        "mcpServers: git\n",
        Some("nonsense"),
        &["mcp:*"],
        &expect![[r#"
        .mcp.json: not: the file cannot be read: expected ident at line 1 column 2
        git: not: `.mcp.json` has no server of that name
    "#]],
    );
    check("mcpServers: git\n", Some("nonsense"), &["read"], &expect![[""]]);
}

#[test]
fn there_is_an_end_to_how_many_there_are() {
    let each: Vec<String> =
        (10..30).map(|no| format!("\"s{no}\": {{\"command\": \"x\"}}")).collect();
    let text = format!("{{\"mcpServers\": {{{}}}}}", each.join(","));
    let servers = wanted(&Sources {
        own: &BTreeMap::new(),
        project: Some(&text),
        permissions: &layers(&["mcp:*"], &[], &[]),
        env: &BTreeMap::new(),
    });
    assert_eq!(servers.values().filter(|server| server.is_ok()).count(), 16);
    assert_eq!(servers["s29"], Err("an agent can have 16 servers".to_owned()));
}

//! Files that nobody writes in good faith. Each must end in a named finding, and soon.

use std::path::Path;
use std::time::{Duration, Instant};

use expect_test::expect;
use legation_runners::agents::{MAX_FILE_BYTES, Vendor, read};

use super::tell;

fn markdown(front: &str) -> String {
    format!("---\n{front}\n---\nbody\n")
}

/// What is said first about a file, and whether an agent came of it.
fn said(vendor: Vendor, text: &str) -> String {
    let (agent, findings) = read(vendor, Path::new("x.md"), text.as_bytes());
    let first = findings.first().expect("something is said");
    let line = first.line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let kept = if agent.is_some() { "kept" } else { "left out" };
    format!("{} line {line}: {} [{kept}]\n", first.severity.as_str(), first.message)
}

#[test]
fn a_bomb_of_aliases_does_not_go_off() {
    let mut front = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for pair in ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"] {
        let (one, other) = pair.split_at(1);
        let many = vec![format!("*{one}"); 9].join(", ");
        front += &format!("{other}: &{other} [{many}]\n");
    }
    expect![[r#"
        error line 5: the frontmatter is not valid YAML: too much of it: at most 5000 values, 32 deep, 64 aliases, one document [left out]
    "#]].assert_eq(&said(Vendor::Claude, &markdown(&front)));
}

#[test]
fn nesting_ends_somewhere() {
    let deep = |count: usize, open: &str, close: &str| open.repeat(count) + &close.repeat(count);
    let block: String = (0..400).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
    let dots = vec!["a"; 200_000].join(".");
    let all = [
        said(Vendor::Claude, &markdown(&format!("name: {}", deep(500_000, "[", "]")))),
        said(Vendor::Claude, &markdown(&format!("name: {}", deep(60_000, "[", "]")))),
        said(Vendor::Claude, &markdown(&format!("name: {}", "[".repeat(60_000)))),
        said(Vendor::Claude, &markdown(&format!("name: {}", deep(20_000, "{a: ", "}")))),
        said(Vendor::Claude, &markdown(&"- ".repeat(50_000))),
        said(Vendor::Claude, &markdown(&block)),
        said(Vendor::Codex, &format!("a = {}", deep(100_000, "[", "]"))),
        said(Vendor::Codex, &format!("a = {}", "[".repeat(500_000))),
        said(Vendor::Codex, &format!("{dots} = 1")),
        said(Vendor::Codex, &format!("[{dots}]")),
        said(Vendor::Codex, &format!("a = {}", deep(40, "[", "]"))),
    ];
    expect![[r#"
        error line 1: the frontmatter is larger than 128 KiB [left out]
        error line 2: the frontmatter is not valid YAML: recursion limit exceeded [left out]
        error line 2: the frontmatter is not valid YAML: recursion limit exceeded [left out]
        error line 2: the frontmatter is not valid YAML: too much of it: at most 5000 values, 32 deep, 64 aliases, one document [left out]
        error line 2: the frontmatter is not valid YAML: too much of it: at most 5000 values, 32 deep, 64 aliases, one document [left out]
        error line 34: the frontmatter is not valid YAML: too much of it: at most 5000 values, 32 deep, 64 aliases, one document [left out]
        error line 1: not valid TOML: cannot recurse further; max recursion depth met [left out]
        error line 1: not valid TOML: cannot recurse further; max recursion depth met [left out]
        error line 1: not valid TOML: recursion limit [left out]
        error line 1: not valid TOML: recursion limit [left out]
        error line 1: not valid TOML: values lie too deep in each other [left out]
    "#]].assert_eq(&all.concat());
}

#[test]
fn numbers_out_of_this_world_are_named() {
    let yaml = |line: &str| said(Vendor::Claude, &markdown(&format!("description: x\n{line}")));
    let toml = |line: &str| said(Vendor::Codex, &format!("description = 'x'\n{line}"));
    let all = [
        yaml("maxTurns: 1e400"),
        yaml("maxTurns: 99999999999999999999999"),
        yaml("temperature: -0.1"),
        yaml("temperature: .nan"),
        yaml("legation: {timeout: 99999999999h}"),
        yaml("legation: {timeout: 0s}"),
        yaml("legation: {timeout: 1..5h}"),
        toml("maxTurns = 9223372036854775807"),
        toml("maxTurns = 99999999999999999999"),
        toml("temperature = inf"),
    ];
    expect![[r#"
        error line 3: the frontmatter is not valid YAML: the number `1e400` is not finite [left out]
        error line 3: `maxTurns` must be from 1 to 100000 [left out]
        error line 3: `temperature` must be from 0 to 2 [left out]
        error line 3: the frontmatter is not valid YAML: the number `.nan` is not finite [left out]
        error line 3: `legation.timeout` cannot be `99999999999h` [left out]
        error line 3: `legation.timeout` cannot be `0s` [left out]
        error line 3: `legation.timeout` cannot be `1..5h` [left out]
        error line 2: `maxTurns` must be from 1 to 100000 [left out]
        error line 2: not valid TOML: a number is too large [left out]
        error line 2: not valid TOML: a number must be finite [left out]
    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn shapes_that_make_no_sense_are_named() {
    let yaml = |front: &str| said(Vendor::Claude, &markdown(front));
    let opencode =
        |line: &str| said(Vendor::OpenCode, &markdown(&format!("description: x\n{line}")));
    let all = [
        said(Vendor::Claude, ""),
        said(Vendor::Claude, "---"),
        said(Vendor::Claude, "---\n"),
        yaml("- a\n- b"),
        yaml("just words"),
        yaml("42"),
        yaml("? [a, b]\n: c"),
        yaml("name: a\n--- b\nname: c"),
        yaml("name: {a: b}"),
        yaml("description: x\ntools: {a: {b: c}}"),
        yaml("id: ../../etc/passwd\ndescription: x"),
        yaml("id: user\ndescription: x"),
        yaml("<<: [1, 2]\nname: a"),
        yaml("name: !!binary x\ndescription: x"),
        yaml("legation: {env: {\"A=B\": x}}"),
        yaml("legation: {env: {A: [x]}}"),
        yaml("legation: {command: [\" \"]}"),
        opencode("permission: [1]"),
        opencode("permission: [{action: read}]"),
        opencode(&format!("permission: {{{}: deny}}", "x".repeat(300))),
        opencode(&format!("subagents: {{allow: [{}]}}", "x".repeat(300))),
        said(Vendor::Codex, "name = 'a'\nname = 'b'"),
        said(Vendor::Codex, "= 1"),
    ];
    expect![[r#"
        warning line -: no frontmatter, so it is not read as an agent [left out]
        error line 1: the frontmatter that begins here never ends [left out]
        error line 1: the frontmatter that begins here never ends [left out]
        error line 2: the frontmatter must be keys with values, and is a list [left out]
        error line 2: the frontmatter must be keys with values, and is text [left out]
        error line 2: the frontmatter must be keys with values, and is a number [left out]
        error line 2: the frontmatter is not valid YAML: expected string scalar [left out]
        error line 3: the frontmatter is not valid YAML: too much of it: at most 5000 values, 32 deep, 64 aliases, one document [left out]
        error line 2: `name` must be text, and is a map [left out]
        error line 3: `tools` is a map with keys other than allow, ask and deny [left out]
        error line 2: `../../etc/passwd` cannot be an id [left out]
        error line 2: `user` cannot be an id [left out]
        error line 2: the frontmatter is not valid YAML: YAML merge value must be mapping or sequence of mappings [left out]
        error line 2: the frontmatter is not valid YAML: invalid !!binary base64 [left out]
        error line 2: `A=B` is no name for a variable [left out]
        error line 2: `legation.env.A` must be text [left out]
        error line 2: the command has no program [left out]
        error line 3: `permission` must be a map, and is a number [left out]
        error line 3: a rule needs an action and an effect [left out]
        error line 3: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long for a tool [left out]
        error line 3: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is too long for an agent [left out]
        error line 2: not valid TOML: duplicate key [left out]
        error line 1: not valid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_` [left out]
    "#]].assert_eq(&all.concat());
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_line() {
    let latin = b"---\nname: a\nicon: \xff\n---\n";
    expect![[r#"
        no agent
        error x.md:3 the file is not valid UTF-8 (save it as UTF-8 text)
    "#]]
    .assert_eq(&tell(Vendor::Claude, "x.md", latin));
    let nothing = vec![0_u8; 1000];
    expect![[r#"
        no agent
        warning x.md no frontmatter, so it is not read as an agent (begin the file with a line `---`, or move it out of the agents folder)
    "#]].assert_eq(&tell(Vendor::Claude, "x.md", &nothing));
    expect![[r#"
        no agent
        error x.toml:1 not valid TOML: key with no value, expected `=` (correct that line)
    "#]]
    .assert_eq(&tell(Vendor::Codex, "x.toml", &nothing));
}

/// Texts of a megabyte, or as large as a frontmatter may be, that an eager reader would
/// never finish.
fn large_texts() -> Vec<(&'static str, Vendor, String)> {
    let file = |piece: &str| piece.repeat((MAX_FILE_BYTES - 100) / piece.len());
    let front = |piece: &str| piece.repeat(120_000 / piece.len());
    let count = |line: fn(usize) -> String| (0..8_000).map(line).collect::<String>();
    let tools = |list: &str| format!("description: x\ntools: {list}");
    let steps: String = (0..450).map(|depth| format!("{}a: b: c\n", " ".repeat(depth))).collect();
    let fronts = [
        ("colons", front(":")),
        ("a line of colons", format!("description: {}", front("x: "))),
        ("lines with colons", front("a: b: c\n")),
        ("quotes", front("'")),
        ("open quotes", format!("name: \"{}", front("a: b\n"))),
        ("tabs", front("\t")),
        ("deeper and deeper", steps),
        ("the same tool", tools(&front("Read, "))),
        ("other tools", tools(&count(|n| format!("t{n}, ")))),
        ("brackets", tools(&front("("))),
        ("underscores", tools(&front("_"))),
        ("names with underscores", tools(&front("_a_a_a_a_a_a_a_a, "))),
        ("unknown keys", count(|n| format!("k{n}: 1\n"))),
        ("comments", front("# x\n")),
        ("anchors", count(|n| format!("k{n}: &a{n} x\n"))),
        ("merges", format!("a: &a {{b: c}}\n{}", front("<<: *a\n"))),
        ("question marks", front("? ")),
        ("percents", front("%")),
    ];
    let markdowns =
        fronts.into_iter().map(|(what, front)| (what, Vendor::OpenCode, markdown(&front)));
    let mut texts: Vec<_> = markdowns.collect();
    texts.extend([
        ("one line", Vendor::OpenCode, markdown(&format!("name: {}", file("x")))),
        ("hyphens", Vendor::OpenCode, file("---\n")),
        ("blank lines", Vendor::OpenCode, file("\n")),
        ("a body", Vendor::OpenCode, markdown("description: x") + &file("é: ")),
        ("keys", Vendor::Codex, count(|n| format!("k{n} = 1\n"))),
        ("tables", Vendor::Codex, count(|n| format!("[t{n}]\n"))),
        ("arrays", Vendor::Codex, file("[[a]]\n")),
        ("a long text", Vendor::Codex, format!("name = \"\"\"{}", file("x\n"))),
        ("double quotes", Vendor::Codex, file("\"")),
    ]);
    texts
}

#[test]
fn a_megabyte_of_anything_is_read_or_refused_at_once() {
    for (what, vendor, text) in large_texts() {
        let start = Instant::now();
        let _ = read(vendor, Path::new("x.md"), text.as_bytes());
        let taken = start.elapsed();
        // A debug build on a busy machine; what is quadratic takes minutes.
        assert!(taken < Duration::from_secs(10), "{what}: {taken:?}");
    }
}

/// Good files cut short, or with a byte overwritten, at every third place.
#[test]
fn no_damage_to_a_good_file_makes_the_reader_panic() {
    let markdown = include_bytes!("../fixtures/legation/coordinator.md");
    let toml = include_bytes!("../fixtures/codex/explorer.toml");
    for (vendor, bytes) in [(Vendor::OpenCode, markdown.as_slice()), (Vendor::Codex, toml)] {
        for cut in (0..bytes.len()).step_by(3) {
            let _ = read(vendor, Path::new("x"), &bytes[..cut]);
            for evil in [b'\n', b':', b'[', b'*', 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[cut] = evil;
                let _ = read(vendor, Path::new("x"), &damaged);
            }
        }
    }
}

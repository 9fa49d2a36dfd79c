//! The reference of all keys as Markdown.

use std::fmt::Write as _;

use super::environment::{RESERVED_NAMES, SHORT_NAMES};
use super::keys::{KEYS, Key};
use super::kind::Kind;
use super::path::KeyPath;
use super::schema::{about, words};
use super::value::plain;

const OPENING: &str = "\
# Configuration

<!-- Made from the table of keys; change that, and `UPDATE_EXPECT=1 cargo test` writes this page. -->

`legation config list --origin` shows every setting and where it came from,
`legation config check` what is wrong, `legation config schema` the JSON Schema.

## Where settings come from

Later wins, key by key; lists are replaced, not joined.

1. built-in defaults
2. the user's file, `~/.config/legation/config.toml` (or below `$XDG_CONFIG_HOME`)
3. `.claude/config.json`, under `delegation`
4. `claude.config.js`, under `module.exports.delegation` (not read yet: a note says so)
5. `.legation/config.toml`
6. environment variables
7. the session: `/delegation config` and the settings of the dashboard
8. the task's own `delegationConfig`
9. the options of the call

Limits of a task, an agent or a call may only tighten what the first seven
allow; a looser one is ignored, and said so.

An unknown key is a warning with the nearest known name. A value of the wrong
type or out of range is refused, and so is the whole configuration: nothing is
half accepted.

```toml
mode = \"auto\"

[limits]
maxDepth = 2
maxCostUsd = 5.0
```

";

/// The page about the configuration, made from the table.
pub fn reference() -> String {
    let mut page = String::from(OPENING);
    page.push_str(&variables());
    let mut section = None;
    for key in KEYS {
        let own = key.parts().next().filter(|part| *part != key.path);
        if section != Some(own) {
            section = Some(own);
            page.push_str(&heading(own));
        }
        page.push_str(&row(key));
    }
    page.push_str(&meanings());
    page
}

fn variables() -> String {
    let mut text = String::from(
        "## Environment variables\n\n\
         `LEGATION_`, then each part of the key in capitals, its words joined by `_` and its\n\
         parts by `__`: `LEGATION_LIMITS__MAX_DEPTH=2` sets `limits.maxDepth`. Lists are\n\
         separated by commas, or JSON. `LEGATION_AGENTS__GRANTS` and `LEGATION_PRICES` are JSON.\n\
         Some keys have a second name; where both are set, the long one wins:\n\n\
         | variable | key |\n|---|---|\n",
    );
    for (name, key) in SHORT_NAMES {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "| `{name}` | `{key}` |");
    }
    let reserved: Vec<_> = RESERVED_NAMES.iter().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(
        text,
        "\nNot settings, but handed to the processes of agents: {}.",
        reserved.join(", ")
    );
    text
}

fn heading(section: Option<&str>) -> String {
    let (name, about) = match section {
        Some(name) => (format!("`{name}`"), about(&KeyPath::of([name]))),
        None => ("Top level".to_owned(), "Keys that stand in no section."),
    };
    format!("\n## {name}\n\n{about}\n\n| key | takes | default | meaning |\n|---|---|---|---|\n")
}

fn row(key: &Key) -> String {
    let path = key.key_path();
    let default = if key.is_family() {
        "none".to_owned()
    } else {
        let default = key.default_value();
        let shown = plain(&default);
        if default.is_null() { shown } else { format!("`{shown}`") }
    };
    let takes = match key.kind {
        Kind::Word(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Kind::Flag
        | Kind::Whole { .. }
        | Kind::Number { .. }
        | Kind::Text
        | Kind::List
        | Kind::Grants => key.kind.to_string(),
    };
    format!("| `{}` | {takes} | {default} | {} |\n", key.path, about(&path))
}

/// What the words mean that some keys take.
fn meanings() -> String {
    let mut text = String::from("\n## What the words mean\n");
    for key in KEYS {
        let words = words(&key.key_path());
        if !words.is_empty() {
            let _ = writeln!(text, "\n`{}`:\n", key.path);
        }
        for (word, meaning) in words {
            let _ = writeln!(text, "- `{word}`: {meaning}");
        }
    }
    text
}

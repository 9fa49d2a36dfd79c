//! Vendors' permission rules, turned into lists of what is allowed, asked and denied.
//!
//! Where a vendor lets a later rule take back an earlier one, a deny here still
//! stands: what comes out is never wider than what was written.

use legation_core::agent::{CANONICAL, Level, Tool, ToolRules};

use super::Vendor;
use super::entries::{At, Notes, shortened};
use super::names::{MAX_TOOL_BYTES, Purpose, canonical};
use super::node::{Entry, Node, Shape};

const LEVELS: [(&str, Level); 3] =
    [("allow", Level::Allow), ("ask", Level::Ask), ("deny", Level::Deny)];

/// OpenCode's rules as they are being read.
pub(super) struct Policy {
    vendor: Vendor,
    /// What holds for every tool that no rule names.
    base: Option<Level>,
    rules: Vec<Rule>,
}

struct Rule {
    level: Level,
    names: Vec<String>,
    line: u32,
    /// Whether it came after the rule about everything, and so makes an exception to it.
    after_base: bool,
}

impl Policy {
    pub(super) fn new(vendor: Vendor) -> Self {
        Self { vendor, base: None, rules: Vec::new() }
    }

    /// Reads `permission`: one level for everything, levels by tool, levels by tool and
    /// pattern, or a list of rules.
    pub(super) fn read(&mut self, entry: &Entry, notes: &mut Notes) {
        let key = entry.key.as_str();
        match &entry.value.shape {
            Shape::Map(entries) => {
                for entry in entries {
                    self.tool(&format!("{key}.{}", entry.key), entry, notes);
                }
            }
            Shape::List(items) => {
                for item in items {
                    self.listed(key, item, notes);
                }
            }
            Shape::Null => {}
            Shape::Text(_) | Shape::Bool(_) | Shape::Number(..) => {
                if let Some(level) = notes.choice(key, &entry.value, &LEVELS) {
                    self.add(At { line: entry.line, key }, ("*", "*", level), notes);
                }
            }
        }
    }

    /// Reads `name: true`, `name: false` or `name: level`.
    pub(super) fn switch(&mut self, key: &str, entry: &Entry, notes: &mut Notes) {
        let level = match entry.value.shape {
            Shape::Bool(true) => Some(Level::Allow),
            Shape::Bool(false) => Some(Level::Deny),
            Shape::Null | Shape::Number(..) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                notes.choice(key, &entry.value, &LEVELS)
            }
        };
        if let Some(level) = level {
            self.add(At { line: entry.line, key }, (&entry.key, "*", level), notes);
        }
    }

    fn tool(&mut self, key: &str, entry: &Entry, notes: &mut Notes) {
        let Shape::Map(patterns) = &entry.value.shape else {
            return self.switch(key, entry, notes);
        };
        for pattern in patterns {
            let key = format!("{key}.{}", pattern.key);
            if let Some(level) = notes.choice(&key, &pattern.value, &LEVELS) {
                let at = At { line: pattern.line, key: &key };
                self.add(at, (&entry.key, &pattern.key, level), notes);
            }
        }
    }

    /// One rule of a list: `{action, resource, effect}`.
    fn listed(&mut self, key: &str, item: &Node, notes: &mut Notes) {
        let (mut action, mut resource, mut effect) = (None, None, None);
        for field in notes.map(key, item) {
            match field.key.as_str() {
                "action" | "permission" => action = notes.text(key, &field.value),
                "resource" | "pattern" => resource = notes.text(key, &field.value),
                "effect" => effect = notes.choice(key, &field.value, &LEVELS),
                _ => {}
            }
        }
        let at = At { line: item.line, key };
        match (action, effect) {
            (Some(action), Some(effect)) => {
                let resource = resource.unwrap_or_else(|| "*".to_owned());
                self.add(at, (&action, &resource, effect), notes);
            }
            (Some(_) | None, _) => notes.error(
                at,
                "a rule needs an action and an effect",
                "write `{action: …, resource: …, effect: allow | ask | deny}`",
            ),
        }
    }

    fn add(&mut self, at: At<'_>, rule: (&str, &str, Level), notes: &mut Notes) {
        let (tool, pattern, level) = rule;
        if tool.len() + pattern.len() > MAX_TOOL_BYTES {
            let message = format!("`{}` is too long for a tool", shortened(tool));
            return notes.error(at, message, "names have at most 256 bytes");
        }
        if tool == "*" && pattern == "*" {
            // Of two rules about everything the stricter one holds.
            self.base = Some(self.base.map_or(level, |base| base.min(level)));
            return;
        }
        let name = match pattern {
            "*" => tool.to_owned(),
            _ => format!("{tool}({pattern})"),
        };
        let purpose = match level {
            Level::Allow => Purpose::Open,
            Level::Ask | Level::Deny => Purpose::Close,
        };
        self.rules.push(Rule {
            level,
            names: canonical(self.vendor, &name, purpose),
            line: at.line,
            after_base: self.base.is_some(),
        });
    }

    /// Adds what was read to the rules of the file.
    pub(super) fn apply(self, rules: &mut ToolRules, notes: &mut Notes) {
        let of = |level| self.rules.iter().filter(move |rule| rule.level == level);
        let names = |level| of(level).flat_map(|rule| rule.names.clone());
        let exceptions: Vec<String> = of(Level::Allow)
            .filter(|rule| rule.after_base)
            .flat_map(|rule| rule.names.clone())
            .collect();
        let asked: Vec<String> = names(Level::Ask).collect();
        let denied: Vec<String> = names(Level::Deny).collect();
        for rule in of(Level::Allow) {
            let lost = rule.names.iter().find(|name| {
                let whole = name.split('(').next().unwrap_or_default();
                name.contains('(') && asked.iter().chain(&denied).any(|rule| rule == whole)
            });
            if let Some(name) = lost {
                let at = At { line: rule.line, key: "permission" };
                let message = format!(
                    "the exception `{name}` is not kept: the rule about the whole tool holds"
                );
                notes.note(at, message, "nothing to do; it is stricter than written");
            }
        }
        match self.base {
            Some(Level::Deny) => {
                // A list of tools says nothing about delegating, so this has to.
                if !exceptions.iter().any(|name| name.starts_with("delegate")) {
                    rules.deny.push("delegate".to_owned());
                }
                rules.allow = Some(narrowed(rules.allow.take(), exceptions));
            }
            Some(Level::Ask) => {
                // Whatever is not named here is not on the list either, and so denied.
                let others = CANONICAL.into_iter().chain(["mcp:*"]).map(str::to_owned);
                rules.ask.extend(others.filter(|name| !exceptions.contains(name)));
                rules.allow = Some(narrowed(rules.allow.take(), exceptions));
            }
            Some(Level::Allow) | None => {}
        }
        rules.ask.extend(asked);
        rules.deny.extend(denied);
    }
}

/// What is on both lists, where there are two.
fn narrowed(listed: Option<Vec<String>>, mut exceptions: Vec<String>) -> Vec<String> {
    if let Some(listed) = listed {
        let on_list = |name: &String| {
            let mut rules = listed.iter();
            rules.any(|rule| Tool::new(rule).covers(&Tool::new(name)))
        };
        exceptions.retain(on_list);
    }
    exceptions
}

//! Links between the documents. What lies outside the repository is not looked up.

use super::finding::Finding;
use super::tree::Tree;

/// Every link inside the repository leads somewhere, headings included.
pub fn links_resolve(tree: &Tree) -> Vec<Finding> {
    let documents = tree.files().filter(|(path, _)| path.ends_with(".md"));
    let mut findings = Vec::new();
    for (path, text) in documents {
        for (line, target) in links(text) {
            if let Some(what) = broken(tree, path, &target) {
                findings.push(Finding {
                    rule: "link",
                    path: path.to_owned(),
                    line,
                    what,
                    advice: "mend the link, or write what it should lead to".into(),
                });
            }
        }
    }
    findings
}

/// The targets of `[text](target)` and their lines; code is left alone.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        // Between backticks is code, which is every second piece.
        let pieces = line.split('`').step_by(2);
        for piece in pieces {
            for rest in piece.split("](").skip(1) {
                let target = rest.split([')', ' ']).next().unwrap_or_default();
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// The lines of a document outside its code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((at + 1, line))
    })
}

fn broken(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolved(from, file) else {
        return Some(format!("`{target}` leads out of the repository"));
    };
    if !tree.has(&path) {
        return Some(format!("`{path}` is not there"));
    }
    let text = tree.text(&path).unwrap_or_default();
    let known =
        heading.is_empty() || prose(text).any(|(_, line)| anchor(line) == Some(heading.into()));
    (!known).then(|| format!("`{path}` has no heading `#{heading}`"))
}

/// The path that a link means; none if it climbs too high.
fn resolved(from: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return Some(from.to_owned());
    }
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in file.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// The anchor that a heading gets: lower case, blanks as hyphens, no other signs.
fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let signs = heading.trim().chars().flat_map(char::to_lowercase);
    let signs = signs.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(signs.map(|c| if c == ' ' { '-' } else { c }).collect())
}

//! Running other programs, and saying things. The one place that does either.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The cargo that runs this program, told to work in the workspace.
pub fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(crate::workspace::root());
    // An update of expected output is a deliberate act of a person, never of a chore.
    command.env_remove("UPDATE_EXPECT");
    // What cargo told this program about itself would be told to build scripts too, and some
    // are run anew, with all that depends on them, whenever it differs.
    let told = std::env::vars_os().map(|(name, _)| name);
    let about_us = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    for name in told.filter(about_us) {
        command.env_remove(name);
    }
    command
}

/// Runs a command in the open; an error names it.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// Runs a command and gives back what it printed on stdout.
pub fn stdout_of(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let done = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !done.status.success() {
        bail!("`{shown}` ended with {}", done.status);
    }
    String::from_utf8(done.stdout).with_context(|| format!("`{shown}` printed something odd"))
}

/// Runs a command quietly and gives back what it printed on stderr.
pub fn stderr_of(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let done = command
        .stdout(Stdio::null())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    if !done.status.success() {
        bail!("`{shown}` ended with {}:\n{stderr}", done.status);
    }
    Ok(stderr)
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The executables that a `cargo … --message-format=json` says it built.
pub fn executables(build_messages: &str) -> Vec<PathBuf> {
    let messages = build_messages.lines();
    let messages = messages.filter_map(|line| serde_json::from_str(line).ok());
    messages
        .filter_map(|message: serde_json::Value| {
            message.get("executable")?.as_str().map(PathBuf::from)
        })
        .collect()
}

/// Says something on stdout.
pub fn say(text: &str) {
    // A closed pipe is the reader's choice.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Says something on stderr.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

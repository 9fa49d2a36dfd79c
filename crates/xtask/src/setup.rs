//! Installing the tools that a fresh machine lacks.
//!
//! Cargo's tools are built from the registry at a pinned version and kept in the
//! user's cache, so that a second clone on the same machine finds them. They are
//! built without optimisation: compiling them fast is worth more than running
//! them fast. Nothing is installed that is already there and new enough.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::process::{self, say};

/// Installs the tools that `cargo xtask ci` needs and this machine lacks.
#[derive(clap::Args)]
pub struct Args {}

/// A tool that is a cargo subcommand.
pub struct Tool {
    /// The name of the crate and of the program.
    pub name: &'static str,
    /// The version that is installed where none is found.
    pub pinned: &'static str,
    /// The oldest version that will do.
    pub at_least: (u64, u64),
}

/// Runs the tests.
pub const NEXTEST: Tool = Tool { name: "cargo-nextest", pinned: "0.9.143", at_least: (0, 9) };

/// Checks licences, banned crates and sources.
pub const DENY: Tool = Tool { name: "cargo-deny", pinned: "0.20.2", at_least: (0, 20) };

/// Installs what is missing.
pub fn run(_args: &Args) -> Result<()> {
    for tool in [&NEXTEST, &DENY] {
        let path = tool.path()?;
        say(&format!("{} is {}", tool.name, path.display()));
    }
    Ok(())
}

impl Tool {
    /// The tool as a command; it is installed first if need be.
    pub fn command(&self, args: &[&str]) -> Result<Command> {
        let mut command = process::cargo(args);
        command.env("PATH", path_with(&self.path()?)?);
        Ok(command)
    }

    /// Where the program is; it is installed first if need be.
    fn path(&self) -> Result<PathBuf> {
        let cached = cache()?.join(format!("{}-{}", self.name, self.pinned));
        let cached = cached.join("bin").join(self.name);
        for candidate in [PathBuf::from(self.name), cached.clone()] {
            if self.is_good(&candidate) {
                return Ok(candidate);
            }
        }
        self.install(&cached)?;
        if !self.is_good(&cached) {
            bail!("{} was installed but does not run", cached.display());
        }
        Ok(cached)
    }

    fn is_good(&self, program: &PathBuf) -> bool {
        let mut command = Command::new(program);
        // Cargo's subcommands expect their own name as the first word.
        let word = self.name.trim_start_matches("cargo-");
        command.args([word, "--version"]).stderr(Stdio::null());
        let said = command.output().ok().and_then(|done| String::from_utf8(done.stdout).ok());
        said.and_then(|said| version(&said)).is_some_and(|found| found >= self.at_least)
    }

    fn install(&self, program: &std::path::Path) -> Result<()> {
        let root = program.ancestors().nth(2).context("no folder to install into")?;
        say(&format!(
            "{} {} is not on this machine: building it, which takes a few minutes once",
            self.name, self.pinned
        ));
        let mut command = process::cargo(["install", "--locked", "--quiet", "--root"]);
        command.arg(root).arg(format!("{}@{}", self.name, self.pinned));
        for (key, value) in
            [("OPT_LEVEL", "0"), ("DEBUG", "0"), ("LTO", "off"), ("CODEGEN_UNITS", "256")]
        {
            command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        process::run(&mut command)
    }
}

/// The major and minor number in what `--version` printed.
pub fn version(said: &str) -> Option<(u64, u64)> {
    said.split_whitespace().find_map(|word| {
        let mut parts = word.split('.').map(str::parse::<u64>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    })
}

/// The user's cache, where tools outlive a clone.
fn cache() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("legation-xtask"))
}

fn path_with(program: &std::path::Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = program.parent().map(PathBuf::from);
    let folders = folder.filter(|folder| !folder.as_os_str().is_empty());
    let folders = folders.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("PATH cannot be extended")
}

/// Makes sure that Debian's packages are there; asks for them by name where this
/// user may not install.
pub fn debian(program: &str, package: &str) -> Result<()> {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    say(&format!("{program} is not on this machine: installing {package}"));
    let update = process::run(Command::new("apt-get").args(["update", "-qq"]));
    let install = ["install", "-y", "-qq", "--no-install-recommends", package];
    update
        .and_then(|()| process::run(Command::new("apt-get").args(install)))
        .with_context(|| format!("{program} is needed: install the package {package}"))
}

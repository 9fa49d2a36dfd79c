//! The protocol's own test suite, run against our HTTP.
//!
//! The suite and the node that it needs are installed below `target`, at pinned versions.
//! What it talks to is the example `conformance` of the server's crate.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::npm;
use crate::process::{cargo, executables, say, stdout_of};
use crate::workspace::root;

/// The suite.
const PACKAGE: &str = "@modelcontextprotocol/conformance";
/// The node that the suite needs.
const NODE: &str = "22.23.3";
/// The suite, as it was released last, and the versions of the protocol that it knows.
const RELEASED: (&str, &[&str]) = ("0.1.16", &["2025-06-18", "2025-11-25"]);
/// The suite that knows the newest version as well.
const NEXT: (&str, &[&str]) = ("0.2.0-alpha.12", &["2025-06-18", "2025-11-25", "2026-07-28"]);
/// What is known to fail, and why.
const EXPECTED: &str = "crates/server/conformance.yml";

/// Runs the protocol's own test suite against the HTTP server; needs npm.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it, for each version of the protocol that is offered.
pub fn run(_args: &Args) -> Result<()> {
    Tools::install()?.run()
}

/// The same as a step of `ci`: where the suite cannot be installed, that is said and nothing
/// is checked.
pub fn check() -> Result<()> {
    match Tools::install() {
        Ok(tools) => tools.run(),
        Err(problem) => {
            say(&format!("SKIPPED: the suite cannot be installed: {problem:#}"));
            Ok(())
        }
    }
}

/// What the suite is run with.
struct Tools {
    folder: PathBuf,
    node: PathBuf,
    /// Each suite's own version, its program, and the versions of the protocol it knows.
    suites: Vec<(&'static str, PathBuf, &'static [&'static str])>,
}

impl Tools {
    fn install() -> Result<Self> {
        let folder = root().join("target/conformance");
        let node = npm::installed(&format!("node@{NODE}"), &folder.join("node"))?;
        let mut suites = Vec::new();
        for (suite, versions) in [RELEASED, NEXT] {
            let packages = npm::installed(&format!("{PACKAGE}@{suite}"), &folder.join(suite))?;
            suites.push((suite, packages.join(PACKAGE).join("dist/index.js"), versions));
        }
        Ok(Self { folder, node: node.join(".bin/node"), suites })
    }

    fn run(&self) -> Result<()> {
        let mut server = Server::start()?;
        let mut failed = Vec::new();
        say("suite            protocol     passed  failed, of which expected");
        for (suite, program, versions) in &self.suites {
            for version in *versions {
                let log = self.folder.join(format!("{suite}-{version}.log"));
                let mut command = Command::new(&self.node);
                command.arg(program);
                command.args(["server", "--url", &server.url, "--suite", "all"]);
                command.args(["--spec-version", version, "--expected-failures"]);
                command.arg(root().join(EXPECTED)).current_dir(&self.folder);
                let done = command.output().context("node could not be started")?;
                fs::write(&log, [done.stdout.as_slice(), &done.stderr].concat())?;
                let tally = Tally::of(&String::from_utf8_lossy(&done.stdout));
                let Tally { passed, failed: not, expected } = tally;
                say(&format!("{suite:<15}  {version}  {passed:>7}  {not:>6}  {expected:>18}"));
                if !done.status.success() {
                    failed.push(log);
                }
            }
        }
        server.stop()?;
        if !failed.is_empty() {
            let logs: Vec<String> = failed.iter().map(|log| log.display().to_string()).collect();
            bail!("not as {EXPECTED} says; look at the end of\n{}", logs.join("\n"));
        }
        Ok(())
    }
}

/// What the suite says at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Checks that passed.
    pub passed: u64,
    /// Checks that failed.
    pub failed: u64,
    /// Scenarios that were expected to fail and did.
    pub expected: usize,
}

impl Tally {
    /// Reads it from what the suite printed.
    pub fn of(printed: &str) -> Self {
        let mut tally = Self::default();
        for line in printed.lines() {
            if let Some(total) = line.strip_prefix("Total: ") {
                let mut words = total.split(' ').filter_map(|word| word.parse().ok());
                tally.passed = words.next().unwrap_or_default();
                tally.failed = words.next().unwrap_or_default();
            }
            tally.expected += usize::from(line.trim_start().starts_with('~'));
        }
        tally
    }
}

/// The server that the suite talks to.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Result<Self> {
        let args = ["build", "--locked", "--package", "legation-server", "--example"];
        let mut build = cargo(args);
        build.args(["conformance", "--message-format=json-render-diagnostics"]);
        let built = executables(&stdout_of(&mut build)?);
        let program = built.first().context("cargo built no example")?;
        let mut command = Command::new(program);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = process.stdout.take().context("it has no output")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        Ok(Self { process, url: url.trim().to_owned() })
    }

    /// It ends when nobody can say anything to it any more.
    fn stop(&mut self) -> Result<()> {
        if let Some(mut stdin) = self.process.stdin.take() {
            stdin.flush()?;
        }
        let ended = self.process.wait()?;
        if !ended.success() {
            bail!("the server ended with {ended}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! How much of `core` its own tests run, line by line.
//!
//! The compiler's own counters are used. Only crates of the workspace get them,
//! by way of this program standing in for the compiler, so dependencies are not
//! built again and the ordinary build is not disturbed.

pub mod report;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::process::{self, cargo, say};
use crate::{setup, workspace};

/// The share of lines that must be run, in per cent.
const AT_LEAST: f64 = 95.0;
/// Tells this program that it stands in for the compiler.
const STAND_IN: &str = "XTASK_STANDS_IN_FOR_RUSTC";

/// Measures which lines of `core` its tests run; fails below 95 %.
#[derive(clap::Args)]
pub struct Args {
    /// Fail below this share of lines, in per cent.
    #[arg(long, default_value_t = AT_LEAST)]
    at_least: f64,
}

/// The programs that read the counters; they must be of the compiler's own version.
struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

/// Measures, prints a table, and fails if too little is covered.
pub fn run(args: &Args) -> Result<()> {
    let tools = tools()?;
    let folder = workspace::target().join("coverage");
    // Counters of an earlier run would count for this one.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let binaries = build()?;
    for binary in &binaries {
        let mut tests = Command::new(binary);
        tests.arg("--quiet").current_dir(workspace::root().join("crates/core"));
        tests.env("LLVM_PROFILE_FILE", folder.join("%p-%m.profraw"));
        process::run(&mut tests)?;
    }
    let files = report::files(&lcov(&tools, &folder, &binaries)?, &sources());
    let report = report::Report::new(files);
    say(&report.to_string());
    let covered = report.percent();
    if covered < args.at_least {
        bail!("{covered:.2} % of the lines of core are covered, {} % are wanted", args.at_least);
    }
    Ok(())
}

/// Builds the tests of `core` with counters, and says where they are.
fn build() -> Result<Vec<PathBuf>> {
    let args = ["test", "--locked", "--package", "legation-core", "--no-run"];
    let mut command = cargo(args);
    command.arg("--message-format=json-render-diagnostics");
    command.env("RUSTC_WORKSPACE_WRAPPER", std::env::current_exe()?);
    command.env(STAND_IN, "1");
    let binaries = process::executables(&process::stdout_of(&mut command)?);
    if binaries.is_empty() {
        bail!("core has no tests to measure");
    }
    Ok(binaries)
}

/// The counts per line, in the `lcov` form.
fn lcov(tools: &Tools, folder: &Path, binaries: &[PathBuf]) -> Result<String> {
    let merged = folder.join("all.profdata");
    let mut merge = Command::new(&tools.profdata);
    merge.args(["merge", "-sparse", "-o"]).arg(&merged);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "profraw") {
            merge.arg(path);
        }
    }
    process::run(&mut merge)?;
    let mut export = Command::new(&tools.cov);
    export.args(["export", "-format=lcov", "-instr-profile"]).arg(&merged);
    for binary in binaries {
        export.arg("-object").arg(binary);
    }
    process::stdout_of(&mut export)
}

/// The folder whose files count.
fn sources() -> String {
    let folder = workspace::root().join("crates/core/src");
    format!("{}/", folder.display())
}

/// Finds the tools that came with the compiler, else Debian's of the same version.
fn tools() -> Result<Tools> {
    let about = process::stdout_of(Command::new("rustc").arg("-vV"))?;
    let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name));
    let sysroot = process::stdout_of(Command::new("rustc").args(["--print", "sysroot"]))?;
    let host = field("host: ").context("rustc does not name its host")?;
    let own = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    if own.join("llvm-profdata").exists() {
        let (profdata, cov) = (own.join("llvm-profdata"), own.join("llvm-cov"));
        return Ok(Tools { profdata, cov });
    }
    let version = field("LLVM version: ").context("rustc does not name its LLVM")?;
    let major = version.split('.').next().unwrap_or(version);
    let cov = format!("llvm-cov-{major}");
    setup::debian(&cov, &format!("llvm-{major}"))?;
    let profdata = format!("llvm-profdata-{major}").into();
    Ok(Tools { profdata, cov: cov.into() })
}

/// Runs the compiler with counters switched on, if this program was asked to
/// stand in for it; answers with the exit code then.
pub fn stand_in_for_rustc() -> Option<ExitCode> {
    std::env::var_os(STAND_IN)?;
    let mut words = std::env::args_os().skip(1);
    let mut compiler = Command::new(words.next()?);
    compiler.args(words).args(["-C", "instrument-coverage"]);
    let code = compiler.status().ok().and_then(|status| status.code());
    Some(code.map_or(ExitCode::FAILURE, |code| ExitCode::from(code.clamp(0, 255) as u8)))
}

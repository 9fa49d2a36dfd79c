//! Packages of npm at pinned versions, installed below `target` once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process::{self, say};
use crate::setup;

/// Seconds that one package may take.
const PATIENCE: &str = "240";

/// The folder of packages in which this one is, given as `name@version`; installed if need be.
pub fn installed(package: &str, folder: &Path) -> Result<PathBuf> {
    let packages = folder.join("node_modules");
    let mark = folder.join(package.replace('/', "-"));
    if mark.exists() {
        return Ok(packages);
    }
    if Command::new("npm").arg("--version").output().is_err() {
        setup::debian("npm", "npm")?;
    }
    say(&format!("installing {package}"));
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    // A registry that does not answer must not hold up everything else.
    let mut npm = Command::new("timeout");
    npm.args([PATIENCE, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package]);
    npm.current_dir(folder);
    process::stdout_of(&mut npm).with_context(|| format!("npm install {package}"))?;
    fs::write(mark, "")?;
    Ok(packages)
}

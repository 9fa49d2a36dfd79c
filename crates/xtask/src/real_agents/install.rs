//! Installing the vendors' programs at pinned versions.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process::{self, say};
use crate::setup;

/// Packages and the programs in them. The programs want a newer Node than Debian has.
const PACKAGES: &[(&str, &str)] = &[
    ("node@22.21.1", "node"),
    ("@anthropic-ai/claude-code@2.1.325", "claude"),
    ("@openai/codex@0.166.0", "codex"),
    ("opencode-ai@1.18.33", "opencode"),
    ("@google/gemini-cli@0.61.0", "gemini"),
];

/// Seconds that one package may take.
const PATIENCE: &str = "240";

/// A folder with the programs.
pub(crate) struct Programs {
    /// To be put before everything in `PATH`.
    pub(crate) bin: PathBuf,
}

impl Programs {
    /// Programs that somebody has installed.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { bin: folder.join("bin") }
    }

    /// Installs what is missing.
    pub(crate) fn install() -> Result<Self> {
        let home = std::env::current_dir()?.join("target/agents");
        let bin = home.join("bin");
        fs::create_dir_all(&bin)?;
        if Command::new("npm").arg("--version").output().is_err() {
            setup::debian("npm", "npm")?;
        }
        for (package, program) in PACKAGES {
            let folder = home.join(program);
            let mark = folder.join(package.replace('/', "-"));
            if !mark.exists() {
                say(&format!("installing {package}"));
                install(package, &folder)?;
                fs::write(&mark, "")?;
            }
            let link = bin.join(program);
            if !link.exists() {
                // A link to something that is gone is replaced.
                let _ = fs::remove_file(&link);
                symlink(folder.join("node_modules/.bin").join(program), &link)?;
            }
        }
        Ok(Self { bin })
    }
}

fn install(package: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    // A registry that does not answer must not hold up everything else.
    let mut npm = Command::new("timeout");
    npm.args([PATIENCE, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package]);
    npm.current_dir(folder);
    process::stdout_of(&mut npm).with_context(|| format!("npm install {package}"))?;
    Ok(())
}

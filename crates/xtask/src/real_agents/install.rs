//! Installing the vendors' programs at pinned versions.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::npm;

/// Packages and the programs in them. The programs want a newer Node than Debian has.
const PACKAGES: &[(&str, &str)] = &[
    ("node@22.21.1", "node"),
    ("@anthropic-ai/claude-code@2.1.325", "claude"),
    ("@openai/codex@0.166.0", "codex"),
    ("opencode-ai@1.18.33", "opencode"),
    ("@google/gemini-cli@0.61.0", "gemini"),
];

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
        for (package, program) in PACKAGES {
            let packages = npm::installed(package, &home.join(program))?;
            let link = bin.join(program);
            if !link.exists() {
                // A link to something that is gone is replaced.
                let _ = fs::remove_file(&link);
                symlink(packages.join(".bin").join(program), &link)?;
            }
        }
        Ok(Self { bin })
    }
}

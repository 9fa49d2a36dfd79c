//! A folder with a workspace, secrets around it, and a shell inside the fence.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use legation_core::config::Network;
use legation_runners::fence::{Error, Fence, Standing};
use tempfile::TempDir;

/// What lies where.
pub(super) struct Stage {
    root: TempDir,
    pub(super) fence: Fence,
}

impl Stage {
    /// `work` is writable, `house` is hidden but for `house/open`, all else readable.
    pub(super) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let base = fs::canonicalize(root.path()).unwrap();
        for folder in ["work/deep", "house/open", "house/rooms", "shelf"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in
            ["work/own", "house/secret", "house/rooms/more", "house/open/note", "shelf/book"]
        {
            fs::write(base.join(file), format!("{file}\n")).unwrap();
        }
        let fence = Fence {
            hidden: vec![base.join("house")],
            readable: vec![base.join("house/open")],
            writable: vec![base.join("work")],
            network: Network::Allow,
            ports: Vec::new(),
            required: true,
        };
        Self { root, fence }
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join(below)
    }

    pub(super) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap_or_default()
    }

    /// Runs a script from `work`, with `R` as the folder around it.
    pub(super) fn try_run(&self, script: &str) -> Result<(String, Standing), Error> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).current_dir(self.path("work")).env("R", self.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, standing) = self.fence.start(&mut command)?;
        let said = child.wait_with_output().unwrap();
        let text = [said.stdout, said.stderr].concat();
        Ok((String::from_utf8_lossy(&text).trim().to_owned(), standing))
    }

    pub(super) fn run(&self, script: &str) -> String {
        let (said, standing) = self.try_run(script).unwrap();
        assert!(standing.is_on, "{standing:?}");
        said
    }

    /// Says for each line of shell whether it succeeds.
    pub(super) fn tries(&self, lines: &[&str]) -> String {
        let told = |line: &&str| {
            let script = format!("( {line} ) >/dev/null 2>&1 && echo yes || echo no");
            format!("{} {line}\n", self.run(&script))
        };
        lines.iter().map(told).collect()
    }
}

//! Overlays in a user namespace, where somebody who is not root may lay them: what is true of
//! other overlays is true of these.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// What makes root nobody for a program and all that it starts.
const AS_NOBODY: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const IN_NAMESPACE: &[&str] =
    &["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"];

/// Runs a program as somebody who is not root, in a user namespace of its own.
fn inside(folder: &Path, program: &[&str]) -> Output {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let nobody = AS_NOBODY.iter().filter(|_| is_root);
    let mut words = nobody.chain(IN_NAMESPACE).chain(program);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).current_dir(folder).env("TMPDIR", folder).env("HOME", folder);
    command.output().unwrap()
}

/// A folder for everybody.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

#[test]
fn layers_are_the_same_there_save_that_folders_are_not_renamed() {
    let folder = folder();
    let copy = folder.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let tried = inside(folder.path(), &["true"]);
    if !tried.status.success() {
        let why = String::from_utf8_lossy(&tried.stderr).into_owned();
        eprintln!("SKIPPED: no user namespace can be made here: {why}");
        return;
    }
    let program = [copy.to_str().unwrap(), "workspaces::layers", "--nocapture"];
    let skipped = ["--skip", "folders_of_the_base_can_be_renamed"];
    // A process that is being started has the locks of this one for a moment: one test at a time.
    let alone = ["--test-threads", "1"];
    let ran = inside(folder.path(), &[program.as_slice(), &skipped, &alone].concat());
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(ran.status.success() && !said.contains("SKIPPED"), "{said}");
    assert!(!said.contains(" 0 passed"), "{said}");
}

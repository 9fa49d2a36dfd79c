//! Repositories that we write ourselves, file by file: the hub, and the one inside every
//! workspace.
//!
//! As few files as git can do with: making one is what costs most in a small workspace.

use std::fs;
use std::path::Path;

use super::super::folders::gone;
use super::super::{Error, record};
use super::user::User;

/// What a repository has checked out that has nothing.
const NOTHING: &str = "ref: refs/heads/none\n";

/// Makes a repository of ours, with no objects and no names.
pub(super) fn write(folder: &Path, user: &User) -> Result<(), Error> {
    // Nobody reads a log of what only ever moves once.
    skeleton(folder, user, "false")?;
    put(&folder.join("HEAD"), NOTHING.as_bytes())
}

/// Makes what the repositories of all workspaces have in common: settings, and objects to
/// read.
pub(super) fn write_common(folder: &Path, user: &User, lender: &Path) -> Result<(), Error> {
    skeleton(folder, user, "true")?;
    put(&folder.join("objects").join(ALTERNATES), &lenders(lender))
}

/// Has git ask a program what may have changed before it looks for changes itself.
pub(super) fn add_monitor(folder: &Path, user: &User, program: &str) -> Result<(), Error> {
    let [_, monitored] = configurations(user, program);
    put(&folder.join("config"), monitored.as_bytes())
}

/// The settings that a workspace's repository may have, without such a program and with it.
pub(super) fn configurations(user: &User, program: &str) -> [String; 2] {
    let plain = configuration(user, "true");
    let mut monitored = plain.clone();
    monitored.push_str(&format!("[core]\n\tfsmonitor = {}\n", quoted(program)));
    // Git remembers which files it does not know by folder, and would be told of the top alone.
    monitored.push_str("\tfsmonitorHookVersion = 2\n\tuntrackedCache = false\n");
    [plain, monitored]
}

/// Where git looks for folders of objects to borrow.
pub(super) const ALTERNATES: &str = "info/alternates";

/// Where a workspace's repository borrows from, as git reads it.
pub(super) fn lenders(lender: &Path) -> Vec<u8> {
    [lender.as_os_str().as_encoded_bytes(), b"\n"].concat()
}

/// Puts such a repository on a branch, at a commit, and has it know these names, too.
pub(super) fn put_on_branch(
    folder: &Path,
    (branch, commit): (&str, &str),
    names: &str,
) -> Result<(), Error> {
    let head = format!("ref: refs/heads/{branch}\n");
    put(&folder.join("HEAD"), head.as_bytes())?;
    // One file, where a name of its own would take a folder for each of its parts.
    put(&folder.join("packed-refs"), packed((branch, commit), names).as_bytes())
}

/// The names of such a repository, as git packs them.
pub(super) fn packed((branch, commit): (&str, &str), names: &str) -> String {
    let branch = format!("refs/heads/{branch}");
    let is_before = |line: &&str| line.split_once(' ').is_some_and(|(_, name)| *name < *branch);
    let before = names.split_inclusive('\n').take_while(is_before);
    let at = before.map(str::len).sum();
    let (before, after) = names.split_at_checked(at).unwrap_or((names, ""));
    [PACKED, before, commit, " ", &branch, "\n", after].concat()
}

/// How git begins a list of names that says nothing of what tags are of.
const PACKED: &str = "# pack-refs with: sorted \n";

/// Makes the repository of a submodule in a workspace: detached, borrowing objects.
pub(super) fn write_detached(folder: &Path, user: &User, commit: &str) -> Result<(), Error> {
    write_common(folder, user, &user.objects)?;
    put(&folder.join("HEAD"), format!("{commit}\n").as_bytes())
}

fn skeleton(folder: &Path, user: &User, logs: &str) -> Result<(), Error> {
    for name in ["refs", "objects"] {
        let name = folder.join(name);
        fs::create_dir_all(&name).map_err(Error::files("making", &name))?;
    }
    put(&folder.join("config"), configuration(user, logs).as_bytes())?;
    for (name, bytes) in user.local() {
        let path = folder.join(name);
        match bytes {
            Some(bytes) => put(&path, &bytes)?,
            // The user had one once.
            None => gone(&path).map_err(Error::files("removing", &path))?,
        }
    }
    Ok(())
}

/// All that [`write_common`] writes, as one text.
pub(super) fn common(user: &User, lender: &Path) -> String {
    let mut text = configuration(user, "true");
    text.push_str(&lender.to_string_lossy());
    for (name, bytes) in user.local() {
        let bytes = bytes.unwrap_or_default();
        text.push_str(&format!("{name}\0{}\0", String::from_utf8_lossy(&bytes)));
    }
    text
}

fn configuration(user: &User, logs: &str) -> String {
    let version = u8::from(user.hash_bytes != 20);
    let mut text = format!("[core]\n\trepositoryformatversion = {version}\n");
    text.push_str("\tfilemode = true\n\tbare = false\n");
    text.push_str(&format!("\tlogallrefupdates = {logs}\n"));
    for (key, value) in &user.settings {
        if let Some(key) = key.strip_prefix("core.") {
            text.push_str(&format!("\t{key} = {}\n", quoted(value)));
        }
    }
    if version == 1 {
        text.push_str("[extensions]\n\tobjectformat = sha256\n");
    }
    text.push_str("[maintenance]\n\tauto = false\n");
    let (name, email) = (quoted(&user.name), quoted(&user.email));
    text.push_str(&format!("[user]\n\tname = {name}\n\temail = {email}\n"));
    text
}

fn quoted(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{value}\"")
}

/// Writes a file in one step, unless it is what it should be: somebody may be reading it.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    record::write_bytes(path, bytes)
}

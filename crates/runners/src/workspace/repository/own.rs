//! Repositories that we write ourselves, file by file: the hub, the one beside
//! every workspace, and the one inside it.

use std::fs;
use std::path::Path;

use super::super::Error;
use super::user::{SPARSE, User};

/// The user's files that ours need a copy of, where they exist.
const COPIED: &[&str] = &["info/exclude", "info/attributes", "shallow"];

/// Makes a repository that has no objects and, at first, no names.
///
/// With a head it is checked out there, detached.
pub(super) fn write(folder: &Path, user: &User, head: Option<&str>) -> Result<(), Error> {
    let head = head.unwrap_or("ref: refs/heads/none");
    // Nobody reads a log of what only ever moves once.
    skeleton(folder, user, &format!("{head}\n"), "false")
}

/// Makes a workspace's own repository: on a branch, at the base, borrowing objects.
pub(super) fn write_borrowing(
    folder: &Path,
    user: &User,
    branch: &str,
    base: &str,
) -> Result<(), Error> {
    skeleton(folder, user, &format!("ref: refs/heads/{branch}\n"), "true")?;
    borrow(folder, user)?;
    put(&folder.join("refs/heads").join(branch), format!("{base}\n").as_bytes())
}

/// Makes the repository of a submodule in a workspace: detached, borrowing objects.
pub(super) fn write_detached(folder: &Path, user: &User, commit: &str) -> Result<(), Error> {
    skeleton(folder, user, &format!("{commit}\n"), "true")?;
    borrow(folder, user)
}

/// Lets a repository read the user's objects and write its own.
fn borrow(folder: &Path, user: &User) -> Result<(), Error> {
    let mut borrowed = user.objects.as_os_str().to_owned();
    borrowed.push("\n");
    put(&folder.join("objects/info/alternates"), borrowed.as_encoded_bytes())?;
    let objects = folder.join("objects/pack");
    fs::create_dir_all(&objects).map_err(Error::files("making", &objects))
}

fn skeleton(folder: &Path, user: &User, head: &str, logs: &str) -> Result<(), Error> {
    for name in ["refs/heads", "objects"] {
        let name = folder.join(name);
        fs::create_dir_all(&name).map_err(Error::files("making", &name))?;
    }
    put(&folder.join("config"), configuration(user, logs).as_bytes())?;
    for name in COPIED {
        let bytes = fs::read(user.common_dir.join(name)).unwrap_or_default();
        // Git puts a file of nothing but comments into every repository.
        if bytes.split(|byte| *byte == b'\n').any(|line| !matches!(line.first(), None | Some(b'#')))
        {
            put(&folder.join(name), &bytes)?;
        }
    }
    if let Ok(bytes) = fs::read(user.git_dir.join(SPARSE)) {
        put(&folder.join(SPARSE), &bytes)?;
    }
    put(&folder.join("HEAD"), head.as_bytes())
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

/// Writes a file, unless it is what it should be: somebody may be reading it.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::files("making", folder))?;
    }
    fs::write(path, bytes).map_err(Error::files("writing", path))
}

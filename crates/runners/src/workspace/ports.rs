//! Ports and names that belong to one workspace as long as it is there.
//!
//! A lease is a file named after the port, in a folder that all projects of a user share.
//! It goes with the workspace; one whose workspace is gone is taken over. Nobody is kept
//! from using a port here: leases only keep ours from choosing the same. The fence can do
//! more.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use legation_core::digest;

use super::{Error, Place, home};

/// Ports that belong together.
const BLOCK: u16 = 10;
/// The first port of all, below those that the system gives away by itself.
const FIRST: u16 = 20_000;
/// Blocks that there are.
const BLOCKS: u16 = 1_000;

/// The variable that says which is the first.
const VARIABLE: &str = "LEGATION_PORT_BASE";

impl Place {
    /// The ports that are leased to it, by what it tells its programs.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        let first = self.env.iter().find(|(name, _)| name == VARIABLE);
        let first = first.and_then(|(_, port)| port.parse::<u16>().ok());
        first.map_or_else(Vec::new, |first| (first..first.saturating_add(BLOCK)).collect())
    }
}

/// The environment of an attempt: its own ports and its own name.
pub(super) fn env(state: &Path, attempt: &str) -> Result<Vec<(String, String)>, Error> {
    let mut env = Vec::new();
    // With every port taken there is none to promise; whoever needs one finds out.
    if let Some(port) = lease(state, attempt)? {
        env.push((VARIABLE.to_owned(), port.to_string()));
    }
    env.push(("COMPOSE_PROJECT_NAME".to_owned(), name(attempt)));
    Ok(env)
}

/// A name as compose wants it: small letters, digits, `-` and `_`.
fn name(attempt: &str) -> String {
    let soft = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("legation-{}", attempt.to_ascii_lowercase().chars().map(soft).collect::<String>())
}

/// The leases of all projects of a user, where their state folders lie side by side.
fn folder(state: &Path) -> PathBuf {
    home::shared(state).join("leases")
}

/// Who holds a lease: an attempt, and the state folder that knows of it.
fn holder(state: &Path, attempt: &str) -> Vec<u8> {
    [state.as_os_str().as_bytes(), b"\n", attempt.as_bytes()].concat()
}

/// Leases the first block of ports that nobody listens on.
fn lease(state: &Path, attempt: &str) -> Result<Option<u16>, Error> {
    let folder = folder(state);
    fs::create_dir_all(&folder).map_err(Error::files("making", &folder))?;
    // Held until one is found, so that nobody takes over what was just taken over.
    let _turn = turn(&folder)?;
    // Projects begin at different places, so that they seldom ask for the same.
    let start = digest::hex(&[&state.to_string_lossy()], 4);
    let start = u16::from_str_radix(&start, 16).unwrap_or_default() % BLOCKS;
    for step in 0..BLOCKS {
        let block = start.wrapping_add(step) % BLOCKS;
        let port = FIRST.saturating_add(block.saturating_mul(BLOCK));
        let path = folder.join(port.to_string());
        let known = fs::read(&path).unwrap_or_default();
        let is_own = known == holder(state, attempt);
        if is_own || (is_gone(&known) && is_free(port)) {
            fs::write(&path, holder(state, attempt)).map_err(Error::files("writing", &path))?;
            return Ok(Some(port));
        }
    }
    Ok(None)
}

/// Waits until nobody else enters a lease.
fn turn(folder: &Path) -> Result<File, Error> {
    let lock = folder.with_extension("lock");
    let turn = File::create(&lock).and_then(|file| file.lock().map(|()| file));
    turn.map_err(Error::files("locking", &lock))
}

/// Takes away what is left of leases whose holders are gone, or were killed before they had
/// said who they are: whoever enters one has the turn.
pub(super) fn sweep(state: &Path) -> Result<(), Error> {
    let folder = folder(state);
    if !folder.exists() {
        return Ok(());
    }
    let _turn = turn(&folder)?;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        if is_gone(&fs::read(entry.path()).unwrap_or_default()) {
            drop(fs::remove_file(entry.path()));
        }
    }
    Ok(())
}

/// Whether nobody holds a lease, or only somebody who is gone.
fn is_gone(known: &[u8]) -> bool {
    let mut parts = known.splitn(2, |byte| *byte == b'\n');
    let (Some(state), Some(attempt)) = (parts.next(), parts.next()) else { return true };
    let attempt = String::from_utf8_lossy(attempt);
    // Its own folder is made before its lease, and goes last.
    !Path::new(OsStr::from_bytes(state)).join("repos").join(format!("{attempt}.git")).exists()
}

/// Whether nobody listens on any port of a block, in the older or the newer address family.
fn is_free(first: u16) -> bool {
    let is_taken = |address: IpAddr, port| match TcpListener::bind((address, port)) {
        Ok(_) => false,
        // A machine without one of them has no listeners there.
        Err(error) => error.kind() == ErrorKind::AddrInUse || address.is_ipv4(),
    };
    let everywhere: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let mut ports = first..first.saturating_add(BLOCK);
    !ports.any(|port| everywhere.iter().any(|address| is_taken(*address, port)))
}

/// Gives back what an attempt has leased.
pub(super) fn free(state: &Path, attempt: &str) {
    let own = holder(state, attempt);
    for entry in fs::read_dir(folder(state)).into_iter().flatten().flatten() {
        if fs::read(entry.path()).is_ok_and(|known| known == own) {
            // One that stays is taken over as soon as its workspace is gone.
            drop(fs::remove_file(entry.path()));
        }
    }
}

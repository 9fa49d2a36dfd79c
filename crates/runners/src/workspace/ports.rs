//! Ports and names that belong to one workspace as long as it is there.
//!
//! A lease is a file named after the port. Only one can make it, and it goes with
//! the workspace; one whose workspace is gone is taken over. Nobody is kept from
//! using a port: leases only keep ours from choosing the same.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use legation_core::digest;

use super::Error;

/// Ports that belong together.
const BLOCK: u16 = 10;
/// The first port of all, below those that the system gives away by itself.
const FIRST: u16 = 20_000;
/// Blocks that there are.
const BLOCKS: u16 = 1_000;

/// The environment of an attempt: its own ports and its own name.
pub(super) fn env(state: &Path, attempt: &str) -> Result<Vec<(String, String)>, Error> {
    let mut env = Vec::new();
    // With every port taken there is none to promise; whoever needs one finds out.
    if let Some(port) = lease(state, attempt)? {
        env.push(("LEGATION_PORT_BASE".to_owned(), port.to_string()));
    }
    env.push(("COMPOSE_PROJECT_NAME".to_owned(), name(attempt)));
    Ok(env)
}

/// A name as compose wants it: small letters, digits, `-` and `_`.
fn name(attempt: &str) -> String {
    let soft = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("legation-{}", attempt.to_ascii_lowercase().chars().map(soft).collect::<String>())
}

fn folder(state: &Path) -> PathBuf {
    state.join("leases")
}

/// Leases the first block of ports that nobody listens on.
fn lease(state: &Path, attempt: &str) -> Result<Option<u16>, Error> {
    let folder = folder(state);
    fs::create_dir_all(&folder).map_err(Error::files("making", &folder))?;
    // Projects begin at different places, so that they seldom want the same.
    let start = digest::hex(&[&state.to_string_lossy()], 4);
    let start = u16::from_str_radix(&start, 16).unwrap_or_default() % BLOCKS;
    for step in 0..BLOCKS {
        let block = start.wrapping_add(step) % BLOCKS;
        let port = FIRST.saturating_add(block.saturating_mul(BLOCK));
        if claim(&folder.join(port.to_string()), state, attempt)? {
            if is_free(port) {
                return Ok(Some(port));
            }
            drop(fs::remove_file(folder.join(port.to_string())));
        }
    }
    Ok(None)
}

/// Makes a lease, if nobody has it or only somebody who is gone.
fn claim(path: &Path, state: &Path, attempt: &str) -> Result<bool, Error> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(attempt.as_bytes()).map_err(Error::files("writing", path))?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let holder = fs::read_to_string(path).unwrap_or_default();
            let gone = !holder.is_empty()
                && holder != attempt
                && !state.join("repos").join(format!("{holder}.git")).exists()
                && !state.join("workspaces").join(&holder).exists();
            if !gone {
                return Ok(holder == attempt);
            }
            // The next attempt to make it tells who was faster.
            drop(fs::remove_file(path));
            Ok(false)
        }
        Err(error) => Err(Error::files("writing", path)(error)),
    }
}

/// Whether nobody listens on any port of a block.
fn is_free(first: u16) -> bool {
    let mut ports = first..first.saturating_add(BLOCK);
    ports.all(|port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok())
}

/// Gives back what an attempt has leased.
pub(super) fn free(state: &Path, attempt: &str) {
    for entry in fs::read_dir(folder(state)).into_iter().flatten().flatten() {
        if fs::read_to_string(entry.path()).is_ok_and(|holder| holder == attempt) {
            // One that stays is taken over as soon as its workspace is gone.
            drop(fs::remove_file(entry.path()));
        }
    }
}

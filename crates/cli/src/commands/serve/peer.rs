//! The process at the other end of a connection on this machine, as the kernel tells it.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use legation_engine::client::owner_of_workspace;
use legation_runners::supervise::is_kept;

/// Where the kernel lists connections.
const LISTS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The columns of such a list: both ends, and the number of the socket.
const NEAR: usize = 1;
const FAR: usize = 2;
const INODE: usize = 9;

/// Whether who is connected from `address` to our port runs inside an attempt. Who cannot
/// be found, because it is another user's or another machine's, does not.
pub(super) fn is_inside(address: SocketAddr, port: u16) -> bool {
    let sockets: Vec<String> = LISTS
        .iter()
        .filter_map(|list| fs::read_to_string(list).ok())
        .flat_map(|text| inodes(&text, address.port(), port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let holder = if sockets.is_empty() { None } else { holder(&sockets) };
    holder.is_some_and(|pid| {
        let folder = fs::read_link(format!("/proc/{pid}/cwd"));
        is_kept(pid) || folder.is_ok_and(|folder| owner_of_workspace(&folder).is_some())
    })
}

/// The numbers of the sockets that lead from one port to another.
fn inodes(list: &str, near: u16, far: u16) -> Vec<String> {
    let port = |end: &str| u16::from_str_radix(end.rsplit_once(':')?.1, 16).ok();
    let lines = list.lines().skip(1).filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_it = port(columns.get(NEAR)?)? == near && port(columns.get(FAR)?)? == far;
        is_it.then(|| columns.get(INODE).map(|inode| (*inode).to_owned()))?
    });
    lines.filter(|inode| inode != "0").collect()
}

/// The process that has one of the sockets open. Others that have it as well have got it
/// from one another, and are as much inside as it is.
fn holder(sockets: &[String]) -> Option<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> =
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // Who calls was often started not long ago.
    pids.sort_unstable_by(|one, other| other.cmp(one));
    pids.into_iter().find(|pid| {
        let opened = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd"));
        opened.into_iter().flatten().flatten().any(|entry| {
            let target = fs::read_link(entry.path());
            target.is_ok_and(|target| {
                let target = target.as_os_str().as_bytes();
                sockets.iter().any(|socket| socket.as_bytes() == target)
            })
        })
    })
}

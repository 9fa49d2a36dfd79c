//! Calls that no file and no namespace stands before, refused by a filter (seccomp).
//!
//! Landlock is not asked when a process sets the limits of another of the same user, by which
//! it can be killed, nor when keys are taken from the user's keyring, which is one for the whole
//! machine. Where it is to hold the ports, sockets are refused that are TCP for whoever is at
//! the other end, and that it does not take for TCP. Nothing but these is refused here. The
//! filter is written out, since it holds for the calls of 32-bit programs as well, and the crate
//! that installs it would kill those.

use seccompiler::{apply_filter, sock_filter};

/// How a kind of program calls the kernel for what is refused.
struct Calls {
    /// What the kernel calls this kind of program.
    kind: u32,
    add_key: u32,
    request_key: u32,
    keyctl: u32,
    prlimit: u32,
    socket: u32,
    /// One call for all about sockets, whose arguments lie where no filter looks.
    socketcall: Option<u32>,
}

#[cfg(target_arch = "x86_64")]
const KINDS: &[Calls] = &[
    Calls {
        kind: 0xC000_003E,
        add_key: 248,
        request_key: 249,
        keyctl: 250,
        prlimit: 302,
        socket: 41,
        socketcall: None,
    },
    Calls {
        kind: 0x4000_0003,
        add_key: 286,
        request_key: 287,
        keyctl: 288,
        prlimit: 340,
        socket: 359,
        socketcall: Some(102),
    },
];
#[cfg(target_arch = "aarch64")]
const KINDS: &[Calls] = &[
    Calls {
        kind: 0xC000_00B7,
        add_key: 217,
        request_key: 218,
        keyctl: 219,
        prlimit: 261,
        socket: 198,
        socketcall: None,
    },
    Calls {
        kind: 0x4000_0028,
        add_key: 309,
        request_key: 310,
        keyctl: 311,
        prlimit: 369,
        socket: 281,
        socketcall: Some(102),
    },
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KINDS: &[Calls] = &[];

/// Makes rings, by which sockets are made without a call that a filter sees. It has the same
/// number for all kinds.
const RING: u32 = 425;
/// What asks for a socket among the calls about sockets that are one.
const MAKE_SOCKET: u32 = 1;
/// Kinds of sockets that Landlock does not take for TCP: of Multipath TCP, and of shared memory
/// (SMC), which has a family of its own as well.
const MULTIPATH: u32 = 262;
const SHARED: u32 = 256;
const SHARED_FAMILY: u32 = 43;

/// Set in the numbers of programs of x86_64 with short pointers (x32), which are otherwise
/// those of all others.
const SHORT_POINTERS: u32 = 0x4000_0000;

/// Where the kernel puts what it tells of a call: its number, the kind of program, and the
/// lower halves of what is given along.
const NUMBER: u32 = 0;
const KIND: u32 = 4;
const FIRST: u32 = 16;
const THIRD: u32 = 32;
const THIRD_UPPER_HALF: u32 = 36;

/// Instructions: load, keep these bits, go on if it is equal, answer.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const ANSWER: u16 = 0x06;

const ALLOW: u32 = 0x7FFF_0000;
/// "Operation not permitted".
const REFUSE: u32 = 0x0005_0001;
/// What kernels say that do not have it, so that programs do without: "function not
/// implemented", "protocol not supported", "address family not supported by protocol".
const NO_SUCH_CALL: u32 = 0x0005_0026;
const NO_SUCH_PROTOCOL: u32 = 0x0005_005D;
const NO_SUCH_FAMILY: u32 = 0x0005_0061;
/// For kinds of programs that there are not: nothing is known of their numbers.
const KILL: u32 = 0x8000_0000;

/// Puts it around this thread and all that it starts, for good; says why that cannot be done.
/// Sockets that Landlock is not asked about are refused where it alone holds the network.
pub(super) fn raise(refuses_sockets: bool) -> Result<(), String> {
    if KINDS.is_empty() {
        return Err("nothing is known of this kind of processor".to_owned());
    }
    apply_filter(&program(refuses_sockets)).map_err(|error| error.to_string())
}

/// For each kind of program its own part, behind the question whether it is that.
fn program(refuses_sockets: bool) -> Vec<sock_filter> {
    let mut program = vec![step(LOAD, KIND)];
    for calls in KINDS {
        program.extend(unless(calls.kind, part(calls, refuses_sockets)));
    }
    program.push(step(ANSWER, KILL));
    program
}

/// What is refused of one kind of program.
fn part(calls: &Calls, refuses_sockets: bool) -> Vec<sock_filter> {
    let mut part = vec![step(LOAD, NUMBER), step(AND, !SHORT_POINTERS)];
    for call in [calls.add_key, calls.request_key, calls.keyctl] {
        part.extend(unless(call, vec![step(ANSWER, REFUSE)]));
    }
    part.extend(unless(calls.prlimit, limits()));
    if refuses_sockets {
        part.extend(unless(calls.socket, sockets()));
        part.extend(unless(RING, vec![step(ANSWER, NO_SUCH_CALL)]));
        let at_once = calls.socketcall.map(|call| unless(call, all_about_sockets()));
        part.extend(at_once.unwrap_or_default());
    }
    part.extend(allow());
    part
}

/// What comes of setting limits.
fn limits() -> Vec<sock_filter> {
    // One's own limits have no number in front; whoever names itself is taken for another,
    // since the number of who calls is not known here.
    let own = [vec![step(LOAD, FIRST)], unless(0, allow())];
    // Without a new limit the old one is only read.
    let upper = [vec![step(LOAD, THIRD_UPPER_HALF)], unless(0, allow())].concat();
    let lower = [vec![step(LOAD, THIRD)], unless(0, [upper, refuse()].concat())];
    [own.concat(), lower.concat(), refuse()].concat()
}

/// What comes of making a socket.
fn sockets() -> Vec<sock_filter> {
    let family = unless(SHARED_FAMILY, vec![step(ANSWER, NO_SUCH_FAMILY)]);
    let kind = [MULTIPATH, SHARED].map(|kind| unless(kind, vec![step(ANSWER, NO_SUCH_PROTOCOL)]));
    [vec![step(LOAD, FIRST)], family, vec![step(LOAD, THIRD)], kind.concat(), allow()].concat()
}

/// What comes of the one call for all about sockets: none is made by it, and programs then ask by
/// the other.
fn all_about_sockets() -> Vec<sock_filter> {
    let made = unless(MAKE_SOCKET, vec![step(ANSWER, NO_SUCH_CALL)]);
    [vec![step(LOAD, FIRST)], made, allow()].concat()
}

fn allow() -> Vec<sock_filter> {
    vec![step(ANSWER, ALLOW)]
}

fn refuse() -> Vec<sock_filter> {
    vec![step(ANSWER, REFUSE)]
}

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Leaves these steps out unless what is loaded is that. They end with an answer, so that what
/// follows them may count on what is loaded.
fn unless(k: u32, steps: Vec<sock_filter>) -> Vec<sock_filter> {
    // A part has some thirty steps.
    let length = u8::try_from(steps.len()).unwrap_or(u8::MAX);
    let mut all = vec![sock_filter { code: IF_EQUAL, jt: 0, jf: length, k }];
    all.extend(steps);
    all
}

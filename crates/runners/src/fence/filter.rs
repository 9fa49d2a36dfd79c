//! Calls that no file and no namespace stands before, refused by a filter (seccomp).
//!
//! Landlock is not asked when a process sets the limits of another of the same user, by which
//! it can be killed, nor when keys are taken from the user's keyring, which is one for the whole
//! machine. Nothing but these is refused here. The filter is written out, since it holds for the
//! calls of 32-bit programs as well, and the crate that installs it would kill those.

use seccompiler::{apply_filter, sock_filter};

/// How a kind of program calls the kernel for what is refused.
struct Calls {
    /// What the kernel calls this kind of program.
    kind: u32,
    add_key: u32,
    request_key: u32,
    keyctl: u32,
    prlimit: u32,
}

#[cfg(target_arch = "x86_64")]
const KINDS: &[Calls] = &[
    Calls { kind: 0xC000_003E, add_key: 248, request_key: 249, keyctl: 250, prlimit: 302 },
    Calls { kind: 0x4000_0003, add_key: 286, request_key: 287, keyctl: 288, prlimit: 340 },
];
#[cfg(target_arch = "aarch64")]
const KINDS: &[Calls] = &[
    Calls { kind: 0xC000_00B7, add_key: 217, request_key: 218, keyctl: 219, prlimit: 261 },
    Calls { kind: 0x4000_0028, add_key: 309, request_key: 310, keyctl: 311, prlimit: 369 },
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KINDS: &[Calls] = &[];

/// Set in the numbers of programs of x86_64 with short pointers (x32), which are otherwise
/// those of all others.
const SHORT_POINTERS: u32 = 0x4000_0000;

/// Where the kernel puts what it tells of a call: its number, the kind of program, and the
/// lower halves of what is given along, the first of which is a process, the third a limit.
const NUMBER: u32 = 0;
const KIND: u32 = 4;
const PROCESS: u32 = 16;
const LIMIT: u32 = 32;
const LIMIT_UPPER_HALF: u32 = 36;

/// Instructions: load, keep these bits, go on if it is equal, answer.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const ANSWER: u16 = 0x06;

const ALLOW: u32 = 0x7FFF_0000;
/// "Operation not permitted".
const REFUSE: u32 = 0x0005_0001;
/// For kinds of programs that there are not: nothing is known of their numbers.
const KILL: u32 = 0x8000_0000;

/// Puts it around this thread and all that it starts, for good; says why that cannot be done.
pub(super) fn raise() -> Result<(), String> {
    if KINDS.is_empty() {
        return Err("nothing is known of this kind of processor".to_owned());
    }
    apply_filter(&program()).map_err(|error| error.to_string())
}

/// For each kind of program its own part, behind the question whether it is that.
fn program() -> Vec<sock_filter> {
    let mut program = vec![step(LOAD, KIND)];
    for calls in KINDS {
        let part = part(calls);
        // A part has a dozen steps.
        let length = u8::try_from(part.len()).unwrap_or(u8::MAX);
        program.push(if_equal(calls.kind, 0, length));
        program.extend(part);
    }
    program.push(step(ANSWER, KILL));
    program
}

/// What is refused of one kind of program.
fn part(calls: &Calls) -> [sock_filter; 14] {
    [
        step(LOAD, NUMBER),
        step(AND, !SHORT_POINTERS),
        if_equal(calls.add_key, 10, 0),
        if_equal(calls.request_key, 9, 0),
        if_equal(calls.keyctl, 8, 0),
        if_equal(calls.prlimit, 0, 6),
        // One's own limits have no number in front; whoever names itself is taken for another,
        // since the number of who calls is not known here.
        step(LOAD, PROCESS),
        if_equal(0, 4, 0),
        // Without a new limit the old one is only read.
        step(LOAD, LIMIT),
        if_equal(0, 0, 3),
        step(LOAD, LIMIT_UPPER_HALF),
        if_equal(0, 0, 1),
        step(ANSWER, ALLOW),
        step(ANSWER, REFUSE),
    ]
}

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Leaves out so many steps if what is loaded is that, and so many if it is not.
fn if_equal(k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: IF_EQUAL, jt, jf, k }
}

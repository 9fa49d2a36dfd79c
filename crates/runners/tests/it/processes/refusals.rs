//! What the kernel tells of refusals, from its audit log to the keeper's report.
//!
//! The log belongs to the machine. It is switched on here only where somebody says so, since
//! a kernel that has had it on goes on to prepare for it with each new process until it is
//! started anew, and that cannot be taken back.

use std::fs::File;
use std::os::fd::OwnedFd;

use legation_runners::fence::{Asked, Fence, Held, Kernel};
use rustix::net::netlink::AUDIT;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{recv, send, socket_with};

use super::stage::Stage;

/// Lets the test switch the log on and off again.
const MAY_SWITCH: &str = "LEGATION_TEST_AUDIT";

const GET: u16 = 1000;
const SET: u16 = 1001;
const REQUEST: u16 = 1;
/// Of the values that can be set, the one that is.
const ENABLED: u32 = 1;
/// Bytes of a message about the state of the log.
const BYTES: u32 = 56;

/// The log, switched on; dropped, it is as it was.
struct On {
    socket: OwnedFd,
    before: u32,
}

impl On {
    fn new() -> Result<Self, String> {
        std::env::var_os(MAY_SWITCH).ok_or(format!("{MAY_SWITCH} is not set"))?;
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(AUDIT));
        let socket = socket.map_err(|error| error.to_string())?;
        let before = state(&socket).ok_or("who runs this may not switch audit on")?;
        ask(&socket, SET, 1);
        let on = Self { socket, before };
        match state(&on.socket) {
            Some(1) => Ok(on),
            other => Err(format!("the kernel does not switch audit on: {other:?}")),
        }
    }
}

impl Drop for On {
    fn drop(&mut self) {
        ask(&self.socket, SET, self.before);
    }
}

fn ask(socket: &OwnedFd, what: u16, enabled: u32) {
    let mut message = BYTES.to_ne_bytes().to_vec();
    message.extend([what, REQUEST].map(u16::to_ne_bytes).as_flattened());
    message.extend([0, 0, ENABLED, enabled].map(u32::to_ne_bytes).as_flattened());
    message.resize(BYTES as usize, 0);
    send(socket, &message, SendFlags::empty()).unwrap();
}

/// Whether it is switched on; none for whoever may not ask.
fn state(socket: &OwnedFd) -> Option<u32> {
    ask(socket, GET, 0);
    let mut answer = [0; 256];
    recv(socket, &mut answer, RecvFlags::empty()).unwrap();
    let kind = u16::from_ne_bytes([answer[4], answer[5]]);
    (kind == GET).then(|| u32::from_ne_bytes(*answer[20..].first_chunk().unwrap()))
}

/// Held by whoever depends on how the log is: one test at a time.
fn turn() -> File {
    let turn = File::create(std::env::temp_dir().join("legation-test-audit.lock")).unwrap();
    turn.lock().unwrap();
    turn
}

/// Whether the kernel tells already.
fn is_told() -> bool {
    let mut rules = Kernel::current().rules(Asked::default());
    rules.any(|(rule, held)| rule.name == "refusals" && held == Held::Yes)
}

fn fenced() -> Stage {
    let mut stage = Stage::new();
    let base = std::fs::canonicalize(stage.workspace()).unwrap();
    let hidden = base.with_file_name("a secret");
    std::fs::write(&hidden, "hush\n").unwrap();
    let fence = Fence { hidden: vec![hidden], writable: vec![base], ..Fence::default() };
    stage.fence = Some(Fence { required: true, ..fence });
    stage
}

#[tokio::test]
async fn the_report_names_what_the_fence_refused() {
    let _turn = turn();
    let on = if is_told() { Ok(None) } else { On::new().map(Some) };
    let _on = match on {
        Ok(on) => on,
        Err(why) => {
            eprintln!("SKIPPED: nobody is told of refusals here: {why}");
            return;
        }
    };
    let stage = fenced();
    let script = "cat '../a secret'; cat '../a secret'; touch fine; kill -0 $PPID; echo $PPID";
    let (keeper, ended) = stage.play(script).await;
    let refused = ended.fence.unwrap().refused.expect("the kernel tells");
    let base = std::fs::canonicalize(stage.workspace()).unwrap();
    let outside = base.parent().unwrap().display().to_string();
    let lines = refused.iter().map(|it| format!("{} {}\n", it.what, it.target.as_ref().unwrap()));
    let told = lines.collect::<String>().replace(&outside, "…");
    let signal = format!("scope.signal process {} (keeper)\n", keeper.trim());
    assert_eq!(told, format!("fs.read_file …/a secret\n{signal}"));
}

#[tokio::test]
async fn an_attempt_that_is_refused_nothing_is_told_apart_from_one_of_which_nobody_knows() {
    let _turn = turn();
    let is_told = is_told();
    let (_, ended) = fenced().play("touch fine").await;
    assert_eq!(ended.fence.unwrap().refused.is_some(), is_told);
}

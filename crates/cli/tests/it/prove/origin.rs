//! Where a call comes from, when its process tries to hide that.

use std::fs;
use std::process::{Child, Command};

use super::stage::{Stage, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";
/// Where the kernel is told which number it gave last. Only root may tell it.
const LAST: &str = "/proc/sys/kernel/ns_last_pid";

/// Somebody outside with this number, once it is free; others may take it before.
fn outsider_of(number: u32) -> Child {
    wait_for("somebody outside to get the number", || {
        fs::write(LAST, (number - 1).to_string()).unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        if child.id() == number {
            return Some(child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        None
    })
}

#[test]
fn whoever_has_the_number_of_a_caller_that_ended_lends_it_no_origin() {
    if let Err(problem) = fs::read_to_string(LAST).and_then(|last| fs::write(LAST, last.trim())) {
        eprintln!("SKIPPED: numbers of processes cannot be chosen here: {problem}");
        return;
    }
    let stage = Stage::new(ONCE);
    let script = "python3 - \"$OUT\" <<'PY'\n\
        import os, signal, socket, sys, time\n\
        out = sys.argv[1]\n\
        def talk(): return socket.socket(socket.AF_UNIX)\n\
        late, engine = talk(), os.environ['LEGATION_SOCKET']\n\
        near, far = os.pipe()\n\
        pid = os.fork()\n\
        if pid == 0:\n\
        \x20   late.connect(engine)\n\
        \x20   os.write(far, b'x')\n\
        \x20   signal.pause()\n\
        os.read(near, 1)\n\
        # Who comes later is heard later: the connection has been taken then.\n\
        ping = talk()\n\
        ping.connect(engine)\n\
        ping.sendall(b'{\"v\":1,\"wish\":\"ping\"}\\n')\n\
        assert ping.recv(4096)\n\
        os.kill(pid, signal.SIGKILL)\n\
        os.waitpid(pid, 0)\n\
        open(out + '/new', 'w').write(str(pid))\n\
        os.rename(out + '/new', out + '/number')\n\
        while not os.path.exists(out + '/taken'): time.sleep(0.01)\n\
        late.sendall(b'{\"v\":1,\"wish\":\"who\"}\\n')\n\
        open(out + '/said', 'wb').write(late.recv(4096))\n\
        PY\n\
        legation submit --status completed --summary tried";
    stage.agent("sly", "", script);
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "sly", "Pretend"]);
    let number = wait_for("the caller to end", || fs::read_to_string(stage.out("number")).ok());
    let mut outsider = outsider_of(number.parse().unwrap());
    fs::write(stage.out("taken"), "").unwrap();
    let id = begun["delegationId"].as_str().unwrap();
    let (code, view) = stage.json(&["resume", id, "--wait"]);
    outsider.kill().unwrap();
    outsider.wait().unwrap();
    assert_eq!(code, 0, "{view}");
    assert!(stage.told("said").contains("PERMISSION_DENIED"), "{}", stage.told("said"));
}

#[test]
fn an_attempt_has_no_more_conversations_than_it_may_and_its_user_gets_in() {
    let stage = Stage::new(ONCE);
    let script = "python3 - \"$OUT\" <<'PY'\n\
        import json, os, socket, sys, time\n\
        out = sys.argv[1]\n\
        def talk():\n\
        \x20   new = socket.socket(socket.AF_UNIX)\n\
        \x20   new.settimeout(5)\n\
        \x20   new.connect(os.environ['LEGATION_SOCKET'])\n\
        \x20   return new\n\
        def heard(talk):\n\
        \x20   try: return talk.recv(4096).decode()\n\
        \x20   except TimeoutError: return 'nothing'\n\
        stays = talk()\n\
        asked = dict(v=1, token=os.environ['LEGATION_TOKEN'], wish='attend')\n\
        stays.sendall(json.dumps(asked).encode() + b'\\n')\n\
        said = [heard(stays)]\n\
        stays.close()\n\
        silent = [talk() for _ in range(80)]\n\
        said.append(heard(silent[79]))\n\
        open(out + '/new', 'w').write('\\n'.join(said))\n\
        os.rename(out + '/new', out + '/said')\n\
        while not os.path.exists(out + '/go'): time.sleep(0.01)\n\
        PY\n\
        legation submit --status completed --summary tried";
    stage.agent("greedy", "", script);
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "greedy", "Talk"]);
    let id = begun["delegationId"].as_str().unwrap();
    let said = wait_for("it to be told", || fs::read_to_string(stage.out("said")).ok());
    let (attended, silent) = said.split_once('\n').unwrap();
    assert!(attended.contains("PERMISSION_DENIED"), "{said}");
    assert!(silent.contains("64 conversations"), "{said}");
    assert_eq!(stage.json(&["pause", id]).0, 0);
    assert_eq!(stage.json(&["resume", id]).0, 0);
    fs::write(stage.out("go"), "").unwrap();
    let (code, view) = stage.json(&["resume", id, "--wait"]);
    assert_eq!(code, 0, "{view}");
}

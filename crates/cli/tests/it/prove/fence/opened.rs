//! What programs find open when they begin, and whose terminals they see.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::super::stage::{Stage, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";

/// Says what is open beside input and output, and what can be done by way of it and with a
/// terminal of the user's: nothing, if all is well.
const LOOK: &str = r#"
import os, pty, subprocess, sys, termios
def tries(what, deed):
    try:
        deed()
        print(what)
    except Exception:
        pass
def silent():
    terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
    about = termios.tcgetattr(terminal)
    about[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, about)
for at in sorted(os.listdir("/proc/self/fd"), key=int):
    way = "/proc/self/fd/" + at
    if os.path.lexists(way) and int(at) > 2:
        print("mark" if at == "64" else at + " " + os.readlink(way))
    for up in range(12):
        tries("a mode is changed by way of " + at, lambda: os.chmod(way + "/.." * up + PROJECT + "/README.md", 0o777))
tries("the user's terminal is set", silent)
if subprocess.run(["script", "-qec", "test -t 0", "/dev/null"], stdout=subprocess.DEVNULL).returncode:
    print("no terminals of its own")
"#;

/// A terminal outside that everybody may open.
struct Terminal(Child, String);

impl Terminal {
    fn new() -> Self {
        let held = "import os, sys; m, s = os.openpty(); os.fchmod(s, 0o666); \
                    print(os.ttyname(s), flush=True); sys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", held]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.spawn().unwrap();
        let mut path = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut path).unwrap();
        Self(holder, path.trim().to_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// What an agent, a command that verifies and a shell found, and the gaps of the receipt.
fn found(stage: &Stage) -> ([String; 3], String) {
    let terminal = Terminal::new();
    let names = format!("PROJECT, TERMINAL = '{}', '{}'", stage.project().display(), terminal.1);
    std::fs::write(stage.out("look.py"), names + LOOK).unwrap();
    let out = stage.out("").display().to_string();
    let line = |who: &str| format!("python3 {out}look.py > {out}{who} 2>&1");
    let script = format!(
        "{}; touch $OUT/began; until [ -e $OUT/go ]; do sleep 0.05; done\n\
         legation submit --status completed --summary looked",
        line("agent")
    );
    stage.agent("looker", "", &script);
    let file = ".legation/agents/looker.md";
    let text = std::fs::read_to_string(stage.project().join(file)).unwrap();
    let verify = format!("  verify: [\"{}\"]\n---\nDo", line("verify"));
    stage.write(file, &text.replace("---\nDo", &verify));
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "looker", "Look"]);
    wait_for("the agent", || stage.out("began").exists().then_some(()));
    let id = begun["delegationId"].as_str().unwrap();
    let ran = stage.legation(&["workspaces", "shell", id, "-c", &line("shell")]).output().unwrap();
    std::fs::write(stage.out("go"), "").unwrap();
    let (_, view) = stage.json(&["resume", id, "--wait"]);
    let receipt = &view["subtasks"][0]["receipt"];
    assert_eq!(receipt["verify"][0]["exitCode"], 0, "{view}");
    let told = ["agent", "verify", "shell"].map(|who| stage.told(who));
    (told, format!("{}{}", receipt["fenceGaps"], String::from_utf8_lossy(&ran.stderr)))
}

#[test]
fn nothing_outside_is_open_to_a_program_and_no_terminal_is_seen() {
    for stage in [Stage::new(ONCE), Stage::of_nobody(ONCE, "fence = \"require\"")] {
        let (_, doctor) = stage.json(&["doctor"]);
        let rules = doctor["fence"]["rules"].as_array().unwrap();
        let terminals = rules.iter().find(|rule| rule["name"] == "terminals").unwrap();
        if terminals["held"] != true {
            eprintln!("SKIPPED: this cannot be had here: {terminals}");
            continue;
        }
        let (told, gaps) = found(&stage);
        assert_eq!(told, ["mark\n", "mark\n", ""], "{gaps}");
    }
}

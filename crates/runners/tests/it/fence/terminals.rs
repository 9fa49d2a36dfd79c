//! Terminals: those outside are not there, and programs make their own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use expect_test::expect;

use super::stage::Stage;

/// A terminal outside, as a user has it.
struct Terminal {
    holder: Child,
    path: String,
}

impl Terminal {
    fn new() -> Self {
        let mut command = Command::new("python3");
        let held = "import os, sys; m, s = os.openpty(); print(os.ttyname(s), flush=True); \
                    sys.stdin.read()";
        command.args(["-c", held]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.spawn().unwrap();
        let mut path = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut path).unwrap();
        Self { holder, path: path.trim().to_owned() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        self.holder.wait().unwrap();
    }
}

#[test]
fn terminals_outside_are_neither_read_nor_written_nor_set() {
    let stage = Stage::new();
    let terminal = Terminal::new();
    let lines = [": < TTY", "echo x > TTY", "stty -F TTY -echo", "chmod 600 TTY"];
    let lines = lines.map(|line| line.replace("TTY", &terminal.path));
    let others = [": < /dev/tty1", ": < /dev/console", "echo x > /dev/console", ": < /dev/vcs"];
    let lines: Vec<&str> = lines.iter().map(String::as_str).chain(others).collect();
    expect![[r#"
        no : < TTY
        no echo x > TTY
        no stty -F TTY -echo
        no chmod 600 TTY
        no : < /dev/tty1
        no : < /dev/console
        no echo x > /dev/console
        no : < /dev/vcs
    "#]]
    .assert_eq(&stage.tries(&lines).replace(&terminal.path, "TTY"));
    assert_eq!(stage.run("ls /dev/pts"), "ptmx");
}

#[test]
fn programs_make_terminals_of_their_own_inside() {
    let stage = Stage::new();
    let tried = stage.tries(&[
        "test $(script -qec 'stty -echo; tty' /dev/null | tr -d '\\r') = /dev/pts/0",
        "python3 -c 'import pty; exit(pty.spawn([\"sh\", \"-c\", \"test -t 0 && : < /dev/tty\"]))'",
        "python3 -c 'import os; m, s = os.openpty(); os.fchmod(s, 0o622); open(os.ttyname(s))'",
        "python3 -c 'import os; os.open(\"/dev/pts/ptmx\", os.O_RDWR)'",
    ]);
    expect![[r#"
        yes test $(script -qec 'stty -echo; tty' /dev/null | tr -d '\r') = /dev/pts/0
        yes python3 -c 'import pty; exit(pty.spawn(["sh", "-c", "test -t 0 && : < /dev/tty"]))'
        yes python3 -c 'import os; m, s = os.openpty(); os.fchmod(s, 0o622); open(os.ttyname(s))'
        yes python3 -c 'import os; os.open("/dev/pts/ptmx", os.O_RDWR)'
    "#]]
    .assert_eq(&tried);
}

//! Processes and the network: what is out of reach, and what is not.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use expect_test::expect;
use legation_core::config::Network;

use super::stage::Stage;

/// A process outside the fence that ends with the test.
pub(super) struct Neighbour(pub(super) std::process::Child);

impl Neighbour {
    pub(super) fn new() -> Self {
        let mut command = Command::new("sleep");
        command.arg("600").env("NEIGHBOURS_TOKEN", "s3cret").stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn other_processes_are_neither_signalled_nor_looked_into() {
    let stage = Stage::new();
    let mut neighbour = Neighbour::new();
    let (pid, own) = (neighbour.0.id(), std::process::id());
    let script =
        |line: &str| line.replace("PID", &pid.to_string()).replace("OWN", &own.to_string());
    let tries = [
        "kill -9 PID",
        "kill -9 OWN",
        "kill -9 $PPID",
        "kill -9 -- -OWN",
        "cat /proc/PID/environ",
        "cat /proc/PID/mem",
        "ls /proc/PID/root/",
        "ls /proc/OWN/root/",
        "ls /proc/OWN/cwd/",
        "readlink /proc/OWN/fd/1",
        "cat /proc/PID/cmdline",
        "sleep 600 & kill $!",
    ];
    let lines: Vec<String> = tries.iter().map(|line| script(line)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let tried =
        stage.tries(&lines).replace(&pid.to_string(), "PID").replace(&own.to_string(), "OWN");
    expect![[r#"
        no kill -9 PID
        no kill -9 OWN
        no kill -9 $PPID
        no kill -9 -- -OWN
        no cat /proc/PID/environ
        no cat /proc/PID/mem
        no ls /proc/PID/root/
        no ls /proc/OWN/root/
        no ls /proc/OWN/cwd/
        no readlink /proc/OWN/fd/1
        yes cat /proc/PID/cmdline
        yes sleep 600 & kill $!
    "#]]
    .assert_eq(&tried);
    assert_eq!(neighbour.0.try_wait().unwrap(), None);
}

#[test]
fn no_power_is_gained_inside() {
    let stage = Stage::new();
    let said =
        stage.run("grep -E 'NoNewPrivs|CapEff|CapPrm' /proc/self/status | tr -s '\\t\\n' ' '");
    let words: Vec<&str> = said.split_whitespace().collect();
    let power = |name: &str| {
        let at = words.iter().position(|word| *word == name).unwrap();
        u64::from_str_radix(words[at + 1], 16).unwrap()
    };
    // Of root's powers none beyond those over files and over its own processes.
    let kept = 0b0100_0000_0100_1111_1011;
    assert_eq!((power("CapPrm:") & !kept, power("CapEff:") & !kept), (0, 0), "{said}");
    assert!(said.contains("NoNewPrivs: 1"), "{said}");
}

#[test]
fn the_network_is_closed_where_it_is_denied() {
    let mut stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c ': < /dev/tcp/127.0.0.1/{port}'");
    let bind = "python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", 0))'";
    let told =
        |stage: &Stage| stage.tries(&[connect.as_str(), bind]).replace(&port.to_string(), "PORT");
    expect![[r#"
        yes bash -c ': < /dev/tcp/127.0.0.1/PORT'
        yes python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 0))'
    "#]]
    .assert_eq(&told(&stage));
    stage.fence.network = Network::Deny;
    expect![[r#"
        no bash -c ': < /dev/tcp/127.0.0.1/PORT'
        no python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 0))'
    "#]]
    .assert_eq(&told(&stage));
}

#[test]
fn without_the_network_nothing_is_sent_or_heard_by_udp() {
    let mut stage = Stage::new();
    let neighbour = UdpSocket::bind("127.0.0.1:0").unwrap();
    neighbour.set_nonblocking(true).unwrap();
    let port = neighbour.local_addr().unwrap().port();
    let send = format!(
        "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
         s.sendto(b\"x\", (\"127.0.0.1\", {port}))'"
    );
    let told = |stage: &Stage| stage.tries(&[&send]).split_once(' ').unwrap().0.to_owned();
    assert_eq!((told(&stage).as_str(), neighbour.recv(&mut [0]).unwrap()), ("yes", 1));
    stage.fence.network = Network::Deny;
    assert_eq!(told(&stage), "no");
    assert!(neighbour.recv(&mut [0]).is_err());
    let (_, standing) = stage.try_run("true").unwrap();
    assert_eq!(standing.gaps, Vec::<String>::new());
    // All that is there is the way to itself, and that is down.
    assert_eq!(stage.run("grep : /proc/net/dev | cut -d: -f1 | tr -d ' '"), "lo");
}

#[test]
fn with_its_own_ports_it_listens_on_those_and_on_what_the_system_chooses() {
    let mut stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    let free: Vec<u16> = [(); 2]
        .map(|()| TcpListener::bind("127.0.0.1:0").unwrap())
        .iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect();
    stage.fence.network = Network::OwnPorts;
    stage.fence.ports = vec![free[0]];
    let bind = |port: u16| {
        format!("python3 -c 'import socket; socket.socket().bind((\"127.0.0.1\", {port}))'")
    };
    let connect = format!("bash -c ': < /dev/tcp/127.0.0.1/{taken}'");
    let lines = [bind(free[0]), bind(free[1]), bind(0), connect];
    let tried = stage.tries(&lines.each_ref().map(String::as_str));
    let tried: Vec<&str> = tried.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(tried, ["yes", "no", "yes", "yes"]);
    stage.fence.network = Network::Allow;
    assert!(stage.tries(&[&bind(free[1])]).starts_with("yes"));
}

#[test]
fn a_socket_file_is_reached_even_where_it_is_hidden() {
    let mut stage = Stage::new();
    stage.fence.network = Network::Deny;
    let _listener = UnixListener::bind(stage.path("house/socket")).unwrap();
    let said = stage.run(
        "python3 -c 'import socket, os; s = socket.socket(socket.AF_UNIX); \
         s.connect(os.environ[\"R\"] + \"/house/socket\"); print(\"reached\")'",
    );
    assert_eq!(said, "reached");
}

#[test]
fn the_keeper_itself_stays_outside() {
    let stage = Stage::new();
    assert_eq!(stage.run("true"), "");
    std::fs::write(stage.path("shelf/new"), "x").unwrap();
    assert_eq!(stage.read("house/secret"), "house/secret\n");
}

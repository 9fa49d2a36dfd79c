//! Sockets of kinds that Landlock is not asked about, where it is to hold the network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use expect_test::expect;
use legation_core::config::Network;

use super::calls::{call, small_program};
use super::stage::Stage;

/// The numbers of kinds of sockets that are TCP for whoever is at the other end.
const MULTIPATH: u32 = 262;
const SHARED: u32 = 256;
const SHARED_FAMILY: u32 = 43;

/// The number of the call, and of that by which sockets are made behind the back of a filter.
#[cfg(target_arch = "x86_64")]
const SOCKET: u32 = 41;
#[cfg(not(target_arch = "x86_64"))]
const SOCKET: u32 = 198;
const RING: u32 = 425;

fn stage(network: Network) -> Stage {
    let mut stage = Stage::new();
    stage.fence.network = network;
    stage
}

/// What came of each: nothing, or the number of the error.
fn told(stage: &Stage) -> String {
    let sockets =
        [(2, 0), (2, 6), (10, MULTIPATH), (2, MULTIPATH), (2, SHARED), (SHARED_FAMILY, 0)];
    let sockets = sockets.map(|(family, kind)| {
        let numbers = [SOCKET, SOCKET | 0x4000_0000];
        let lines = numbers.map(|number| call(number, &format!("{family}, 1, {kind}"), ""));
        let [long, short] = lines.map(|line| stage.run(&line));
        format!("{family} {kind}: {long} {short}\n")
    });
    let ring = stage.run(&call(RING, "1, 0", ""));
    sockets.concat() + &format!("ring: {ring}\n")
}

#[test]
fn where_only_own_ports_are_listened_on_no_socket_goes_around_it() {
    let stage = stage(Network::OwnPorts);
    expect![[r#"
        2 0:  38
        2 6:  38
        10 262: 93 93
        2 262: 93 93
        2 256: 93 93
        43 0: 97 97
        ring: 38
    "#]]
    .assert_eq(&told(&stage));
    let listens =
        "python3 -c 'import socket; s = socket.socket(2, 1, 262); s.bind((\"127.0.0.1\", 0))'";
    let said = stage.run(listens);
    assert!(said.contains("Protocol not supported"), "{said}");
}

#[test]
fn where_the_network_is_open_they_are_as_they_were() {
    let outside = |line: &str| {
        let ran = Command::new("sh").args(["-c", line]).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    let stage = stage(Network::Allow);
    for kind in [(2, MULTIPATH), (2, SHARED), (SHARED_FAMILY, 0)] {
        let line = call(SOCKET, &format!("{}, 1, {}", kind.0, kind.1), "");
        assert_eq!(stage.run(&line), outside(&line), "{kind:?}");
    }
    let ring = call(RING, "1, 0", "");
    assert_eq!(stage.run(&ring), outside(&ring));
}

#[test]
fn nor_does_a_socket_of_a_program_of_32_bits() {
    let stage = stage(Network::OwnPorts);
    let programs = [
        ("plain", small_program(359, [Some(2), Some(1), Some(0), Some(0)])),
        ("multipath", small_program(359, [Some(2), Some(1), Some(MULTIPATH), Some(0)])),
        ("shared", small_program(359, [Some(2), Some(1), Some(SHARED), Some(0)])),
        ("family", small_program(359, [Some(SHARED_FAMILY), Some(1), Some(0), Some(0)])),
        ("by-call", small_program(102, [Some(1), None, Some(0), Some(0)])),
        ("ring", small_program(425, [Some(1), Some(0), Some(0), Some(0)])),
    ];
    for (name, program) in &programs {
        let path = stage.path("work").join(name);
        fs::write(&path, program).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    if Command::new(stage.path("work/plain")).status().is_err() {
        eprintln!("SKIPPED: no programs of 32 bits run here");
        return;
    }
    let told = programs
        .each_ref()
        .map(|(name, _)| format!("{name} {}\n", stage.run(&format!("./{name}; echo $?"))));
    expect![[r#"
        plain 253
        multipath 93
        shared 93
        family 97
        by-call 38
        ring 38
    "#]]
    .assert_eq(&told.concat());
}

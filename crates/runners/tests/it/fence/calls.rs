//! What the filter of calls refuses and what a namespace parts: limits of others, keys, shared
//! memory. And that nothing else is refused, not even to programs of another kind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use expect_test::expect;

use super::outside::Neighbour;
use super::stage::Stage;

/// Numbers of calls: setting limits, adding a key, all else with keys.
#[cfg(target_arch = "x86_64")]
const CALLS: [u32; 3] = [302, 248, 250];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: [u32; 3] = [261, 217, 219];

/// A line of shell, run outside: what it says, if it succeeds.
fn outside(line: &str) -> Option<String> {
    let ran = Command::new("sh").args(["-c", line]).stderr(Stdio::null()).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    ran.status.success().then(|| said.trim().to_owned())
}

/// A line of shell that makes one call, and ends well if the kernel does what it is asked;
/// otherwise it says the number of the error. `$user`, `$name` and `$limit` can be given along.
pub(super) fn call(number: u32, arguments: &str, name: &str) -> String {
    format!(
        "perl -e '($user, $name, $limit) = (\"user\", \"{name}\", pack(\"QQ\", 7, 7)); \
         exit 0 if syscall({number}, {arguments}) >= 0; print $!+0; exit 1'"
    )
}

#[test]
fn limits_are_set_for_oneself_and_for_nobody_outside() {
    let stage = Stage::new();
    let mut neighbour = Neighbour::new();
    let (pid, own) = (neighbour.0.id().to_string(), std::process::id().to_string());
    let limits = || {
        [&pid, &own].map(|process| fs::read_to_string(format!("/proc/{process}/limits")).unwrap())
    };
    let before = limits();
    let tries = [
        "prlimit --pid OTHER --cpu=0:0",
        "prlimit --pid OTHER --nofile=7:7",
        "prlimit --pid OWN --fsize=0:0",
        "prlimit --pid $PPID --core=0:0",
        "sleep 600 & prlimit --pid $! --nofile=7:7",
        "prlimit --pid $$ --nofile=7:7",
        "prlimit --pid OTHER --nofile",
        "prlimit --nofile=64:64 true",
        "ulimit -n 64 && test $(ulimit -n) = 64",
    ];
    let lines = tries.map(|line| line.replace("OTHER", &pid).replace("OWN", &own));
    let tried = stage.tries(&lines.each_ref().map(String::as_str));
    let tried = tried.replace(&pid, "OTHER").replace(&own, "OWN");
    expect![[r#"
        no prlimit --pid OTHER --cpu=0:0
        no prlimit --pid OTHER --nofile=7:7
        no prlimit --pid OWN --fsize=0:0
        no prlimit --pid $PPID --core=0:0
        no sleep 600 & prlimit --pid $! --nofile=7:7
        no prlimit --pid $$ --nofile=7:7
        yes prlimit --pid OTHER --nofile
        yes prlimit --nofile=64:64 true
        yes ulimit -n 64 && test $(ulimit -n) = 64
    "#]]
    .assert_eq(&tried);
    let told = stage.run(&format!("LC_ALL=C prlimit --pid {pid} --cpu=0:0"));
    assert!(told.contains("Operation not permitted"), "{told}");
    assert_eq!(limits(), before);
    assert_eq!(neighbour.0.try_wait().unwrap(), None);
}

#[test]
fn programs_with_short_pointers_are_refused_the_same() {
    let stage = Stage::new();
    let neighbour = Neighbour::new();
    // Few kernels know calls of that kind, and those that do not are not asked either.
    let [limit, add, keyctl] = CALLS.map(|number| number | 0x4000_0000);
    let limit = call(limit, &format!("{}, 7, $limit, 0", neighbour.0.id()), "");
    let lines = [limit, call(add, "0, 0, 0, 0, 0", ""), call(keyctl, "0, 0, 0, 0, 0", "")];
    assert_eq!(lines.map(|line| stage.run(&line)), ["1", "1", "1"]);
}

/// A whole program for the 32 bits of x86 that makes one call and ends with its error, 0 if
/// there was none. Where an argument is `None` it is a pointer to a limit of seven.
pub(super) fn small_program(call: u32, arguments: [Option<u32>; 4]) -> Vec<u8> {
    const AT: u32 = 0x0804_8000;
    const HEADERS: u32 = 84;
    const CODE: u32 = 38;
    let mut code = vec![0xB8];
    code.extend(call.to_le_bytes());
    for (register, argument) in [0xBB, 0xB9, 0xBA, 0xBE].into_iter().zip(arguments) {
        code.push(register);
        code.extend(argument.unwrap_or(AT + HEADERS + CODE).to_le_bytes());
    }
    // Asks the kernel; ends with what came of it, the other way round.
    code.extend([0xCD, 0x80, 0xF7, 0xD8, 0x89, 0xC3, 0xB8, 1, 0, 0, 0, 0xCD, 0x80]);
    assert_eq!(code.len(), CODE as usize);
    let length = HEADERS + CODE + 16;
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // A program (2) for that processor (3), and where it begins; then its only part, which
    // can be read and executed (5).
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    file.extend(words(&[2 | 3 << 16, 1, AT + HEADERS, 52, 0, 0, 52 | 32 << 16, 1, 0]));
    file.extend(words(&[1, 0, AT, AT, length, length, 5, 0x1000]));
    assert_eq!(file.len(), HEADERS as usize);
    file.extend(code);
    file.extend(words(&[7, 0, 7, 0]));
    file
}

#[test]
fn programs_of_32_bits_run_and_are_refused_the_same() {
    let stage = Stage::new();
    let neighbour = Neighbour::new();
    let pid = neighbour.0.id();
    let (limit, add, request, keyctl) = (340, 286, 287, 288);
    let programs = [
        ("limit", small_program(limit, [Some(pid), Some(7), None, Some(0)])),
        ("read", small_program(limit, [Some(pid), Some(7), Some(0), Some(0)])),
        ("own", small_program(limit, [Some(0), Some(7), None, Some(0)])),
        ("add", small_program(add, [Some(0); 4])),
        ("request", small_program(request, [Some(0); 4])),
        ("keyctl", small_program(keyctl, [Some(0); 4])),
    ];
    for (name, program) in &programs {
        let path = stage.path("work").join(name);
        fs::write(&path, program).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    if outside(&stage.path("work/own").display().to_string()).is_none() {
        eprintln!("SKIPPED: no programs of 32 bits run here");
        return;
    }
    let told: Vec<String> = programs
        .iter()
        .map(|(name, _)| format!("{name} {}\n", stage.run(&format!("./{name}; echo $?"))))
        .collect();
    expect![[r#"
        limit 1
        read 0
        own 0
        add 1
        request 1
        keyctl 1
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn no_key_is_left_in_the_keyring_of_the_user_or_taken_from_it() {
    let stage = Stage::new();
    let [_, add, keyctl] = CALLS;
    let name = |which: &str| format!("legation-{which}-{}", std::process::id());
    // The keyring of the user is called -4.
    let add = |which: &str| call(add, "$user, $name, $name, 1, -4", &name(which));
    let find = |which: &str| call(keyctl, "10, -4, $user, $name, 0", &name(which));
    if outside(&add("outer")).is_none() {
        eprintln!("SKIPPED: no keys can be kept here");
        return;
    }
    let ask = call(keyctl, "0, -4, 1", "");
    let tried = [add("inner"), find("outer"), ask].map(|line| stage.run(&line));
    let (outer, inner) = (outside(&find("outer")), outside(&find("inner")));
    // Both go by themselves after a second.
    let found = format!("15, syscall({keyctl}, 10, -4, $user, $name, 0), 1");
    for which in ["outer", "inner"] {
        outside(&call(keyctl, &found, &name(which)));
    }
    assert_eq!((outer.is_some(), inner), (true, None));
    assert_eq!(tried, ["1", "1", "1"]);
}

#[test]
fn shared_memory_outside_stays_and_what_is_made_inside_goes() {
    let stage = Stage::new();
    let made = |what: &str| {
        let said = outside(&format!("ipcmk {what}")).unwrap();
        said.rsplit_once(' ').unwrap().1.to_owned()
    };
    let (memory, queue, flags) = (made("-M 4096"), made("-Q"), made("-S 1"));
    let shown = || fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let is_there = || shown().lines().any(|line| line.split_whitespace().nth(1) == Some(&memory));
    assert!(is_there());
    // A size that nobody else asks for.
    let size = (1 << 22) + std::process::id();
    let lines = [
        format!("ipcrm -m {memory}"),
        format!("ipcrm -q {queue}"),
        format!("ipcrm -s {flags}"),
        "test $(wc -l < /proc/sysvipc/shm) = 1".to_owned(),
        format!("ipcmk -M {size} && grep -q {size} /proc/sysvipc/shm"),
    ];
    let tried = stage.tries(&lines.each_ref().map(String::as_str));
    let tried: Vec<&str> = tried.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    let survived = is_there();
    let taken_back = outside(&format!("ipcrm -m {memory} -q {queue} -s {flags}"));
    assert_eq!(tried, ["no", "no", "no", "yes", "yes"]);
    assert!(survived);
    assert!(taken_back.is_some(), "all of them were there still");
    assert!(!shown().contains(&size.to_string()));
}

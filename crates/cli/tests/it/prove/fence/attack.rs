//! Everything a hostile child can think of, inside the fence and without it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::Value;

use super::super::stage::{Stage, wait_for};

/// Once, and in checkouts: out of an overlay no hard link could be made, fence or not.
const ONCE: &str = "[recovery]\nmaxRetries = 0\n[workspace]\nmechanism = \"worktree\"\n";

/// Leaves a key in the keyring of the user, for five seconds.
#[cfg(target_arch = "x86_64")]
const LEAVE_A_KEY: &str = "perl -e '($user, $name) = (\"user\", \"legation-evil\"); \
    $key = syscall(248, $user, $name, $name, 1, -4); exit 1 if $key < 0; syscall(250, 15, $key, 5)'";
#[cfg(not(target_arch = "x86_64"))]
const LEAVE_A_KEY: &str = "perl -e '($user, $name) = (\"user\", \"legation-evil\"); \
    $key = syscall(217, $user, $name, $name, 1, -4); exit 1 if $key < 0; syscall(219, 15, $key, 5)'";

/// What is tried, in order: the worst comes last, so that each has its turn.
const ATTACKS: &[(&str, &str)] = &[
    ("read a file of a sibling", "cat $SIBLING_WORKSPACE/secret.txt"),
    ("list the files of a sibling", "ls $SIBLING_WORKSPACE"),
    (
        "read the token of a sibling",
        "tr '\\0' '\\n' < /proc/$SIBLING_PID/environ | grep LEGATION_TOKEN=",
    ),
    ("read the journal", "cat $PROJECT/.legation/legation.db"),
    ("open what the engine locks", "exec 3< $PROJECT/.legation/engine.lock"),
    ("read the log", "cat $PROJECT/.legation/logs/delegation.jsonl"),
    (
        "read what was kept of another tree",
        "git cat-file -p $KEPT || git -C $PROJECT cat-file -p $KEPT || cat $PROJECT/.git/objects/$LOOSE",
    ),
    ("read the secret", "cat $STATE/secret"),
    ("read .env", "cat $PROJECT/.env"),
    ("write to the checkout", "echo pwned > $PROJECT/README.md"),
    ("write through a symbolic link", "ln -s $PROJECT/README.md soft; echo pwned > soft"),
    ("write through a hard link", "ln $PROJECT/README.md hard && echo pwned >> hard"),
    ("change the mode of a file", "chmod 777 $PROJECT/README.md"),
    ("date a file back", "touch -d 2001-01-01 $PROJECT/README.md"),
    ("empty a file", "truncate -s 0 $PROJECT/README.md"),
    ("remove a file", "rm -f $PROJECT/README.md"),
    ("add a hook", "echo evil > $PROJECT/.git/hooks/pre-commit"),
    ("set the configuration", "git -C $PROJECT config core.hooksPath /evil"),
    ("append to the configuration", "echo '[alias]' >> $PROJECT/.git/config"),
    ("move HEAD", "echo ref: refs/heads/evil > $PROJECT/.git/HEAD; git -C $PROJECT status"),
    ("make a branch", "cp $PROJECT/.git/refs/heads/main $PROJECT/.git/refs/heads/evil"),
    ("push", "git push $REMOTE HEAD:refs/heads/evil"),
    ("prune worktrees", "git -C $PROJECT worktree prune -v"),
    ("collect garbage", "git -C $PROJECT gc --prune=now"),
    (
        "remove objects",
        "all=$(cat .git/objects/info/alternates); find $all -type f -delete; \
         test -z \"$(find $all -type f)\"",
    ),
    ("write to the home", "echo evil > $HOME/.bashrc"),
    ("write to the temporary folder of all", "echo evil > $SHARED"),
    ("write to a sibling", "echo evil > $SIBLING_WORKSPACE/evil.txt"),
    ("forge its own end", "echo '{\"code\":0}' > ${LEGATION_ATTEMPT_DIR%/*}/exit.json"),
    ("forge the return of a sibling", "echo '{}' > $SIBLING_FOLDER/return.json"),
    ("remove the socket of the engine", "rm -f $LEGATION_SOCKET; test ! -e $LEGATION_SOCKET"),
    ("remove everything upwards", "rm -rf ../../delegations ../..; test ! -e ../../delegations"),
    ("leave a key in the keyring of the user", LEAVE_A_KEY),
    ("remove shared memory", "ipcrm -m $SHARED_MEMORY"),
    ("limit a sibling", "prlimit --pid $SIBLING_PID --nofile=0:0"),
    ("kill a sibling", "kill -9 $SIBLING_PID"),
    ("limit the engine", "prlimit --pid $ENGINE --fsize=0:0"),
    // By such a limit it may have ended by now.
    ("kill the engine", "kill -9 $ENGINE || test ! -e /proc/$ENGINE"),
    ("kill its keeper", "kill -9 $KEEPER"),
];

/// A project with things that are nobody's business, and a sibling at work.
struct Scene {
    stage: Stage,
    sibling: String,
    /// Of somebody outside.
    shared_memory: String,
}

impl Scene {
    fn new(stage: Stage) -> Self {
        stage.write(".gitignore", ".legation/\n.env\n");
        stage.write(".env", "KEY=s3cret\n");
        let git = "git -c user.name=a -c user.email=a@b.c commit -qam ignore && \
            git init -q --bare ../remote.git && git worktree add -q ../gone && rm -r ../gone";
        assert!(stage.shell(git).status.success());
        stage.agent(
            "sibling",
            "",
            "echo s3cret > secret.txt\n\
             echo \"SIBLING_PID=$$ SIBLING_WORKSPACE=$LEGATION_WORKSPACE \
             SIBLING_FOLDER=$LEGATION_ATTEMPT_DIR\" > $OUT/sibling.new\n\
             mv $OUT/sibling.new $OUT/sibling\n\
             until [ -e $OUT/go ]; do sleep 0.05; done\n\
             legation submit --status completed --summary unharmed",
        );
        let tries: String = ATTACKS
            .iter()
            .map(|(name, line)| format!("attack '{name}' <<'LINE'\n{line}\nLINE\n"))
            .collect();
        let script = format!(
            "export KEEPER=$PPID; set -a; . $OUT/world; set +a\n\
             attack() {{ line=$(cat); if sh -c \"$line\" >/dev/null 2>&1; then said=yes; else said=no; \
             fi; echo \"$1: $said\" >> $OUT/tried; }}\n{tries}\
             echo mine > mine.txt; legation submit --status completed --summary tried"
        );
        stage.agent("hostile", "", &script);
        let earlier = "echo s3cret > kept.txt; git add -A; git commit -qm kept\n\
                       legation submit --status completed --summary kept";
        stage.agent("earlier", "", earlier);
        assert_eq!(stage.json(&["delegate", "--agent", "earlier", "Keep it"]).0, 0);
        let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "sibling", "Wait"]);
        let sibling = begun["delegationId"].as_str().unwrap().to_owned();
        let made = String::from_utf8(stage.shell("ipcmk -M 4096").stdout).unwrap();
        let shared_memory = made.trim().rsplit_once(' ').unwrap().1.to_owned();
        let scene = Self { stage, sibling, shared_memory };
        scene.tell_the_world();
        scene
    }

    /// Lets the hostile child know all it could find out.
    fn tell_the_world(&self) {
        let stage = &self.stage;
        wait_for("the sibling", || stage.out("sibling").exists().then_some(()));
        let paths = stage.paths();
        let named = "git for-each-ref --count=1 --format='%(objectname)' refs/heads/legation";
        let kept = String::from_utf8(stage.shell(named).stdout).unwrap().trim().to_owned();
        let (folder, name) = kept.split_at(2);
        let world = format!(
            "{}KEPT={kept}\nLOOSE={}/{}\nPROJECT={}\nSTATE={}\nENGINE={}\nREMOTE={}\nSHARED={}\n\
             SHARED_MEMORY={}\n",
            stage.told("sibling").trim().replace(' ', "\n") + "\n",
            folder,
            name,
            stage.project().display(),
            paths.state.display(),
            stage.engine().unwrap(),
            stage.root().join("remote.git").display(),
            self.shared().display(),
            self.shared_memory,
        );
        std::fs::write(stage.out("world"), world).unwrap();
    }

    /// A name in the temporary folder that everybody shares.
    fn shared(&self) -> PathBuf {
        let own = self.stage.root().file_name().unwrap().to_string_lossy().into_owned();
        Path::new("/tmp").join(format!("legation-evil{own}"))
    }

    /// Whether the shared memory is still there.
    fn remembers(&self) -> bool {
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        segments.lines().any(|line| line.split_whitespace().nth(1) == Some(&self.shared_memory))
    }

    /// Every file outside the workspaces that is not the engine's own to change.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.stage.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let own = ["out", "legation", ".legation"].iter().any(|name| path.ends_with(name));
                // The engine itself keeps work in the user's repository, under its own names.
                let kept = path.ends_with("objects") || path.ends_with("refs/legation");
                if own || kept || path.ends_with("refs/heads/legation") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
                }
            }
        }
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        std::fs::write(self.stage.out("go"), "").unwrap();
        let _ = std::fs::remove_file(self.shared());
        self.stage.shell(&format!("ipcrm -m {}", self.shared_memory));
    }
}

/// Lets the hostile child loose, and tells with what it got through, and what its receipt says of
/// gaps. Nothing outside has changed then, and nobody was harmed.
fn attacked(stage: Stage) -> (Vec<String>, Value) {
    let scene = Scene::new(stage);
    let stage = &scene.stage;
    let before = scene.outside();
    let (code, view) = stage.json(&["delegate", "--agent", "hostile", "Attack"]);
    let subtask = &view["subtasks"][0];
    assert_eq!((code, &subtask["status"]), (0, &Value::from("completed")), "{view}");
    assert_eq!(subtask["receipt"]["fenced"], true, "{subtask}");
    assert!(subtask["receipt"]["filesChanged"].to_string().contains("mine.txt"), "{subtask}");
    assert_eq!(before, scene.outside());
    assert!(!scene.shared().exists());
    assert!(stage.shell("git fsck --full && git log main").status.success());
    std::fs::write(stage.out("go"), "").unwrap();
    let (_, sibling) = stage.json(&["resume", &scene.sibling, "--wait"]);
    assert_eq!(sibling["subtasks"][0]["return"]["summary"], "unharmed", "{sibling}");
    let tried = stage.told("tried");
    assert_eq!(tried.lines().count(), ATTACKS.len(), "{tried}");
    let through = tried.lines().filter_map(|line| line.strip_suffix(": yes")).map(str::to_owned);
    let through: Vec<String> = through.collect();
    assert_ne!(scene.remembers(), through.iter().any(|name| name == "remove shared memory"));
    (through, subtask["receipt"]["fenceGaps"].clone())
}

#[test]
fn a_hostile_child_changes_nothing_outside_and_harms_nobody() {
    for mechanism in ["worktree", "pool", "auto"] {
        let config = ONCE.replace("worktree", mechanism);
        let (through, gaps) = attacked(Stage::new(&config));
        assert_eq!((through, gaps), (Vec::new(), Value::Null), "{mechanism}");
    }
}

#[test]
fn nor_does_one_of_somebody_who_is_not_root() {
    for mechanism in ["worktree", "overlay"] {
        let config = ONCE.replace("worktree", mechanism);
        let stage = Stage::of_nobody(&config, "");
        let (_, doctor) = stage.json(&["doctor"]);
        if doctor["workspaces"]["mechanism"] != mechanism {
            eprintln!("SKIPPED: {mechanism} cannot be had here: {}", doctor["workspaces"]);
            continue;
        }
        // Modes and times of one's own files are nothing that the kernel keeps here, nor are
        // terminals and shared memory.
        let through = ["change the mode of a file", "date a file back", "remove shared memory"];
        let (found, gaps) = attacked(stage);
        assert_eq!(found, through, "{mechanism}");
        // But its receipt says so.
        let [modes, terminals, memory] = [0, 1, 2].map(|at| gaps[at].as_str().unwrap_or_default());
        assert!(modes.starts_with("Landlock does not refuse chmod, chown and touch"), "{gaps}");
        assert!(terminals.starts_with("terminals of the user can be read"), "{gaps}");
        assert!(memory.starts_with("shared memory, semaphores and queues outside"), "{gaps}");
    }
}

#[test]
fn nor_can_modes_and_times_be_changed_where_the_fence_is_required() {
    for mechanism in ["worktree", "overlay"] {
        let config = ONCE.replace("worktree", mechanism);
        let stage = Stage::of_nobody(&config, "fence = \"require\"");
        let (_, doctor) = stage.json(&["doctor"]);
        let rules = doctor["fence"]["rules"].as_array().unwrap();
        let modes = rules.iter().find(|rule| rule["name"] == "modes").unwrap();
        if doctor["workspaces"]["mechanism"] != mechanism || modes["held"] != true {
            eprintln!("SKIPPED: this cannot be had here: {} {modes}", doctor["workspaces"]);
            continue;
        }
        assert_eq!(attacked(stage), (Vec::new(), Value::Null), "{mechanism}");
    }
}

#[test]
fn without_the_fence_the_same_child_gets_through() {
    let scene = Scene::new(Stage::unfenced(ONCE));
    let stage = &scene.stage;
    // It kills the engine and its keeper, so what is answered is not of interest.
    let mut delegate = stage.legation(&["delegate", "--json", "--agent", "hostile", "Attack"]);
    drop(delegate.output().unwrap());
    let last = "kill the engine: yes\n";
    let tried = wait_for("the engine to be killed", || {
        let tried = stage.told("tried");
        tried.split_once(last).map(|(before, _)| format!("{before}{last}"))
    });
    let key = "leave a key in the keyring of the user";
    let keeps_keys = stage.shell(LEAVE_A_KEY).status.success();
    // Some machines have no keyrings, or let nobody have one.
    let tried = match keeps_keys {
        true => tried,
        false => tried.replace(&format!("{key}: no"), &format!("{key}: yes")),
    };
    expect![[r#"
        read a file of a sibling: yes
        list the files of a sibling: yes
        read the token of a sibling: yes
        read the journal: yes
        open what the engine locks: yes
        read the log: yes
        read what was kept of another tree: yes
        read the secret: yes
        read .env: yes
        write to the checkout: yes
        write through a symbolic link: yes
        write through a hard link: yes
        change the mode of a file: yes
        date a file back: yes
        empty a file: yes
        remove a file: yes
        add a hook: yes
        set the configuration: yes
        append to the configuration: yes
        move HEAD: yes
        make a branch: yes
        push: yes
        prune worktrees: yes
        collect garbage: yes
        remove objects: yes
        write to the home: yes
        write to the temporary folder of all: yes
        write to a sibling: yes
        forge its own end: yes
        forge the return of a sibling: yes
        remove the socket of the engine: yes
        remove everything upwards: yes
        leave a key in the keyring of the user: yes
        remove shared memory: yes
        limit a sibling: yes
        kill a sibling: yes
        limit the engine: yes
        kill the engine: yes
    "#]]
    .assert_eq(&tried);
}

/// What is tried with the ports of others: of a sibling and of the parent. Ports of the
/// sibling's are listened on, and others are free.
const ON_PORTS: &[(&str, &str)] = &[
    ("read what a sibling serves", "connect((\"127.0.0.1\", $SIBLING_PORT))"),
    ("take a port of a sibling", "bind((\"127.0.0.1\", $SIBLING_PORT + 1))"),
    ("take a port of the parent", "bind((\"127.0.0.1\", $PARENT_PORT + 1))"),
];

/// How the attacks on ports go for a child of a parent, beside a sibling at work.
fn on_ports(stage: &Stage) -> String {
    stage.agent(
        "sibling",
        "",
        "echo $LEGATION_PORT_BASE > $OUT/port.new; mv $OUT/port.new $OUT/port\n\
         until [ -e $OUT/go ]; do sleep 0.05; done\n\
         legation submit --status completed --summary unharmed",
    );
    let line = |(name, how): &(&str, &str)| {
        format!(
            "if python3 -c \"import socket; socket.socket().{}\"; then said=yes; else said=no; \
             fi 2> /dev/null; echo '{name}:' $said >> $OUT/tried\n",
            how.replace('"', "'")
        )
    };
    let tries: String = ON_PORTS.iter().map(line).collect();
    let script = format!(
        "SIBLING_PORT=$(cat $OUT/port); PARENT_PORT=$(cat $OUT/parent)\n{tries}\
         echo $LEGATION_PORT_BASE $PARENT_PORT $SIBLING_PORT > $OUT/ports\n\
         legation submit --status completed --summary tried"
    );
    stage.agent("hostile", "", &script);
    let parent = "echo $LEGATION_PORT_BASE > $OUT/parent\n\
                  legation delegate --agent hostile Attack > $OUT/nested\n\
                  legation submit --status completed --summary done";
    stage.agent("parent", "subagents:\n  allow: ['hostile']\n", parent);
    let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "sibling", "Wait"]);
    wait_for("the sibling", || stage.out("port").exists().then_some(()));
    let port: u16 = stage.told("port").trim().parse().unwrap();
    // In the sibling's name, whom the fence may keep from it.
    let served = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (_, view) = stage.json(&["delegate", "--agent", "parent", "Have it done"]);
    drop(served);
    std::fs::write(stage.out("go"), "").unwrap();
    stage.json(&["resume", begun["delegationId"].as_str().unwrap(), "--wait"]);
    let ports = stage.told("ports");
    let different: BTreeSet<&str> = ports.split_whitespace().collect();
    assert_eq!(different.len(), 3, "each has ports of its own: {ports}{view}");
    stage.told("tried")
}

#[test]
fn without_the_network_a_child_neither_takes_nor_reads_a_port_of_others() {
    let stage = Stage::fenced(ONCE, "network = \"deny\"");
    expect![[r#"
        read what a sibling serves: no
        take a port of a sibling: no
        take a port of the parent: no
    "#]]
    .assert_eq(&on_ports(&stage));
}

#[test]
fn with_ports_of_its_own_a_child_takes_no_port_of_others() {
    let stage = Stage::fenced(ONCE, "network = \"own_ports\"");
    expect![[r#"
        read what a sibling serves: yes
        take a port of a sibling: no
        take a port of the parent: no
    "#]]
    .assert_eq(&on_ports(&stage));
}

#[test]
fn without_the_fence_a_child_takes_and_reads_ports_of_others() {
    let stage = Stage::unfenced(ONCE);
    expect![[r#"
        read what a sibling serves: yes
        take a port of a sibling: yes
        take a port of the parent: yes
    "#]]
    .assert_eq(&on_ports(&stage));
}

#[test]
fn what_its_parent_listens_on_a_child_cannot_listen_on() {
    let stage = Stage::new(ONCE);
    let take = "take() { python3 -c \"import errno, socket\n\
                try: socket.socket().bind(('$1', $(cat $OUT/parent))); print('$1: taken')\n\
                except OSError as error: print('$1:', errno.errorcode[error.errno])\" \
                >> $OUT/tried; }\n\
                for address in 127.0.0.1 0.0.0.0 127.0.0.2; do take $address; done\n\
                legation submit --status completed --summary tried";
    stage.agent("hostile", "", take);
    let parent = "python3 -c \"import socket; own = socket.socket(); \
                  own.bind(('127.0.0.1', $LEGATION_PORT_BASE)); own.listen(); \
                  open('$OUT/parent', 'w').write('$LEGATION_PORT_BASE'); own.accept()\" &\n\
                  until [ -s $OUT/parent ]; do sleep 0.05; done\n\
                  legation delegate --agent hostile Attack > $OUT/nested\n\
                  kill $!; legation submit --status completed --summary done";
    stage.agent("parent", "subagents:\n  allow: ['hostile']\n", parent);
    let (code, view) = stage.json(&["delegate", "--agent", "parent", "Have it done"]);
    assert_eq!((code, &view["subtasks"][0]["receipt"]["fenced"]), (0, &true.into()), "{view}");
    // The same port of another address is nobody's.
    expect![[r#"
        127.0.0.1: EADDRINUSE
        0.0.0.0: EADDRINUSE
        127.0.0.2: taken
    "#]]
    .assert_eq(&stage.told("tried"));
}

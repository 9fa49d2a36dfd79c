//! Overlays for somebody who is not root: in a user namespace that a helper holds open.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::killed;
use super::stage::{Stage, shown, wait_for};

const OVERLAY: &str = "[recovery]\nmaxRetries = 0\n[workspace]\nmechanism = \"overlay\"\n";
/// How often the engine is killed; it is killed more often elsewhere.
const KILLS: usize = 30;
const UNFENCED: &str = "fence = \"off\"";
/// Works until it is told that it is enough.
const SLOW: &str = "echo half > half.txt; echo $$ > $OUT/pid\n\
                    until [ -e $OUT/go ]; do :; done\n\
                    echo whole > whole.txt; legation submit --status completed --summary through";

/// A project of somebody who is not root; nothing stays of it.
struct Own(Stage);

impl Deref for Own {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.kill();
        for process in self.all_inside() {
            signal(process, Signal::KILL);
        }
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    // One that has ended meanwhile is what was wanted.
    let _ = kill_process(pid, signal);
}

impl Own {
    /// None where the kernel, or whoever rules it, wants no overlays in user namespaces. It
    /// is found out without our own program, which would have to say the same.
    fn new(config: &str) -> Option<Self> {
        Self::with(config, "")
    }

    fn with(config: &str, sandbox: &str) -> Option<Self> {
        let own = Self(Stage::of_nobody(config, sandbox));
        let line = "cd ../out && mkdir l u w t && unshare --user --map-root-user --mount \
                    mount -t overlay -o lowerdir=l,upperdir=u,workdir=w,userxattr o t";
        let tried = own.shell(line);
        if !tried.status.success() {
            eprintln!("SKIPPED: no overlay in a user namespace here: {}", shown(&tried));
            return None;
        }
        own.shell("cd ../out && chmod -R u+rwx w; rm -r l u w t");
        Some(own)
    }

    fn state(&self) -> PathBuf {
        self.paths().state
    }

    /// The process that holds the namespace, if one does.
    fn holder(&self) -> Option<u32> {
        let record: Value = fs::read(self.state().join("namespace.json"))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())?;
        let pid = u32::try_from(record["process"]["pid"].as_u64()?).ok()?;
        lives(pid).then_some(pid)
    }

    /// Processes that see a workspace of the project, and those that hold its namespace.
    fn all_inside(&self) -> Vec<u32> {
        let root = self.root().to_string_lossy().into_owned();
        let sees = |pid: &u32| {
            let read = |file| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let is_laid = read("mountinfo").lines().any(|line| line.contains(&root));
            is_laid || (read("cmdline").contains("\0hold\0") && read("cmdline").contains(&root))
        };
        let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter_map(|name| name.to_str()?.parse().ok()).filter(sees).collect()
    }

    /// What there is in the folders of workspaces.
    fn left(&self) -> Vec<PathBuf> {
        let folders =
            ["workspaces", "layers", "repos", "trash"].map(|name| self.state().join(name));
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Starts an agent that works on, and waits until that is recorded.
    fn begin(&self, agent: &str) -> (String, String) {
        let (_, first) = self.json(&["delegate", "--detach", "--agent", agent, "Go on"]);
        let id = first["delegationId"].as_str().unwrap().to_owned();
        let attempt = wait_for("its process to be recorded", || {
            let state = self.tree(&id);
            let mut attempts = state.attempts.iter().map(|(_, attempt)| attempt);
            attempts.find(|one| one.process.is_some()).map(|attempt| attempt.id.to_string())
        });
        wait_for("it to run", || (!self.told("pid").trim().is_empty()).then_some(()));
        (id, attempt)
    }

    fn goes(&self) {
        fs::write(self.out("go"), "").unwrap();
    }

    /// Ends the engine as a power cut would, and waits until it is gone.
    fn crash(&self) {
        assert!(self.kill());
        wait_for("the engine to be gone", || self.engine().is_none().then_some(()));
    }

    /// Sees a delegation to its end; the files of its result.
    fn finish(&self, id: &str) -> String {
        let (code, view) = self.json(&["resume", id, "--wait"]);
        assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
        self.files(id)
    }

    fn files(&self, id: &str) -> String {
        let listed = self.shell(&format!("git ls-tree -r --name-only legation/{id}/result"));
        String::from_utf8_lossy(&listed.stdout).replace('\n', " ")
    }
}

fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn mounts_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(Path::new("/proc").join(pid.to_string()).join("ns/mnt")).ok()
}

#[test]
fn work_is_done_in_an_overlay_and_comes_back_and_nothing_stays() {
    let Some(own) = Own::with(OVERLAY, UNFENCED) else { return };
    own.shell("mkdir -p deep/er && echo one > deep/er/a && git add -A");
    own.shell("git -c user.name=a -c user.email=a@b.c commit -qm more");
    // The same length in the same second, a file and a folder that get other names, and what
    // the program may do to the namespace: nothing.
    own.agent(
        "w",
        "",
        "printf 'jello\\n' > README.md; git status --porcelain > $OUT/status\n\
         LC_ALL=C git mv deep depth 2> $OUT/renamed; mv deep depth; mv depth/er/a depth/er/b\n\
         grep -E 'Cap(Prm|Eff|Amb)' /proc/self/status > $OUT/powers\n\
         umount . 2> $OUT/umount && echo unmounted >> $OUT/powers\n\
         stat -f -c %T . > $OUT/kind; id -u > $OUT/user\n\
         legation submit --status completed --summary done",
    );
    let (code, view) = own.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    assert_eq!(own.told("status"), " M README.md\n");
    assert!(own.told("renamed").contains("cross-device"), "{}", own.told("renamed"));
    let none = "0000000000000000";
    assert_eq!(own.told("powers"), format!("CapPrm:\t{none}\nCapEff:\t{none}\nCapAmb:\t{none}\n"));
    assert_eq!(own.told("kind"), "overlayfs\n");
    assert_ne!(own.told("user"), "0\n");
    let id = view["delegationId"].as_str().unwrap();
    assert_eq!(own.files(id), ".gitignore README.md depth/er/b ");
    let shown = own.shell(&format!("git show legation/{id}/result:README.md"));
    assert_eq!(String::from_utf8_lossy(&shown.stdout), "jello\n");
    wait_for("workspaces to be gone", || own.left().is_empty().then_some(()));
    // The engine has nothing to do any more.
    let holder = own.holder().unwrap();
    own.shell("kill $(head -1 .legation/engine.lock)");
    wait_for("the holder to end by itself", || (!lives(holder)).then_some(()));
    assert!(!own.state().join("namespace.json").exists());
    assert_eq!(own.all_inside(), Vec::<u32>::new());
}

#[test]
fn nested_work_reaches_its_parent_and_verify_commands_see_the_files() {
    let Some(own) = Own::new(OVERLAY) else { return };
    let top = "legation delegate --json --agent leaf 'A part' > $OUT/nested\n\
               cat part.txt > $OUT/seen; legation submit --status completed --summary ok";
    own.agent("top", "subagents:\n  allow: ['*']\n", top);
    own.agent("leaf", "", "echo x > part.txt; legation submit --status completed --summary ok");
    let path = ".legation/agents/leaf.md";
    let text = fs::read_to_string(own.project().join(path)).unwrap();
    own.write(path, &text.replace("  timeout:", "  verify: [\"grep -q x part.txt\"]\n  timeout:"));
    let (code, view) = own.json(&["delegate", "--agent", "top", "Both"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    let nested: Value = serde_json::from_str(&own.told("nested")).unwrap();
    assert_eq!(nested["status"], "completed", "{nested}");
    assert_eq!(own.told("seen"), "x\n");
    assert_eq!(own.files(view["delegationId"].as_str().unwrap()), ".gitignore README.md part.txt ");
    let (code, applied) = own.json(&["apply", "--yes", view["delegationId"].as_str().unwrap()]);
    assert_eq!(code, 0, "{applied}");
    assert_eq!(fs::read_to_string(own.project().join("part.txt")).unwrap(), "x\n");
    wait_for("workspaces to be gone", || own.left().is_empty().then_some(()));
}

#[test]
fn a_shell_in_a_workspace_sees_what_nobody_outside_does() {
    let Some(own) = Own::new(OVERLAY) else { return };
    own.agent("slow", "", SLOW);
    let (id, attempt) = own.begin("slow");
    let outside = own.state().join("workspaces").join(&attempt);
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    let line = "cat half.txt; echo mine > mine.txt; pwd; grep CapEff /proc/self/status; id -u";
    let ran = own.legation(&["workspaces", "shell", &attempt, "-c", line]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "half", "{said}{}", shown(&ran));
    assert!(lines[1].ends_with(&format!("/workspaces/{attempt}")), "{said}");
    assert_eq!(lines[2], "CapEff:\t0000000000000000");
    let (_, told) = own.json(&["workspaces", "shell", &attempt]);
    assert_eq!(told["namespaceOf"], own.holder().unwrap(), "{told}");
    let (code, about) = own.json(&["workspaces", "show", &attempt]);
    assert_eq!((code, about["files"].to_string().as_str()), (0, "[\"half.txt\",\"mine.txt\"]"));
    own.goes();
    assert_eq!(own.finish(&id), ".gitignore README.md half.txt mine.txt whole.txt ");
}

#[test]
fn a_shell_in_a_workspace_has_the_fence_that_is_required() {
    for mechanism in [OVERLAY, &OVERLAY.replace("overlay", "worktree")] {
        let sandbox = "fence = \"require\"\nnetwork = \"deny\"";
        let Some(own) = Own::with(mechanism, sandbox) else { return };
        own.agent("slow", "", SLOW);
        let (id, attempt) = own.begin("slow");
        let neighbour = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = neighbour.local_addr().unwrap().port();
        let socket = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)";
        let line = format!(
            "cat half.txt; id -u; chmod 700 {}/README.md && echo changed; \
             prlimit --pid $PPID --core=0:0 && echo limited; \
             python3 -c '{socket}; s.sendto(b\"x\", (\"127.0.0.1\", {port}))' && echo sent",
            own.project().display()
        );
        let ran = own.legation(&["workspaces", "shell", &attempt, "-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let user = String::from_utf8(own.shell("id -u").stdout).unwrap();
        assert_eq!(said, format!("half\n{user}"), "{mechanism}{}", shown(&ran));
        own.goes();
        assert_eq!(own.finish(&id), ".gitignore README.md half.txt whole.txt ");
    }
}

#[test]
fn an_attempt_outlives_its_engine_and_the_next_one_finds_it_in_the_same_namespace() {
    let Some(own) = Own::new(OVERLAY) else { return };
    own.agent("slow", "", SLOW);
    let (id, _) = own.begin("slow");
    let (holder, mounts) = (own.holder().unwrap(), mounts_of(own.engine().unwrap()));
    own.crash();
    let (_, _) = own.json(&["approve", &id]);
    assert_eq!(mounts_of(own.engine().unwrap()), mounts);
    assert_eq!(own.holder(), Some(holder));
    own.goes();
    assert_eq!(own.finish(&id), ".gitignore README.md half.txt whole.txt ");
    let (_, view) = own.json(&["status", &id]);
    assert_eq!(view["subtasks"][0]["attempts"], 1, "{view}");
}

#[test]
fn an_attempt_leads_back_into_the_namespace_when_its_holder_was_killed() {
    let Some(own) = Own::new(&format!("{OVERLAY}dir = \"../else where\"\n")) else { return };
    own.agent("slow", "", SLOW);
    let (id, _) = own.begin("slow");
    let (holder, mounts) = (own.holder().unwrap(), mounts_of(own.engine().unwrap()));
    own.crash();
    signal(holder, Signal::KILL);
    wait_for("the holder to be gone", || own.holder().is_none().then_some(()));
    let (_, _) = own.json(&["approve", &id]);
    assert_eq!(mounts_of(own.engine().unwrap()), mounts);
    assert_ne!(own.holder().unwrap(), holder);
    own.goes();
    assert_eq!(own.finish(&id), ".gitignore README.md half.txt whole.txt ");
}

#[test]
fn work_is_kept_when_everybody_in_the_namespace_was_killed() {
    let Some(own) = Own::new(OVERLAY) else { return };
    own.agent("slow", "", SLOW);
    let (id, attempt) = own.begin("slow");
    own.kill();
    wait_for("everybody inside to be gone", || {
        let inside = own.all_inside();
        inside.iter().for_each(|pid| signal(*pid, Signal::KILL));
        inside.iter().all(|pid| !lives(*pid)).then_some(())
    });
    // A number that another process has by now is no holder.
    let record = own.state().join("namespace.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    value["process"]["pid"] = std::process::id().into();
    fs::write(&record, value.to_string()).unwrap();
    let (_, about) = own.json(&["workspaces", "show", &attempt]);
    assert_eq!(about["files"].to_string(), "[\"half.txt\"]", "{about}");
    own.goes();
    let (_, view) = own.json(&["resume", &id, "--wait"]);
    let kept = own.shell(&format!("git show refs/legation/{id}/{attempt}:half.txt"));
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "half\n", "{view}{}", shown(&kept));
    wait_for("workspaces to be gone", || own.left().is_empty().then_some(()));
}

#[test]
fn nothing_is_lost_doubled_or_left_behind_when_the_engine_is_killed_again_and_again() {
    let config = format!("{}[workspace]\nmechanism = \"overlay\"\n", killed::CONFIG);
    let Some(own) = Own::new(&config) else { return };
    killed::survives(&own, KILLS);
    wait_for("workspaces to be gone", || own.left().is_empty().then_some(()));
    let holder = own.holder().unwrap();
    own.shell("kill $(head -1 .legation/engine.lock)");
    wait_for("the holder to end by itself", || (!lives(holder)).then_some(()));
    assert_eq!(own.all_inside(), Vec::<u32>::new());
}

#[test]
fn without_a_namespace_overlays_are_refused_with_the_reason_and_not_replaced() {
    let own = Own(Stage::of_nobody(OVERLAY, ""));
    own.agent("w", "", "legation submit --status completed --summary done");
    // Everything but the program that makes namespaces.
    let tools = own.root().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in ["git", "sh", "setpriv"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        std::os::unix::fs::symlink(found.trim(), tools.join(tool)).unwrap();
    }
    let ask = |args: &[&str]| {
        let mut command = own.legation(args);
        command.env("PATH", format!("{}:{}", own.root().join("bin").display(), tools.display()));
        let ran = command.output().unwrap();
        let said: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        (ran.status.code().unwrap(), said)
    };
    let (code, said) = ask(&["delegate", "--json", "--agent", "w", "Work"]);
    let why = "workspace.mechanism is overlay, but there is no `unshare`";
    assert!(code != 0 && said.to_string().contains(why), "{said}");
    assert!(said.to_string().contains("WORKSPACE_FAILED"), "{said}");
    let (code, report) = ask(&["doctor", "--json"]);
    assert_eq!(code, 1, "{report}");
    assert!(report["workspaces"]["obstacle"].to_string().contains("`unshare`"), "{report}");
}

#[test]
fn who_comes_from_an_attempt_of_another_project_outside_is_still_no_root() {
    let Some(own) = Own::with(OVERLAY, UNFENCED) else { return };
    own.agent("w", "", "legation submit --status completed --summary done");
    let (code, view) = own.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    let other = Own(Stage::of_nobody("[recovery]\nmaxRetries = 0\n", UNFENCED));
    let run = own.root().join("home").display().to_string();
    let script = format!(
        "cd '{}'; env -i HOME='{run}' XDG_RUNTIME_DIR='{run}' PATH=\"$PATH\" legation delegate \
         --json --agent w Sneak > $OUT/said; cd; legation submit --status completed --summary ok",
        own.project().display()
    );
    other.agent("sly", "", &script);
    let (_, view) = other.json(&["delegate", "--agent", "sly", "Try it"]);
    assert_eq!(other.holder(), None);
    let said = other.told("said");
    assert!(said.contains("PERMISSION_DENIED") && said.contains("needs the"), "{said}{view}");
}

#[test]
fn nobody_gets_a_namespace_without_asking_for_it() {
    let Some(own) = Own::new("[recovery]\nmaxRetries = 0\n") else { return };
    // As many as make an overlay worth it for root.
    own.shell("mkdir many; for n in $(seq 600); do echo $n > many/$n; done; git add -A");
    own.shell("git -c user.name=a -c user.email=a@b.c commit -qm many");
    own.agent("w", "", "legation submit --status completed --summary done");
    let (code, view) = own.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    assert_eq!(own.holder(), None);
    let (code, report) = own.json(&["doctor"]);
    assert_eq!((code, report["workspaces"]["mechanism"].as_str()), (0, Some("pool")), "{report}");
    let other = &report["workspaces"]["others"][0];
    assert_eq!(other["mechanism"], "overlay", "{report}");
    assert!(other["why"].to_string().contains("workspace.mechanism can ask for it"), "{report}");
}

#[test]
fn folders_that_an_agent_closed_to_itself_are_kept_with_what_is_in_them() {
    let Some(own) = Own::new(OVERLAY) else { return };
    let script = "mkdir -p closed/deep; echo v > closed/deep/v; echo w > w; chmod 000 closed/deep closed\n\
                  legation submit --status completed --summary Closed.";
    own.agent("closer", "", script);
    let (code, done) = own.json(&["delegate", "--agent", "closer", "Close it"]);
    assert_eq!(code, 0, "{done}");
    let id = done["delegationId"].as_str().unwrap();
    let (code, applied) = own.json(&["apply", "--yes", id]);
    assert_eq!(code, 0, "{applied}");
    assert_eq!(fs::read_to_string(own.project().join("closed/deep/v")).unwrap(), "v\n");
}

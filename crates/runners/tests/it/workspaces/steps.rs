//! A process that is killed between any two of its steps loses no work and leaves nothing
//! behind: not at random, but before each change that it makes to the disk, one after another.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use legation_runners::workspace::{Merge, Wanted};
use rustix::process::{Pid, Signal, kill_process_group};

use super::borrowed::elsewhere;
use super::crash::{WAYS, assert_in_order, child, on_disk, take_up_one};
use super::project::{Project, in_way, make_executable, note, write};

/// Calls that change what is on the disk or mounted.
const CHANGES: &[&str] = &[
    "copy_file_range",
    "fchmod",
    "ftruncate",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "mount",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "setxattr",
    "symlink",
    "symlinkat",
    "umount2",
    "unlink",
    "unlinkat",
    "utimensat",
    "write",
];
/// More changes of a kind than one attempt can take.
const MOST_STEPS: usize = 1_000;

/// Fewer changes would mean that nobody was killed.
const FEWEST: usize = 15;

/// Why no process can be stopped before a step of its own here. Where everything is tried before
/// it is released, nothing may be in the way.
fn obstacle() -> Option<&'static str> {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let why = match traced {
        Ok(done) if done.status.success() => return None,
        Ok(_) => "no process can be traced here",
        Err(_) => "there is no strace",
    };
    assert!(std::env::var_os("CI").is_none(), "{why}");
    Some(why)
}

/// Who is killed.
#[derive(Clone, Copy)]
enum Victim {
    /// The process itself.
    Worker,
    /// Each git that it starts.
    Git,
}

/// Lets a child work and kills it before a change; what it said, and whether it was killed.
fn worked_until(
    (call, step): (&str, usize),
    (project, work): (&Project, &str),
    (way, victim): (&str, Victim),
) -> (String, bool) {
    // Not every machine knows all of these calls.
    let strace =
        format!("strace -o /dev/null -e trace=?{call} -e inject=?{call}:signal=KILL:when={step}");
    let folder = project.outside("bin");
    let before = match victim {
        Victim::Worker => format!("exec {strace} -f \"$@\""),
        Victim::Git => {
            let git = format!("#!/bin/sh\nPATH=${{PATH#*:}}\nexec {strace} git \"$@\"\n");
            write(&folder, "git", &git);
            make_executable(&folder.join("git"));
            format!("PATH={}:$PATH; exec \"$@\"", folder.display())
        }
    };
    let before = ["sh", "-c", &before, "sh"];
    let mut child = child(&before, (project, way), work);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let is_over = child.wait().unwrap().success();
    // Whatever it has started goes with it.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    (said, !is_over)
}

/// Removes what is made once and used by many, so that it has to be made again.
fn forget(project: &Project) {
    for name in ["lent", "pins"] {
        drop(fs::remove_dir_all(project.state().join(name)));
    }
}

fn killed_before_every_step((way, wanted): (&str, Wanted), victim: Victim) {
    if let Some(why) = obstacle() {
        writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
        return;
    }
    in_way(wanted, || {
        let project = Project::new();
        let before = project.untouchable();
        take_up_one(&project);
        forget(&project);
        take_up_one(&project);
        let disk = on_disk(&project);
        let mut precious = BTreeSet::new();
        let mut killed = 0;
        for call in CHANGES {
            for step in 1..MOST_STEPS {
                forget(&project);
                let work = format!("exec-{call}-{step}\n1");
                let (said, was_killed) =
                    worked_until((call, step), (&project, &work), (way, victim));
                let worked = said.lines().filter_map(|line| line.strip_prefix("worked "));
                precious.extend(worked.map(str::to_owned));
                let when = format!("killed before {call} {step}");
                // Whoever comes next works as ever.
                take_up_one(&project);
                assert_in_order(&project, (&disk, &precious), &when);
                if !was_killed {
                    break;
                }
                killed += 1;
            }
        }
        assert!(killed > FEWEST && precious.len() > FEWEST, "{killed} {precious:?}");
        assert_eq!(project.untouchable(), before);
        project.git("fsck --strict --no-dangling");
    });
}

#[test]
fn a_process_killed_before_any_of_its_changes_over_checkouts_loses_and_leaves_nothing() {
    killed_before_every_step(WAYS[0], Victim::Worker);
}

#[test]
fn a_process_killed_before_any_of_its_changes_over_the_pool_loses_and_leaves_nothing() {
    killed_before_every_step(WAYS[1], Victim::Worker);
}

#[test]
fn a_process_killed_before_any_of_its_changes_over_overlays_loses_and_leaves_nothing() {
    killed_before_every_step(WAYS[2], Victim::Worker);
}

#[test]
fn nor_does_one_whose_git_alone_is_killed() {
    for way in WAYS {
        killed_before_every_step(way, Victim::Git);
    }
}

/// A result of its own delegation that adds a file.
fn result(project: &Project, delegation: &str) {
    let spaces = project.open_after_a_kill();
    let place = elsewhere(&spaces, delegation, &format!("exec-{delegation}"));
    write(&place.root, &format!("{delegation}.txt"), "mine\n");
    let kept = spaces.keep(&place, &note()).unwrap().unwrap();
    assert!(matches!(spaces.merge(delegation, &kept).unwrap(), Merge::Clean { .. }));
    spaces.remove(&place).unwrap();
}

/// The locks in a repository.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<_> = folders.iter().flat_map(|folder| locks(folder)).collect();
    found.extend(files.into_iter().filter(|path| path.extension() == Some("lock".as_ref())));
    found
}

fn killed_while_a_result_comes_and_goes(victim: Victim) {
    if let Some(why) = obstacle() {
        writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
        return;
    }
    in_way(Wanted::Worktree, || {
        let project = Project::new();
        project.git("branch spare");
        let mut killed = 0;
        for call in CHANGES {
            for step in 1..MOST_STEPS {
                let when = format!("killed before {call} {step}");
                let delegation = format!("del-{call}-{step}");
                result(&project, &delegation);
                let order = format!("{delegation}\ncome and go");
                let (_, was_killed) =
                    worked_until((call, step), (&project, &order), (WAYS[0].0, victim));
                drop(project.open_after_a_kill());
                assert_eq!(locks(&project.dir().join(".git")), Vec::<PathBuf>::new(), "{when}");
                assert_eq!(project.git("status --porcelain"), "", "{when}");
                // The user goes on as ever, and so do we.
                project.git("pack-refs --all");
                project.git("branch -q -m spare other");
                project.git("branch -q -m other spare");
                let spaces = project.open();
                if project.dir().join(format!("{delegation}.txt")).exists() {
                    spaces.revert(&delegation).unwrap();
                }
                assert_eq!(project.git("ls-files"), ".gitignore\nREADME.md\nsrc/a.txt", "{when}");
                if !was_killed {
                    break;
                }
                killed += 1;
            }
        }
        assert!(killed > FEWEST, "{killed}");
        project.git("fsck --strict --no-dangling");
    });
}

#[test]
fn who_is_killed_before_any_change_while_a_result_comes_and_goes_leaves_all_or_nothing() {
    killed_while_a_result_comes_and_goes(Victim::Worker);
}

#[test]
fn nor_is_anything_left_half_done_where_git_alone_is_killed_over_it() {
    killed_while_a_result_comes_and_goes(Victim::Git);
}

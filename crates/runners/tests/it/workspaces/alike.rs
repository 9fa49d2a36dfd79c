//! However a workspace was made, the same work is seen in it and the same is kept.
//!
//! An overlay is looked at where it writes, the others file by file: random work, done in
//! one of each, has to come out alike, and as git would have it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use legation_runners::workspace::{Options, Place, Spaces, Wanted};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::project::{Project, create, git, note, wanted};

/// Names that work is done on: files and folders of the base, and others.
const NAMES: &[&str] = &[
    "README.md",
    "src",
    "src/a.txt",
    "src/deep",
    "src/deep/b.txt",
    "src/deep/er",
    "many",
    "many/0.txt",
    "many/1.txt",
    "many/new.txt",
    "new",
    "new/c.txt",
    "build/out.txt",
    "x.log",
    "link",
    "src/deep/er/d.txt",
];
/// Steps of one piece of work.
const STEPS: usize = 14;
const ROUNDS: u64 = 120;

fn project() -> Project {
    let project = Project::new();
    for name in ["many/0.txt", "many/1.txt", "many/2.txt", "src/deep/b.txt", "src/deep/er/d.txt"] {
        project.write(name, "x\n");
    }
    symlink("README.md", project.dir().join("link")).unwrap();
    project.commit("more");
    project
}

/// One step of some work. What cannot be done is not done, in each of them alike.
fn step(root: &Path, rng: &mut Rng) {
    let at = |name: &&str| root.join(name);
    let one = rng.choice(NAMES).map(at).unwrap();
    let other = rng.choice(NAMES).map(at).unwrap();
    let done = match rng.u8(0..10) {
        0 | 1 => fs::write(&one, "X\n"),
        2 => fs::write(&one, "longer than before\n"),
        3 => fs::remove_file(&one),
        4 => fs::remove_dir_all(&one),
        5 => fs::create_dir_all(&one),
        6 | 7 => fs::rename(&one, &other),
        8 => fs::set_permissions(&one, fs::Permissions::from_mode(0o755)),
        _ => symlink("src/a.txt", &one),
    };
    drop(done);
    if rng.u8(0..12) == 0 {
        // Neither a file nor a folder.
        mknodat(CWD, &other, FileType::Socket, Mode::from_raw_mode(0o644), 0).unwrap_or_default();
    }
}

/// The tree that git itself makes of the files, without those it does not know.
fn by_git(root: &Path) -> String {
    let found = Command::new("find").arg(root).args(["-type", "s", "-delete"]).status();
    assert!(found.unwrap().success());
    git(root, "add -A");
    git(root, "write-tree")
}

/// Does the work of a seed, and tells what is seen of it and what is kept.
fn worked((spaces, project): (&Spaces, &Path), place: &Place, seed: u64) -> (Vec<String>, String) {
    let mut rng = Rng::with_seed(seed);
    for _ in 0..STEPS {
        step(&place.root, &mut rng);
    }
    let seen = spaces.look(place).unwrap().files_changed;
    let kept = spaces.keep(place, &note()).unwrap();
    let commit = kept.map(|kept| kept.commit).unwrap_or_else(|| place.base.clone());
    let tree = by_git(&place.root);
    spaces.remove(place).unwrap();
    assert_eq!(git(project, &format!("rev-parse {commit}^{{tree}}")), tree, "seed {seed}");
    (seen, tree)
}

#[test]
fn random_work_is_seen_and_kept_alike_in_an_overlay_and_in_a_checkout() {
    let options = |mechanism| Options { mechanism, ..Options::default() };
    let project = project();
    let overlay = project.open_exactly(&options(Wanted::Overlay));
    if let Some(why) = overlay.mechanism().obstacle {
        writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
        return;
    }
    let beside = Project::new();
    let checkout =
        Spaces::open_with(&project.dir(), &beside.state(), &options(Wanted::Worktree)).unwrap();
    for spaces in [&overlay, &checkout] {
        create(spaces, "exec-first");
    }
    let mut changed = 0;
    for seed in 0..ROUNDS {
        let done = [&overlay, &checkout].map(|spaces| {
            let place = spaces.create(&wanted("del-1", &format!("exec-{seed}"))).unwrap();
            worked((spaces, &project.dir()), &place, seed)
        });
        assert_eq!(done[0], done[1], "seed {seed}");
        changed += done[0].0.len();
    }
    assert!(changed > 100, "{changed}");
    assert_eq!(project.git("status --porcelain"), "");
}

//! Overlays over pinned checkouts. Where the kernel allows none there is nothing to test,
//! and the contract is tested in the other ways.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use legation_runners::workspace::{Merge, Spaces, Wanted, Way};

use super::project::{
    Project, begin, create, files, git, in_way, keep, merge, note, read, wanted, write,
};

/// What lies in the folder of pinned checkouts: how many, and how many files each holds.
fn pins(project: &Project) -> Vec<usize> {
    let entries = fs::read_dir(project.state().join("pins")).unwrap();
    let mut found: Vec<usize> =
        entries.map(|entry| count(&entry.unwrap().path().join("files"))).collect();
    found.sort_unstable();
    found
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_name() != ".git")
        .map(|entry| if entry.file_type().unwrap().is_dir() { count(&entry.path()) } else { 1 })
        .sum()
}

/// A repository with files enough that a small change is worth a layer.
pub(super) fn larger() -> Project {
    let project = Project::new();
    for number in 0..40 {
        project.write(&format!("many/{number}.txt"), "x\n");
    }
    project.commit("many");
    project
}

#[test]
fn workspaces_of_one_base_share_one_checkout() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        assert_eq!(spaces.mechanism().way, Way::Overlay);
        let places = ["exec-1", "exec-2", "exec-3"].map(|attempt| create(&spaces, attempt));
        assert_eq!(pins(&project), [43]);
        for place in &places {
            assert_eq!(git(&place.root, "status --porcelain"), "");
            assert_eq!(git(&place.root, "fsck --no-dangling"), "");
        }
        write(&places[0].root, "README.md", "mine\n");
        assert_eq!(read(&places[1].root, "README.md"), "hello\n");
    });
}

#[test]
fn a_base_that_moved_costs_only_what_changed() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        create(&spaces, "exec-1");
        project.git("rm -q many/7.txt");
        fs::remove_dir_all(project.dir().join("src")).unwrap();
        project.write("src", "a file now\n");
        project.write("new/deep.txt", "x\n");
        project.commit("moved");
        begin(&spaces, "del-2");
        let place = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_eq!(read(&place.root, "src"), "a file now\n");
        assert!(!place.root.join("many/7.txt").exists());
        assert_eq!(git(&place.root, "status --porcelain"), "");
        assert_eq!(git(&place.root, "rev-parse HEAD"), project.git("rev-parse HEAD"));
        // What is gone is marked by an entry of its own.
        assert_eq!(pins(&project), [3, 43]);
        write(&place.root, "many/8.txt", "changed\n");
        assert_eq!(files(&spaces, &place), ["many/8.txt"]);
    });
}

#[test]
fn many_bases_keep_only_a_few_checkouts_and_all_that_are_in_use() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        let first = create(&spaces, "exec-0");
        for number in 1..16 {
            project.write("README.md", &format!("{number}\n"));
            project.commit("more");
            let delegation = format!("del-{}", number + 1);
            begin(&spaces, &delegation);
            let new = wanted(&delegation, &format!("exec-{number}"));
            let place = spaces.create(&new).unwrap();
            assert_eq!(read(&place.root, "README.md"), format!("{number}\n"));
            assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
            spaces.remove(&place).unwrap();
        }
        assert_eq!(read(&first.root, "README.md"), "hello\n");
        assert_eq!(files(&spaces, &first), Vec::<String>::new());
        let held = pins(&project);
        assert!(held.len() <= 10, "{held:?}");
    });
}

#[test]
fn an_edit_in_the_same_second_with_the_same_size_is_seen_by_git_and_by_us() {
    in_way(Wanted::Overlay, || {
        for round in 0..4_usize {
            let project = Project::new();
            let spaces = project.open();
            let place = create(&spaces, "exec-1");
            let path = place.root.join("README.md");
            let before = fs::metadata(&path).unwrap();
            // At once, so that mostly not even the second has changed since the checkout.
            fs::write(&path, "HELLO\n").unwrap();
            let touched = fs::File::options().write(true).open(&path).unwrap();
            let back = [touched.metadata().unwrap(), before].map(|found| found.modified().unwrap());
            touched.set_modified(back[round % 2]).unwrap();
            assert_eq!(git(&place.root, "status --porcelain"), " M README.md");
            assert_eq!(files(&spaces, &place), ["README.md"]);
            let kept = keep(&spaces, &place);
            assert_eq!(project.git(&format!("show {}:README.md", kept.commit)), "HELLO");
        }
    });
}

#[test]
fn a_file_looks_the_same_through_the_overlay_so_that_git_need_not_read_it() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        // Git says of each file what it remembers, and this is what there is.
        let listed = git(&place.root, "ls-files --debug");
        let mut remembered = BTreeMap::new();
        let mut name = "";
        for line in listed.lines() {
            match line.trim().split_once(": ") {
                Some(("dev", rest)) => {
                    let inode = rest.split("ino: ").nth(1).unwrap().trim().parse::<u64>();
                    remembered.insert(name, inode.unwrap());
                }
                Some(_) => {}
                None => name = line,
            }
        }
        assert_eq!(remembered.len(), 43);
        for (name, inode) in remembered {
            let found = fs::metadata(place.root.join(name)).unwrap();
            assert_eq!(found.ino() & 0xffff_ffff, inode, "{name}");
        }
    });
}

/// The second in which git remembers each file to have been written.
fn remembered_seconds(root: &Path) -> Vec<i64> {
    let listed = git(root, "ls-files --debug");
    let times = listed.lines().filter_map(|line| line.trim().strip_prefix("mtime: "));
    times.map(|time| time.split(':').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn even_the_first_index_is_younger_than_all_its_files_so_that_git_reads_none_of_them() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        // A second base: only what differs is written anew.
        project.write("README.md", "other\n");
        project.commit("moved");
        begin(&spaces, "del-2");
        let second = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        for place in [first, second] {
            let index = fs::metadata(place.root.join(".git/index")).unwrap().mtime();
            let seconds = remembered_seconds(&place.root);
            assert_eq!(seconds.len(), 43);
            assert!(seconds.iter().all(|second| *second < index), "{seconds:?} and {index}");
            assert_eq!(git(&place.root, "status --porcelain"), "");
            assert_eq!(git(&place.root, "fsck --no-dangling"), "");
        }
    });
}

#[test]
fn folders_of_the_base_can_be_renamed() {
    in_way(Wanted::Overlay, || {
        let project = larger();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        git(&place.root, "mv many more");
        git(&place.root, "commit -q -m renamed");
        let kept = keep(&spaces, &place);
        merge(&spaces, &kept);
        let listed = project.git("ls-tree --name-only legation/del-1/result");
        assert_eq!(listed, ".gitignore\nREADME.md\nmore\nsrc");
        assert_eq!(files(&spaces, &place).len(), 80);
    });
}

/// Unmounts a workspace as a restart of the machine would.
fn unmount(root: &Path) {
    assert!(Command::new("umount").arg("-l").arg(root).status().unwrap().success());
}

#[test]
fn an_overlay_that_went_with_the_machine_is_laid_again_with_its_work() {
    in_way(Wanted::Overlay, || {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        fs::remove_file(place.root.join("src/a.txt")).unwrap();
        unmount(&place.root);
        assert_eq!(fs::read_dir(&place.root).unwrap().count(), 0);
        // Without a restart it is found out by whoever looks.
        assert_eq!(files(&spaces, &place), ["src/a.txt", "work.txt"]);
        unmount(&place.root);
        drop(spaces);
        let spaces = project.open();
        assert_eq!(read(&place.root, "work.txt"), "x\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.remove(&place).unwrap();
        assert!(!place.root.exists());
        assert!(matches!(spaces.merge("del-1", &kept(&spaces)).unwrap(), Merge::Nothing));
    });
}

fn kept(spaces: &Spaces) -> legation_runners::workspace::Kept {
    let commit = spaces.kept_commit("del-1", "exec-1").unwrap().unwrap();
    let reference = "refs/legation/del-1/exec-1".to_owned();
    legation_runners::workspace::Kept { reference, base: String::new(), commit }
}

#[test]
fn a_removed_workspace_leaves_no_mount_and_no_files() {
    in_way(Wanted::Overlay, || {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        keep(&spaces, &place);
        spaces.remove(&place).unwrap();
        drop(spaces);
        for folder in ["workspaces", "layers", "repos", "trash"] {
            let left = fs::read_dir(project.state().join(folder)).unwrap().count();
            assert_eq!(left, 0, "{folder}");
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(project.state().to_str().unwrap()));
    });
}

#[test]
fn what_cannot_be_had_is_an_error_with_its_reason() {
    // A folder on a file system that takes no overlay: one that is an overlay itself.
    in_way(Wanted::Overlay, || {
        let outer = Project::new();
        let place = create(&outer.open(), "exec-1");
        let project = Project::new();
        let spaces = Project::open_as(&project.dir(), &place.root.join("state"));
        begin(&spaces, "del-1");
        let choice = spaces.mechanism();
        assert!(choice.obstacle.is_some(), "{choice:?}");
        let error = spaces.create(&wanted("del-1", "exec-1")).unwrap_err().to_string();
        assert!(
            error.starts_with("workspace.mechanism is overlay, but the kernel refuses"),
            "{error}"
        );
        assert!(error.ends_with("set it to auto"), "{error}");
    });
}

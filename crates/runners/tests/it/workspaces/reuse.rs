//! Checkouts that serve one attempt after another, and keep nothing of any.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use legation_runners::workspace::{Options, Place, Spaces, Wanted, Way};

use super::project::{
    Project, begin, create, files, git, in_way, keep, make_executable, note, read, wanted, write,
};

/// Everything below a folder except for its own repository: kind, permissions, content.
fn everything(top: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
            if name == ".git" {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match &metadata {
                link if link.is_symlink() => format!("{:?}", fs::read_link(&path).unwrap()),
                file if file.is_file() => fs::read_to_string(&path).unwrap(),
                _ => String::new(),
            };
            if metadata.is_dir() {
                folders.push(path);
            }
            found.insert(name, format!("{:o} {} {content}", metadata.mode(), metadata.is_dir()));
        }
    }
    found
}

fn with_files() -> Project {
    let project = Project::new();
    project.write("run.sh", "#!/bin/sh\n");
    make_executable(&project.dir().join("run.sh"));
    project.write("deep/er/file.txt", "x\n");
    symlink("README.md", project.dir().join("link")).unwrap();
    project.commit("files");
    project
}

/// Ends an attempt.
fn end(spaces: &Spaces, place: &Place) {
    spaces.keep(place, &note()).unwrap();
    spaces.remove(place).unwrap();
}

/// Does to a workspace whatever could stay behind.
fn soil(project: &Project, root: &Path) {
    write(root, "untracked.txt", "secret\n");
    write(root, "build/ignored.log", "secret\n");
    write(root, "deep/er/ignored.log", "secret\n");
    fs::create_dir_all(root.join("empty/folders")).unwrap();
    git(root, "init -q inner");
    write(root, "inner/.git/hooks/post-checkout", "secret\n");
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    let readme = root.join("README.md");
    let before = fs::metadata(&readme).unwrap().modified().unwrap();
    fs::write(&readme, "HELLO\n").unwrap();
    fs::File::options().write(true).open(&readme).unwrap().set_modified(before).unwrap();
    fs::hard_link(root.join("deep/er/file.txt"), project.outside("a second name")).unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(root.join("deep"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::remove_file(root.join("link")).unwrap();
    symlink("/etc/passwd", root.join("link")).unwrap();
    fs::remove_dir_all(root.join("src")).unwrap();
    symlink(project.dir(), root.join("src")).unwrap();
    fs::write(root.join(".git/config"), "secret\n").unwrap();
}

#[test]
fn nothing_of_one_attempt_is_there_for_the_next() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        assert_eq!(spaces.mechanism().way, Way::Pool);
        let first = create(&spaces, "exec-1");
        let clean = everything(&first.root);
        let inode = fs::metadata(&first.root).unwrap().ino();
        for round in 2..5 {
            let before = spaces.find(&format!("exec-{}", round - 1)).unwrap().unwrap();
            soil(&project, &before.root);
            end(&spaces, &before);
            drop(fs::remove_file(project.outside("a second name")));
            let next = create(&spaces, &format!("exec-{round}"));
            assert_eq!(fs::metadata(&next.root).unwrap().ino(), inode, "it is the same folder");
            assert_eq!(everything(&next.root), clean);
            assert_eq!(files(&spaces, &next), Vec::<String>::new());
            assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
            assert!(!read(&next.root, ".git/config").contains("secret"));
        }
        assert_eq!(project.read("src/a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    });
}

#[test]
fn a_second_name_of_a_file_leads_to_no_later_attempt() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        let second_name = project.outside("a second name");
        fs::hard_link(first.root.join("README.md"), &second_name).unwrap();
        end(&spaces, &first);
        let next = create(&spaces, "exec-2");
        fs::write(&second_name, "from afar\n").unwrap();
        assert_eq!(read(&next.root, "README.md"), "hello\n");
    });
}

#[test]
fn what_is_done_to_a_waiting_checkout_is_undone_before_its_next_use() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        end(&spaces, &first);
        // Ending it waits for whatever goes on in the background.
        drop(spaces);
        let pool = fs::read_dir(project.state().join("pool")).unwrap().next().unwrap().unwrap();
        write(&pool.path(), "files/late.txt", "secret\n");
        write(&pool.path(), "files/README.md", "LATER\n");
        let spaces = project.open();
        let next = create(&spaces, "exec-2");
        assert!(!next.root.join("late.txt").exists());
        assert_eq!(read(&next.root, "README.md"), "hello\n");
        assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
    });
}

#[test]
fn a_checkout_is_brought_to_the_next_base() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        write(&first.root, "deep/er/file.txt", "y\n");
        let inode = fs::metadata(&first.root).unwrap().ino();
        keep(&spaces, &first);
        end(&spaces, &first);
        project.git("rm -q -r deep");
        project.write("deep", "a file now\n");
        project.write("later/x.txt", "x\n");
        project.commit("later");
        begin(&spaces, "del-2");
        let next = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_eq!(fs::metadata(&next.root).unwrap().ino(), inode);
        assert_eq!(read(&next.root, "deep") + &read(&next.root, "later/x.txt"), "a file now\nx\n");
        assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
        assert_eq!(git(&next.root, "rev-parse HEAD"), project.git("rev-parse HEAD"));
    });
}

#[test]
fn only_a_few_checkouts_wait() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let places: Vec<Place> =
            (0..12).map(|number| create(&spaces, &format!("exec-{number}"))).collect();
        for place in &places {
            end(&spaces, place);
        }
        drop(spaces);
        assert_eq!(fs::read_dir(project.state().join("pool")).unwrap().count(), 8);
        assert_eq!(fs::read_dir(project.state().join("trash")).unwrap().count(), 0);
    });
}

/// The one folder of the pool.
fn waiting(project: &Project) -> PathBuf {
    let all = fs::read_dir(project.state().join("pool")).unwrap();
    let all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

#[test]
fn a_checkout_that_a_crash_left_half_cleaned_is_cleaned_from_the_beginning() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        let (clean, inode) = (everything(&first.root), fs::metadata(&first.root).unwrap().ino());
        end(&spaces, &first);
        drop(spaces);
        // As if somebody had been killed over it: a file not yet deleted, one not yet written,
        // one half written, and the lock of the git that was writing.
        let pooled = waiting(&project);
        let busy = pooled.with_extension("busy");
        fs::rename(&pooled, &busy).unwrap();
        write(&busy, "files/left.log", "secret\n");
        fs::remove_file(busy.join("files/run.sh")).unwrap();
        write(&busy, "files/README.md", "hel");
        write(&busy, "index.lock", "half");
        let spaces = project.open();
        let next = create(&spaces, "exec-2");
        assert_eq!(fs::metadata(&next.root).unwrap().ino(), inode, "it is the same folder");
        assert_eq!(everything(&next.root), clean);
        assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
        assert_eq!(files(&spaces, &next), Vec::<String>::new());
    });
}

#[test]
fn a_checkout_that_a_crash_left_on_its_way_is_never_used() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        end(&spaces, &first);
        drop(spaces);
        let pooled = waiting(&project);
        fs::rename(&pooled, pooled.with_extension("new")).unwrap();
        let spaces = project.open();
        let before = spaces.git_processes();
        let next = create(&spaces, "exec-2");
        assert_eq!(spaces.git_processes(), before + 1, "git writes every file");
        assert_eq!(read(&next.root, "README.md"), "hello\n");
        drop(spaces);
        assert_eq!(fs::read_dir(project.state().join("pool")).unwrap().count(), 0);
    });
}

#[test]
fn one_that_cannot_be_cleaned_makes_room_for_a_new_one() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        end(&spaces, &first);
        drop(spaces);
        fs::write(waiting(&project).join("index"), "no index\n").unwrap();
        let spaces = project.open();
        let next = create(&spaces, "exec-2");
        assert_eq!(read(&next.root, "README.md"), "hello\n");
        assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
    });
}

#[test]
fn an_edit_in_the_same_second_with_the_same_size_is_seen_whoever_had_the_file_before() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let mut place = create(&spaces, "exec-0");
        for round in 1..7_usize {
            // What the last one did to it has just been undone, or nothing was.
            if round % 3 > 0 {
                fs::write(place.root.join("README.md"), "other\n").unwrap();
            }
            end(&spaces, &place);
            place = create(&spaces, &format!("exec-{round}"));
            let path = place.root.join("README.md");
            let before = fs::metadata(&path).unwrap();
            fs::write(&path, "HELLO\n").unwrap();
            let touched = fs::File::options().write(true).open(&path).unwrap();
            let back = [touched.metadata().unwrap(), before].map(|found| found.modified().unwrap());
            touched.set_modified(back[round % 2]).unwrap();
            assert_eq!(git(&place.root, "status --porcelain"), " M README.md", "round {round}");
            assert_eq!(files(&spaces, &place), ["README.md"], "round {round}");
            let kept = keep(&spaces, &place);
            assert_eq!(project.git(&format!("show {}:README.md", kept.commit)), "HELLO");
        }
    });
}

#[test]
fn an_index_that_is_used_again_is_dated_so_that_git_reads_no_file() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        let newest = fs::metadata(first.root.join("README.md")).unwrap();
        // Only the clock can tell that a second is over.
        let written = newest.modified().unwrap();
        while SystemTime::now().duration_since(written).unwrap() < Duration::from_millis(1200) {
            thread::yield_now();
        }
        end(&spaces, &first);
        let next = create(&spaces, "exec-2");
        let index = fs::metadata(next.root.join(".git/index")).unwrap().mtime();
        assert!(index > newest.mtime(), "{index} is not after {}", newest.mtime());
        assert!(index <= newest.mtime() + 2, "{index} is long after {}", newest.mtime());
        fs::write(next.root.join("README.md"), "HELLO\n").unwrap();
        let touched = fs::File::options().write(true).open(next.root.join("README.md")).unwrap();
        touched.set_modified(written).unwrap();
        assert_eq!(git(&next.root, "status --porcelain"), " M README.md");
    });
}

#[test]
fn nothing_is_started_for_a_checkout_that_is_clean() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        write(&first.root, "new.log", "ignored\n");
        end(&spaces, &first);
        let before = spaces.git_processes();
        let next = create(&spaces, "exec-2");
        assert_eq!(spaces.git_processes(), before);
        assert_eq!(git(&next.root, "status --porcelain --ignored"), "");
        assert_eq!(git(&next.root, "rev-parse HEAD"), project.git("rev-parse HEAD"));
    });
}

#[test]
fn many_at_once_get_one_each_and_all_of_them_clean() {
    in_way(Wanted::Pool, || {
        let project = with_files();
        let spaces = project.open();
        let places: Vec<Place> =
            (0..6).map(|number| create(&spaces, &format!("exec-0-{number}"))).collect();
        let clean = everything(&places[0].root);
        for place in &places {
            soil(&project, &place.root);
            fs::remove_file(project.outside("a second name")).unwrap();
            end(&spaces, place);
        }
        let one = |number: usize| create(&spaces, &format!("exec-1-{number}"));
        let one = &one;
        let next: Vec<Place> = thread::scope(|scope| {
            let all: Vec<_> = (0..9).map(|number| scope.spawn(move || one(number))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut inodes: Vec<u64> =
            next.iter().map(|place| fs::metadata(&place.root).unwrap().ino()).collect();
        inodes.sort_unstable();
        inodes.dedup();
        assert_eq!(inodes.len(), 9);
        for place in &next {
            assert_eq!(everything(&place.root), clean);
            assert_eq!(git(&place.root, "status --porcelain --ignored"), "");
        }
    });
}

#[test]
fn a_shared_folder_of_the_last_attempt_is_shared_anew() {
    in_way(Wanted::Overlay, || {
        let project = with_files();
        project.write("build/cache.txt", "warm\n");
        let share = vec!["build".to_owned()];
        let options = Options { share, mechanism: Wanted::Pool, ..Options::default() };
        let spaces = project.open_exactly(&options);
        let first = create(&spaces, "exec-1");
        let inode = fs::metadata(&first.root).unwrap().ino();
        write(&first.root, "build/cache.txt", "secret\n");
        write(&first.root, "build/more.txt", "secret\n");
        end(&spaces, &first);
        let next = create(&spaces, "exec-2");
        assert_eq!(fs::metadata(&next.root).unwrap().ino(), inode);
        assert_eq!(read(&next.root, "build/cache.txt"), "warm\n");
        assert!(!next.root.join("build/more.txt").exists());
        assert_eq!(project.read("build/cache.txt"), "warm\n");
    });
}

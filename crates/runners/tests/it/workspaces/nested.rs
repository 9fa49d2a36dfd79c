//! Delegations below delegations: the base from the parent, the result back to it.

use std::process::Command;

use legation_runners::fence::Kernel;
use legation_runners::workspace::{From, Kept, Merge, Place, Spaces, Start};

use super::project::{
    Project, conflicts, create, files, git, in_every_way, keep, make_executable, note, read, start,
    wanted, write,
};

/// A delegation below `exec-1`, one attempt of which did something.
fn below(spaces: &Spaces, work: impl Fn(&Place)) -> Kept {
    spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
    let place = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    work(&place);
    let kept = keep(spaces, &place);
    assert!(matches!(spaces.merge("del-2", &kept).unwrap(), Merge::Clean { .. }));
    kept
}

#[test]
fn the_base_is_what_the_parent_has_committed() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        write(&parent.root, "committed.txt", "x\n");
        git(&parent.root, "add -A");
        git(&parent.root, "commit -q -m parent");
        write(&parent.root, "uncommitted.txt", "x\n");
        let head = git(&parent.root, "rev-parse HEAD");
        assert_eq!(spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap(), head);
        let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert!(child.root.join("committed.txt").exists());
        assert!(!child.root.join("uncommitted.txt").exists());
        assert_eq!(project.git("rev-parse refs/legation/del-1/base/del-2"), head);
        // It is fixed, however the parent goes on.
        git(&parent.root, "commit -q --allow-empty -m more");
        assert_eq!(spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap(), head);
    });
}

#[test]
fn where_the_parents_commits_cannot_be_read_nothing_else_is_taken_for_the_base() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        write(&parent.root, "committed.txt", "x\n");
        git(&parent.root, "add -A");
        git(&parent.root, "commit -q -m parent");
        let tree = git(&parent.root, "rev-parse HEAD^{tree}");
        let (folder, name) = tree.split_at(2);
        let objects = parent.root.join(".git/objects");
        std::fs::remove_file(objects.join(folder).join(name)).unwrap();
        let mut from = start("del-2", From::Attempt("exec-1".into()));
        let refused = spaces.begin(&from).unwrap_err().to_string();
        assert!(refused.contains("what exec-1 has committed cannot be read"), "{refused}");
        // Its files can.
        from.include_dirty = true;
        spaces.begin(&from).unwrap();
        let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_eq!(read(&child.root, "committed.txt"), "x\n");
    });
}

#[test]
fn uncommitted_files_belong_to_the_base_when_asked_for() {
    in_every_way(|| {
        let project = Project::new();
        project.write("untracked.txt", "user\n");
        project.write("README.md", "user\n");
        project.write("noise.log", "ignored\n");
        let before = project.untouchable();
        let spaces = project.open();
        let mut dirty = start("del-1", From::User);
        dirty.include_dirty = true;
        spaces.begin(&dirty).unwrap();
        let parent = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        assert_eq!(
            read(&parent.root, "README.md") + &read(&parent.root, "untracked.txt"),
            "user\nuser\n"
        );
        assert!(!parent.root.join("noise.log").exists());
        assert_eq!(project.untouchable(), before);
        write(&parent.root, "parent.txt", "parent\n");
        let mut dirty = start("del-2", From::Attempt("exec-1".into()));
        dirty.include_dirty = true;
        spaces.begin(&dirty).unwrap();
        let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        assert_eq!(read(&child.root, "parent.txt"), "parent\n");
        assert!(files(&spaces, &child).is_empty());
    });
}

#[test]
fn a_clean_parent_moves_forward_with_the_result() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        let kept = below(&spaces, |place| {
            write(&place.root, "README.md", "below\n");
            write(&place.root, "new.txt", "below\n");
        });
        let brought = spaces.bring(&parent, "del-2").unwrap();
        assert_eq!(brought, Merge::Clean { commit: kept.commit.clone() });
        assert_eq!(git(&parent.root, "rev-parse HEAD"), kept.commit);
        assert_eq!(git(&parent.root, "status --porcelain"), "");
        assert_eq!(read(&parent.root, "README.md"), "below\n");
        assert_eq!(files(&spaces, &parent), ["README.md", "new.txt"]);
        assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
        assert_eq!(keep(&spaces, &parent).commit, kept.commit);
        // What it delegates next starts from there.
        assert_eq!(
            spaces.begin(&start("del-3", From::Attempt("exec-1".into()))).unwrap(),
            kept.commit
        );
    });
}

#[test]
fn a_parent_with_work_of_its_own_gets_both() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        below(&spaces, |place| write(&place.root, "src/a.txt", "BELOW\ntwo\nthree\nfour\nfive\n"));
        write(&parent.root, "src/a.txt", "one\ntwo\nthree\nfour\nPARENT\n");
        write(&parent.root, "mine.txt", "mine\n");
        let head = git(&parent.root, "rev-parse HEAD");
        assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
        assert_eq!(read(&parent.root, "src/a.txt"), "BELOW\ntwo\nthree\nfour\nPARENT\n");
        assert_eq!(read(&parent.root, "mine.txt"), "mine\n");
        assert_eq!(git(&parent.root, "rev-parse HEAD"), head);
        assert_eq!(files(&spaces, &parent), ["mine.txt", "src/a.txt"]);
    });
}

#[test]
fn a_conflict_with_the_parent_changes_nothing() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        below(&spaces, |place| write(&place.root, "README.md", "below\n"));
        write(&parent.root, "README.md", "parent\n");
        assert_eq!(conflicts(spaces.bring(&parent, "del-2").unwrap()), ["README.md"]);
        assert_eq!(read(&parent.root, "README.md"), "parent\n");
        assert_eq!(git(&parent.root, "status --porcelain"), " M README.md");
    });
}

#[test]
fn nothing_is_brought_from_a_delegation_without_a_result() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
        assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
        assert_eq!(spaces.keep(&parent, &note()).unwrap(), None);
    });
}

/// A delegation on the parent's uncommitted files, one attempt of which did something.
fn below_dirty(spaces: &Spaces, work: impl Fn(&Place)) {
    let mut dirty = start("del-2", From::Attempt("exec-1".into()));
    dirty.include_dirty = true;
    spaces.begin(&dirty).unwrap();
    let place = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    work(&place);
    assert!(matches!(spaces.merge("del-2", &keep(spaces, &place)).unwrap(), Merge::Clean { .. }));
}

/// A parent with uncommitted files: one changed, three new, of which one is staged.
fn dirty_parent(spaces: &Spaces) -> Place {
    let parent = create(spaces, "exec-1");
    write(&parent.root, "README.md", "parent\n");
    write(&parent.root, "u.txt", "u\n");
    write(&parent.root, "junk.txt", "junk\n");
    write(&parent.root, "staged.txt", "staged\n");
    git(&parent.root, "add staged.txt");
    parent
}

#[test]
fn work_on_uncommitted_files_of_the_parent_is_measured_by_them() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = dirty_parent(&spaces);
        let head = git(&parent.root, "rev-parse HEAD");
        below_dirty(&spaces, |place| {
            write(&place.root, "u.txt", "u\nkid\n");
            write(&place.root, "README.md", "hello\n");
            std::fs::remove_file(place.root.join("junk.txt")).unwrap();
            std::fs::remove_file(place.root.join("staged.txt")).unwrap();
        });
        // Meanwhile the parent went on elsewhere.
        write(&parent.root, "more.txt", "more\n");
        assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
        assert_eq!(
            read(&parent.root, "u.txt") + &read(&parent.root, "README.md"),
            "u\nkid\nhello\n"
        );
        assert!(!parent.root.join("junk.txt").exists() && !parent.root.join("staged.txt").exists());
        assert_eq!(files(&spaces, &parent), ["more.txt", "u.txt"]);
        assert_eq!(git(&parent.root, "rev-parse HEAD"), head);
        assert_eq!(git(&parent.root, "status --porcelain"), "AD staged.txt\n?? more.txt\n?? u.txt");
        assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
    });
}

#[test]
fn what_the_parent_changed_meanwhile_in_the_same_place_is_a_conflict() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = dirty_parent(&spaces);
        below_dirty(&spaces, |place| {
            write(&place.root, "u.txt", "kid\n");
            std::fs::remove_file(place.root.join("junk.txt")).unwrap();
        });
        write(&parent.root, "u.txt", "parent again\n");
        assert_eq!(conflicts(spaces.bring(&parent, "del-2").unwrap()), ["u.txt"]);
        assert_eq!(
            read(&parent.root, "u.txt") + &read(&parent.root, "junk.txt"),
            "parent again\njunk\n"
        );
    });
}

#[test]
fn a_parent_that_has_committed_its_files_meanwhile_moves_on_with_the_result() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = dirty_parent(&spaces);
        below_dirty(&spaces, |place| write(&place.root, "u.txt", "u\nkid\n"));
        git(&parent.root, "add -A");
        git(&parent.root, "commit -q -m all");
        assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
        assert_eq!(read(&parent.root, "u.txt") + &read(&parent.root, "junk.txt"), "u\nkid\njunk\n");
        assert_eq!(git(&parent.root, "status --porcelain"), "");
        assert_eq!(spaces.bring(&parent, "del-2").unwrap(), Merge::Nothing);
    });
}

#[test]
fn a_nested_result_does_not_overwrite_what_its_parent_has_and_git_ignores() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let parent = create(&spaces, "exec-1");
        write(&parent.root, "secret.log", "mine\n");
        write(&parent.root, "build/out.txt", "mine\n");
        spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
        let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        write(&child.root, "secret.log", "theirs\n");
        write(&child.root, "build", "a file\n");
        git(&child.root, "add -f secret.log build");
        spaces.merge("del-2", &keep(&spaces, &child)).unwrap();
        let found = conflicts(spaces.bring(&parent, "del-2").unwrap());
        assert_eq!(found, ["build/out.txt", "secret.log"]);
        let kept = read(&parent.root, "secret.log") + &read(&parent.root, "build/out.txt");
        assert_eq!(kept, "mine\nmine\n");
    });
}

#[test]
fn a_nested_result_that_cannot_be_written_everywhere_leaves_the_parent_as_it_was() {
    let project = Project::new();
    for path in ["a/f", "b/f", "c/f"] {
        project.write(path, "old\n");
    }
    project.commit("files");
    let spaces = project.open();
    let parent = create(&spaces, "exec-1");
    write(&parent.root, "a/f", "old\nof the parent\n");
    let from = From::Attempt("exec-1".into());
    spaces.begin(&Start { include_dirty: true, ..start("del-2", from) }).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    for path in ["a/f", "b/f", "c/f", "a/new", "b/new", "c/new"] {
        write(&child.root, path, "of the child\n");
    }
    spaces.merge("del-2", &keep(&spaces, &child)).unwrap();
    // One folder of the parent may not be written to.
    let closed = parent.root.join("b");
    let mount = |args: &[&str]| {
        let closed = [closed.as_path()];
        let mut command = Command::new("mount");
        command.args(args).args(closed).status().is_ok_and(|ended| ended.success())
    };
    if !mount(&["--bind", closed.to_str().unwrap()]) {
        eprintln!("SKIPPED: nothing can be mounted here");
        return;
    }
    assert!(mount(&["-o", "remount,ro,bind"]));
    let before = files(&spaces, &parent);
    let refused = spaces.bring(&parent, "del-2").unwrap_err().to_string();
    assert!(refused.starts_with("git read-tree failed"), "{refused}");
    assert!(!refused.contains("not as they were"), "{refused}");
    assert_eq!(read(&parent.root, "a/f"), "old\nof the parent\n");
    assert_eq!(read(&parent.root, "c/f"), "old\n");
    assert_eq!(files(&spaces, &parent), before);
    assert!(Command::new("umount").arg(&closed).status().unwrap().success());
    assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
    assert_eq!(read(&parent.root, "a/f"), "of the child\n");
}

/// Where the project of the child is, and its state.
const NEST_IN: &str = "RUNNERS_TEST_NEST_IN";

/// The child of the test below. On its own it does nothing.
#[test]
fn a_process_delegates_from_a_workspace() {
    let Ok(order) = std::env::var(NEST_IN) else { return };
    let (dir, state) = order.split_once('\n').unwrap();
    let spaces = Project::open_as(dir.as_ref(), state.as_ref());
    let parent = spaces.find("exec-1").unwrap().unwrap();
    write(&parent.root, "README.md", "mine\n");
    let dirty = start("del-2", From::Attempt("exec-1".into()));
    spaces.begin(&Start { include_dirty: true, ..dirty }).unwrap();
    let child = spaces.create(&wanted("del-2", "exec-2")).unwrap();
    write(&child.root, "src/new.txt", "below\n");
    let kept = keep(&spaces, &child);
    assert!(matches!(spaces.merge("del-2", &kept).unwrap(), Merge::Clean { .. }));
    assert!(matches!(spaces.bring(&parent, "del-2").unwrap(), Merge::Clean { .. }));
}

#[test]
fn git_is_fenced_in_among_the_files_of_who_is_at_work() {
    if let Some(why) = &Kernel::current().obstacle {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let project = Project::new();
    project.write("noise.log", "secret\n");
    let spaces = project.open();
    let parent = create(&spaces, "exec-1");
    drop(spaces);
    // What a link would lead it to, wherever it looks at these files.
    let (folder, hooks) = (project.outside("bin"), project.dir().join(".git/hooks"));
    let secret = project.dir().join("noise.log");
    let script = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \"$PWD\" in '{}')\n\
         cp '{}' stolen-$$.txt; echo x > '{}'/pre-commit; echo $* >> told.txt;; esac\n\
         exec git \"$@\"\n",
        parent.root.display(),
        secret.display(),
        hooks.display()
    );
    write(&folder, "git", &script);
    make_executable(&folder.join("git"));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let order = format!("{}\n{}", project.dir().display(), project.state().display());
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "workspaces::nested::a_process_delegates_from_a_workspace"])
        .env(NEST_IN, order)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    let told = read(&parent.root, "told.txt");
    assert!(told.contains(" update-index ") && told.contains(" read-tree "), "{told}");
    assert!(!hooks.join("pre-commit").exists());
    let names = std::fs::read_dir(&parent.root).unwrap().map(|entry| entry.unwrap().path());
    let mut stolen = names.filter(|path| path.to_string_lossy().contains("stolen-"));
    // The shell makes the file before it is refused what was to be in it.
    assert!(stolen.all(|path| std::fs::read(path).unwrap().is_empty()));
    assert_eq!(read(&parent.root, "src/new.txt"), "below\n");
}

#[test]
fn what_only_somebody_else_has_is_no_base_whatever_a_child_names() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let other = create(&spaces, "exec-0");
        project.write("stashed.txt", "stashed\n");
        project.git("stash push -q --include-untracked");
        write(&other.root, "secret.txt", "secret\n");
        let secret = keep(&spaces, &other).commit;
        let stash = project.git("rev-parse refs/stash");
        let parent = create(&spaces, "exec-1");
        let from = start("del-2", From::Attempt("exec-1".into()));
        let head = parent.root.join(".git/HEAD");
        for id in [&secret, &stash] {
            std::fs::write(&head, format!("{id}\n")).unwrap();
            assert!(spaces.begin(&from).is_err(), "{id}");
            assert_eq!(spaces.look(&parent).unwrap().commits, Vec::<String>::new());
        }
        // Nor what the names of others lead to.
        std::fs::remove_dir_all(parent.root.join(".git/refs")).unwrap();
        let refs = project.dir().join(".git/refs");
        std::os::unix::fs::symlink(refs, parent.root.join(".git/refs")).unwrap();
        std::fs::write(&head, "ref: refs/stash\n").unwrap();
        assert!(spaces.begin(&from).is_err());
        write(&parent.root, "mine.txt", "mine\n");
        let kept = keep(&spaces, &parent);
        let files = project.git(&format!("ls-tree -r --name-only {}", kept.commit));
        assert_eq!(files, ".gitignore\nREADME.md\nmine.txt\nsrc/a.txt");
        let history = project.git(&format!("rev-list {}", kept.commit));
        assert!(!history.contains(&secret) && !history.contains(&stash), "{history}");
    });
}

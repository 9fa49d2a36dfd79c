//! Children that lie about, break or booby-trap what is theirs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use legation_runners::workspace::{From, Merge, Place, Seen, Spaces};

use super::project::{
    Project, create, files, git, git_args, in_every_way, keep, make_executable, merge, note, start,
    wanted, write,
};

/// Everything that is ever done with a workspace.
fn all_that_is_done(spaces: &Spaces, place: &Place) {
    spaces.look(place).unwrap();
    let mut nested = start("del-2", From::Attempt(place.attempt.clone()));
    nested.include_dirty = true;
    spaces.begin(&nested).unwrap();
    let below = spaces.create(&wanted("del-2", "exec-below")).unwrap();
    write(&below.root, "from below.txt", "x\n");
    let kept = keep(spaces, &below);
    spaces.merge("del-2", &kept).unwrap();
    spaces.bring(place, "del-2").unwrap();
    let kept = keep(spaces, place);
    merge(spaces, &kept);
    spaces.diff("del-1", None).unwrap();
    spaces.remove(place).unwrap();
}

#[test]
fn nothing_that_a_child_names_is_ever_run() {
    in_every_way(|| {
        let project = Project::new();
        // A real submodule, because git looks into those by itself.
        let other = project.outside("other");
        fs::create_dir(&other).unwrap();
        git(&other, "init -q -b main .");
        write(&other, "inner.txt", "x\n");
        git(&other, "add -A");
        git(&other, "-c user.name=a -c user.email=a@b commit -q -m inner");
        let source = other.to_str().unwrap();
        let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "sub"];
        git_args(&project.dir(), &add);
        project.commit("submodule");
        let marker = project.outside("executed");
        let trap = project.outside("trap.sh");
        fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display())).unwrap();
        make_executable(&trap);
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        git_args(&place.root, &["clone", "-q", source, "nested"]);
        git(&place.root, "init -q without-a-commit");
        fs::remove_dir_all(place.root.join("sub")).unwrap();
        git_args(&place.root, &["clone", "-q", source, "sub"]);
        for folder in ["", "nested", "without-a-commit", "sub"] {
            let folder = place.root.join(folder);
            write(&folder, "inner.txt", "changed\n");
            write(&folder, ".gitattributes", "* filter=trap diff=trap merge=trap\n");
            set_traps(&folder, trap.to_str().unwrap());
        }
        // A child's own git does walk into its own trap: the traps are live.
        let status = Command::new("git").current_dir(&place.root).args(["add", "-A", "."]).output();
        assert!(status.is_ok() && marker.exists());
        fs::remove_file(&marker).unwrap();
        all_that_is_done(&spaces, &place);
        assert!(!marker.exists());
        let shown = project.git("show refs/legation/del-1/exec-1:nested/inner.txt");
        assert_eq!(shown, "changed");
        let shown = project.git("show refs/legation/del-1/foreign/exec-1:sub/inner.txt");
        assert_eq!(shown, "changed");
    });
}

fn set_traps(folder: &Path, trap: &str) {
    let keys = [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "diff.trap.command",
        "diff.trap.textconv",
        "diff.external",
        "merge.trap.driver",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "credential.helper",
    ];
    for key in keys {
        git_args(folder, &["config", key, trap]);
    }
    let hooks = folder.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
        fs::copy(trap, hooks.join(hook)).unwrap();
    }
}

#[test]
fn a_child_that_deletes_its_repository_loses_only_its_commits() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        fs::remove_dir_all(place.root.join(".git")).unwrap();
        let seen = spaces.look(&place).unwrap();
        let files_changed = vec!["work.txt".to_owned()];
        assert_eq!(seen, Seen { exists: true, files_changed, ..Seen::default() });
        let kept = keep(&spaces, &place);
        assert!(
            project.git(&format!("log -1 {}", kept.commit)).contains("Legation-History: unusable")
        );
        assert_eq!(project.git(&format!("show {}:work.txt", kept.commit)), "x");
    });
}

#[test]
fn a_child_that_deletes_its_workspace_deletes_nothing_else() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        // The top of an overlay cannot be deleted or replaced, everything in it can.
        drop(fs::remove_dir_all(&place.root));
        assert_eq!(spaces.look(&place).unwrap(), Seen::default());
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
        drop(symlink(project.dir(), &place.root));
        assert_eq!(spaces.look(&place).unwrap(), Seen::default());
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
        spaces.remove(&place).unwrap();
        assert_eq!(project.read("README.md"), "hello\n");
    });
}

#[test]
fn a_repository_that_makes_no_sense_is_an_answer() {
    in_every_way(|| {
        type Break = fn(&Path);
        let ways: &[(&str, Break)] = &[
            ("a file", |dir| {
                fs::remove_dir_all(dir).unwrap();
                fs::write(dir, "gitdir: /tmp\n").unwrap();
            }),
            ("no head", |dir| fs::remove_file(dir.join("HEAD")).unwrap()),
            ("a head elsewhere", |dir| fs::write(dir.join("HEAD"), "ref: ../../../x\n").unwrap()),
            ("a head that is no text", |dir| fs::write(dir.join("HEAD"), [0xff, 0xfe]).unwrap()),
            ("a huge head", |dir| fs::write(dir.join("HEAD"), "a".repeat(1 << 20)).unwrap()),
            ("a commit that is not there", |dir| {
                fs::write(dir.join("HEAD"), "1".repeat(40)).unwrap();
            }),
            ("a head in a circle", |dir| {
                fs::write(dir.join("HEAD"), "ref: refs/a\n").unwrap();
                fs::write(dir.join("refs/a"), "ref: refs/a\n").unwrap();
            }),
            ("a pipe for a head", |dir| {
                fs::remove_file(dir.join("HEAD")).unwrap();
                let made = Command::new("mkfifo").arg(dir.join("HEAD")).status().unwrap();
                assert!(made.success());
            }),
        ];
        for (number, (way, damage)) in ways.iter().enumerate() {
            let project = Project::new();
            let spaces = project.open();
            let place = create(&spaces, &format!("exec-{number}"));
            write(&place.root, "work.txt", "x\n");
            damage(&place.root.join(".git"));
            let seen = spaces.look(&place).unwrap();
            assert_eq!((seen.history_usable, seen.files_changed.len()), (false, 1), "{way}");
            assert_eq!(keep(&spaces, &place).base, place.base, "{way}");
            spaces.remove(&place).unwrap();
        }
    });
}

#[test]
fn commits_whose_objects_are_gone_do_not_take_the_files_with_them() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "precious\n");
        git(&place.root, "add -A");
        let blob = git(&place.root, "rev-parse :work.txt");
        git(&place.root, "commit -q -m work");
        let (folder, name) = blob.split_at(2);
        fs::remove_file(place.root.join(".git/objects").join(folder).join(name)).unwrap();
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:work.txt", kept.commit)), "precious");
        assert_eq!(project.git(&format!("rev-parse {}^", kept.commit)), place.base);
        project.git("fsck --strict");
    });
}

#[test]
fn an_object_that_lies_about_its_name_is_not_believed() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "a.txt", "good\n");
        write(&place.root, "b.txt", "evil\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m work");
        let object = |path: &str| {
            let id = git(&place.root, &format!("rev-parse HEAD:{path}"));
            let (folder, name) = id.split_at(2);
            place.root.join(".git/objects").join(folder).join(name)
        };
        fs::remove_file(object("a.txt")).unwrap();
        fs::copy(object("b.txt"), object("a.txt")).unwrap();
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:a.txt", kept.commit)), "good");
        project.git("fsck --strict");
    });
}

#[test]
fn a_history_that_left_the_base_is_kept_and_can_be_merged() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        git(&place.root, "checkout -q --orphan fresh");
        write(&place.root, "work.txt", "x\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m orphan");
        let kept = keep(&spaces, &place);
        let parents = project.git(&format!("rev-parse {0}^1 {0}^2^0", kept.commit));
        assert_eq!(parents, format!("{}\n{}", place.base, git(&place.root, "rev-parse HEAD")));
        let commit = merge(&spaces, &kept);
        assert_eq!(project.git(&format!("diff --name-only main {commit}")), "work.txt");
    });
}

#[test]
fn what_a_child_closed_to_itself_is_opened() {
    in_every_way(|| {
        use std::os::unix::fs::PermissionsExt;
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "closed/secret.txt", "x\n");
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(place.root.join("closed/secret.txt"), closed.clone()).unwrap();
        fs::set_permissions(place.root.join("closed"), closed).unwrap();
        assert_eq!(files(&spaces, &place), ["closed/secret.txt"]);
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:closed/secret.txt", kept.commit)), "x");
        spaces.remove(&place).unwrap();
    });
}

#[test]
fn a_parent_that_laid_links_in_its_repository_gets_nothing_written_through_them() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        spaces.begin(&start("del-2", From::Attempt("exec-1".into()))).unwrap();
        let below = spaces.create(&wanted("del-2", "exec-2")).unwrap();
        write(&below.root, "new.txt", "x\n");
        spaces.merge("del-2", &keep(&spaces, &below)).unwrap();
        let stolen = project.outside("stolen");
        let moved = Command::new("mv").arg(place.root.join(".git/refs")).arg(&stolen).status();
        assert!(moved.unwrap().success());
        symlink(&stolen, place.root.join(".git/refs")).unwrap();
        let before = git(&place.root, "rev-parse HEAD");
        assert!(matches!(spaces.bring(&place, "del-2").unwrap(), Merge::Clean { .. }));
        assert_eq!(files(&spaces, &place), ["new.txt"]);
        assert_eq!(git(&place.root, "rev-parse HEAD"), before);
    });
}

#[test]
fn attributes_that_say_what_is_not_so_keep_no_work_from_being_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, ".gitattributes", "*.dat working-tree-encoding=UTF-16\n");
        write(&place.root, "x.dat", "plain\n");
        write(&place.root, "work.txt", "mine\n");
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:x.dat", kept.commit)), "plain");
        assert_eq!(project.git(&format!("show {}:work.txt", kept.commit)), "mine");
    });
}

//! What lies in a workspace and leads elsewhere or nowhere: links to the repositories of
//! others, and pipes that nobody ever writes to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::project::{Project, create, git, in_every_way, keep, write};

fn pipe(path: &Path) {
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn git_waits_for_no_pipe_where_it_looks_for_rules() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "src/new.txt", "new\n");
        write(&place.root, "README.md", "HELLO\n");
        for name in [".gitattributes", ".gitignore", "src/.gitattributes", "src/.gitignore"] {
            pipe(&place.root.join(name));
        }
        spaces.look(&place).unwrap();
        let kept = keep(&spaces, &place);
        let named = project.git(&format!("diff --name-only {} {}", place.base, kept.commit));
        assert_eq!(named, ".gitignore\nREADME.md\nsrc/new.txt");
        spaces.remove(&place).unwrap();
    });
}

#[test]
fn objects_that_lead_elsewhere_or_nowhere_are_not_lent_and_the_files_are_kept() {
    type Damage = fn(&Path, &str);
    let ways: &[(&str, Damage)] = &[
        ("a pipe for an object", |objects, commit| {
            let (folder, name) = commit.split_at(2);
            pipe(&objects.join(folder).join(name));
        }),
        ("a pipe for the lenders", |objects, _| pipe(&objects.join("info/alternates"))),
        ("another lender", |objects, _| {
            fs::write(objects.join("info/alternates"), "/nowhere\n").unwrap();
        }),
        ("a link among them", |objects, _| symlink("/nowhere", objects.join("pack/x")).unwrap()),
        ("a link for all of them", |objects, _| {
            let elsewhere = objects.with_file_name("moved");
            fs::rename(objects, &elsewhere).or_else(|_| copy(objects, &elsewhere)).unwrap();
            drop(fs::remove_dir_all(objects));
            symlink(elsewhere, objects).unwrap();
        }),
    ];
    in_every_way(|| {
        for (way, damage) in ways {
            let project = Project::new();
            let spaces = project.open();
            let place = create(&spaces, "exec-1");
            write(&place.root, "work.txt", "precious\n");
            git(&place.root, "add -A");
            git(&place.root, "commit -q -m work");
            let commit = git(&place.root, "rev-parse HEAD");
            let objects = place.root.join(".git/objects");
            fs::create_dir_all(objects.join("pack")).unwrap();
            damage(&objects, &commit);
            assert!(!spaces.look(&place).unwrap().history_usable, "{way}");
            let kept = keep(&spaces, &place);
            assert_eq!(project.git(&format!("show {}:work.txt", kept.commit)), "precious", "{way}");
            assert_eq!(project.git(&format!("rev-parse {}^", kept.commit)), place.base, "{way}");
            spaces.remove(&place).unwrap();
        }
    });
}

/// Where a folder of the base cannot be renamed.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    Command::new("cp").arg("-a").args([from, to]).status().map(drop)
}

#[test]
fn a_link_to_the_repository_of_another_brings_nothing_of_it() {
    in_every_way(|| {
        let (project, other) = (Project::new(), Project::new());
        other.git("checkout -q -b hidden");
        other.write("secret.txt", "secret\n");
        other.commit("hidden");
        other.git("checkout -q main");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        fs::remove_dir_all(place.root.join(".git")).unwrap();
        symlink(other.dir().join(".git"), place.root.join(".git")).unwrap();
        let seen = spaces.look(&place).unwrap();
        assert_eq!((seen.history_usable, seen.commits.len()), (false, 0));
        keep(&spaces, &place);
        let names = project.git("for-each-ref --format=%(refname) refs/legation");
        assert_eq!(names, "refs/legation/del-1/exec-1");
        spaces.remove(&place).unwrap();
    });
}

#[test]
fn what_the_child_has_put_under_gits_care_is_work_although_it_is_ignored() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        for name in ["build/committed.txt", "build/staged.txt", "build/left.txt", "other.txt"] {
            write(&place.root, name, "x\n");
        }
        git(&place.root, "add -f build/committed.txt");
        git(&place.root, "commit -q -m forced");
        git(&place.root, "rm -q --cached build/committed.txt");
        git(&place.root, "add -f build/staged.txt");
        let kept = keep(&spaces, &place);
        let named = project.git(&format!("diff --name-only {} {}", place.base, kept.commit));
        assert_eq!(named, "build/committed.txt\nbuild/staged.txt\nother.txt");
        spaces.remove(&place).unwrap();
    });
}

//! What the user calls commits, and that those who work may call them the same.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::borrowed::{assert_whole, elsewhere, objects};
use super::project::{
    Project, begin, create, files, git, git_args, in_every_way, keep, merge, note, write,
};

/// A branch with a commit of its own.
fn branch(project: &Project, name: &str) {
    project.git(&format!("checkout -q -b {name} main"));
    project.write("README.md", &format!("{name}\n"));
    project.commit(name);
    project.git("checkout -q main");
}

#[test]
fn who_works_finds_the_names_of_the_user_and_none_of_ours() {
    in_every_way(|| {
        let project = Project::new();
        branch(&project, "side");
        branch(&project, "deep/er");
        let other = Project::new();
        branch(&other, "theirs");
        let from = other.dir().to_string_lossy().into_owned();
        let names = ["origin/main", "origin/legation/x", "legation/main"];
        let fetched = names.map(|name| format!("theirs:refs/remotes/{name}"));
        let fetched = fetched.each_ref().map(String::as_str);
        git_args(&project.dir(), &[&["fetch", "-q", &from], &fetched[..]].concat());
        project.git("tag -a -m said v1 side");
        project.git("pack-refs --all");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "mine.txt", "mine\n");
        let kept = keep(&spaces, &place);
        merge(&spaces, &kept);
        // One that comes later.
        branch(&project, "late");
        let found = elsewhere(&spaces, "del-2", "exec-2");
        let found_by = ["main", "side", "deep/er", "origin/main", "legation/main", "v1", "v1^{}"];
        for name in found_by.into_iter().chain(["late"]) {
            let id = project.git(&format!("rev-parse {name}"));
            assert_eq!(git(&found.root, &format!("rev-parse {name}")), id, "{name}");
        }
        assert_eq!(git(&found.root, "describe side"), "v1");
        git(&found.root, "log -p --all");
        let ours = "for-each-ref --format=%(refname:short) refs/heads/legation refs/remotes";
        let own = ["origin/main", "legation/main", "legation/del-2/Fix--the-parser/exec-2"];
        let mut own = own.to_vec();
        own.sort_unstable();
        let mut named: Vec<String> = git(&found.root, ours).lines().map(str::to_owned).collect();
        named.sort_unstable();
        assert_eq!(named, own);
        assert_whole(&found);
        assert!(!objects(&found.root).contains(&kept.commit));
        // They are no work of whoever has them.
        assert_eq!(files(&spaces, &found), Vec::<String>::new());
        assert!(spaces.keep(&found, &note()).unwrap().is_none());
    });
}

#[test]
fn names_that_are_moved_in_a_workspace_stay_where_they_are_elsewhere() {
    in_every_way(|| {
        let project = Project::new();
        branch(&project, "side");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let (main, side) = (project.git("rev-parse main"), project.git("rev-parse side"));
        write(&place.root, "more.txt", "more\n");
        git(&place.root, "checkout -q main");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m more");
        git(&place.root, "branch -f side main~0");
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:more.txt", kept.commit)), "more");
        merge(&spaces, &kept);
        let next = elsewhere(&spaces, "del-2", "exec-2");
        for folder in [project.dir(), next.root] {
            assert_eq!(git(&folder, "rev-parse main"), main);
            assert_eq!(git(&folder, "rev-parse side"), side);
        }
    });
}

#[test]
fn a_branch_of_the_user_that_somebody_built_on_is_kept_beside_the_work() {
    let project = Project::new();
    branch(&project, "side");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    git(&place.root, "checkout -q side");
    write(&place.root, "README.md", "side, better\n");
    git(&place.root, "commit -q -a -m better");
    let better = git(&place.root, "rev-parse HEAD");
    git(&place.root, "checkout -q legation/del-1/Fix--the-parser/exec-1");
    write(&place.root, "mine.txt", "mine\n");
    keep(&spaces, &place);
    let beside = "refs/legation/del-1/beside/exec-1/";
    let named = project.git(&format!("for-each-ref --format=%(refname) {beside}"));
    assert_eq!(named, format!("{beside}heads/side"));
    assert_eq!(project.git(&format!("rev-parse {named}")), better);
}

#[test]
fn names_in_an_old_encoding_and_locks_hinder_nobody() {
    in_every_way(|| {
        let project = Project::new();
        let refs = project.dir().join(".git/refs");
        let main = fs::read(refs.join("heads/main")).unwrap();
        fs::write(refs.join("heads").join(OsStr::from_bytes(b"caf\xe9")), &main).unwrap();
        project.git("pack-refs --all");
        fs::write(refs.join("tags").join(OsStr::from_bytes(b"th\xe9")), &main).unwrap();
        fs::write(refs.join("heads/main.lock"), &main).unwrap();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(place.base, project.git("rev-parse main"));
        let named = "for-each-ref --format=%(refname:short) refs";
        let own = "legation/del-1/Fix--the-parser/exec-1\nmain";
        assert_eq!(git(&place.root, named), own);
    });
}

#[test]
fn where_a_link_leads_to_packed_names_they_are_those_that_count() {
    let project = Project::new();
    project.git("pack-refs --all");
    let away = project.outside("names");
    fs::rename(project.dir().join(".git/packed-refs"), &away).unwrap();
    symlink(&away, project.dir().join(".git/packed-refs")).unwrap();
    let spaces = project.open();
    let main = project.git("rev-parse main");
    assert_eq!(begin(&spaces, "del-1"), main);
    let place = create(&spaces, "exec-1");
    assert_eq!(git(&place.root, "rev-parse main"), main);
}

#[test]
fn only_so_many_tags_are_lent_and_those_of_git_are_all_there() {
    let project = Project::new();
    let main = project.git("rev-parse main");
    let mut packed: Vec<String> =
        (0..5_000).map(|at| format!("{main} refs/tags/t{at}\n")).collect();
    packed.push(format!("{main} refs/heads/main\n"));
    packed.sort_by_key(|line| line.split(' ').nth(1).unwrap().to_owned());
    let head = "# pack-refs with: sorted \n".to_owned();
    fs::write(project.dir().join(".git/packed-refs"), head + &packed.concat()).unwrap();
    fs::remove_file(project.dir().join(".git/refs/heads/main")).unwrap();
    let place = create(&project.open(), "exec-1");
    assert_eq!(git(&place.root, "tag --list").lines().count(), 1024);
    assert_eq!(git(&place.root, "rev-parse main"), main);
    assert_eq!(project.git("tag --list").lines().count(), 5_000);
}

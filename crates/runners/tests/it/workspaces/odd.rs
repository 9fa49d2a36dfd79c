//! Repositories with something special in them, in every way of making workspaces.

use std::path::Path;

use legation_runners::workspace::How;

use super::project::{
    Project, create, files, git, git_args, in_every_way, keep, merge, read, write,
};

#[test]
fn a_sparse_checkout_stays_sparse_and_loses_nothing() {
    in_every_way(|| {
        for cone in ["--cone", "--no-cone"] {
            let project = Project::new();
            project.write("wanted/a.txt", "x\n");
            project.write("left out/b.txt", "x\n");
            project.commit("two");
            git_args(&project.dir(), &["sparse-checkout", "set", cone, "wanted"]);
            let spaces = project.open();
            let place = create(&spaces, "exec-1");
            assert!(place.root.join("wanted/a.txt").exists(), "{cone}");
            assert!(!place.root.join("left out").exists(), "{cone}");
            assert_eq!(files(&spaces, &place), Vec::<String>::new(), "{cone}");
            assert_eq!(git(&place.root, "status --porcelain"), "", "{cone}");
            write(&place.root, "wanted/new.txt", "x\n");
            merge(&spaces, &keep(&spaces, &place));
            let diff = project.git("diff --name-status main legation/del-1/result");
            assert_eq!(diff, "A\twanted/new.txt", "{cone}");
            spaces.apply("del-1", How::Auto).unwrap();
            assert_eq!(project.read("wanted/new.txt"), "x\n");
            assert!(project.git("ls-tree -r --name-only HEAD").contains("left out/b.txt"));
        }
    });
}

#[test]
fn a_project_with_an_odd_path_works_like_any_other() {
    in_every_way(|| {
        let project = Project::new();
        for name in ["with, comma:colon", "mit Umlaut öäü", "quote\"back\\slash"] {
            let folder = project.outside(name);
            git_args(&project.dir(), &["clone", "-q", ".", &folder.to_string_lossy()]);
            let state = project.outside(&format!("state {name}"));
            round(&folder, &state);
        }
    });
}

fn round(folder: &Path, state: &Path) {
    let spaces = Project::open_as(folder, state);
    let place = create(&spaces, "exec-1");
    assert_eq!(git(&place.root, "status --porcelain"), "", "{folder:?}");
    write(&place.root, "work.txt", "x\n");
    merge(&spaces, &keep(&spaces, &place));
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(read(folder, "work.txt"), "x\n", "{folder:?}");
    spaces.remove(&place).unwrap();
    assert!(!place.root.exists(), "{folder:?}");
}

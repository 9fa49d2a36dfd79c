//! Repositories with something special in them, in every way of making workspaces.

use std::fs;
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
fn a_pointer_to_a_large_file_stays_a_pointer_and_runs_nothing() {
    in_every_way(|| {
        let project = Project::new();
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
        project.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
        project.write("large.bin", pointer);
        project.commit("large");
        let trap = project.outside("smudged");
        let trapped = format!("touch {}; cat", trap.display());
        for name in ["smudge", "clean", "process"] {
            git_args(&project.dir(), &["config", &format!("filter.lfs.{name}"), &trapped]);
        }
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(read(&place.root, "large.bin"), pointer);
        write(&place.root, "other.bin", pointer);
        assert_eq!(files(&spaces, &place), ["other.bin"]);
        let kept = keep(&spaces, &place);
        merge(&spaces, &kept);
        assert_eq!(project.git(&format!("show {}:other.bin", kept.commit)), pointer.trim_end());
        assert!(!trap.exists(), "no filter ran");
    });
}

#[test]
fn a_submodule_is_a_place_that_nothing_is_fetched_for() {
    in_every_way(|| {
        let project = Project::new();
        let inner = project.outside("inner");
        fs::create_dir(&inner).unwrap();
        git(&inner, "init -q -b main .");
        write(&inner, "inside.txt", "x\n");
        git(&inner, "add -A");
        git_args(&inner, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x"]);
        let from = inner.to_string_lossy().into_owned();
        let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", &from, "sub"];
        git_args(&project.dir(), &add);
        project.commit("sub");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert!(place.root.join("sub").is_dir());
        assert_eq!(fs::read_dir(place.root.join("sub")).unwrap().count(), 0);
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        let diff = project.git("diff --name-status main legation/del-1/result");
        assert_eq!(diff, "A\twork.txt");
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

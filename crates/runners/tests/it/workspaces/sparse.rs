//! Checkouts that have only a part of the files.

use legation_runners::workspace::{From, How};

use super::project::{Project, in_every_way, keep, merge, start, wanted, write};

#[test]
fn work_outside_of_a_sparse_checkout_is_written_beside_uncommitted_files() {
    in_every_way(|| {
        let project = Project::new();
        project.write("a/a", "a\n");
        project.write("b/b", "b\n");
        project.write("b/c", "c\n");
        project.commit("both");
        project.git("sparse-checkout set a");
        project.write("a/a", "not committed\n");
        let spaces = project.open();
        let mut dirty = start("del-1", From::User);
        dirty.include_dirty = true;
        spaces.begin(&dirty).unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        write(&place.root, "b/n", "new\n");
        write(&place.root, "b/b", "B\n");
        write(&place.root, "a/z", "z\n");
        merge(&spaces, &keep(&spaces, &place));
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(applied.files, ["a/z", "b/b", "b/n"]);
        assert_eq!(project.read("b/n") + &project.read("b/b"), "new\nB\n");
        assert_eq!(project.read("a/z") + &project.read("a/a"), "z\nnot committed\n");
        assert!(!project.dir().join("b/c").exists(), "nobody asked for it");
        let status = project.git("status --porcelain");
        assert_eq!(status, " M a/a\n M b/b\n?? a/z\n?? b/n");
        assert_eq!(spaces.revert("del-1").unwrap().files, ["a/z", "b/b", "b/n"]);
        assert!(!project.dir().join("b/n").exists() && !project.dir().join("a/z").exists());
        assert_eq!(project.git("status --porcelain"), " M a/a");
    });
}

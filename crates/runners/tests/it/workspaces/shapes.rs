//! Repositories of every shape.

use std::fs;

use legation_runners::workspace::{Error, From, How};

use super::project::{
    Project, create, files, git, git_args, in_every_way, keep, make_executable, merge, read, start,
    wanted, write,
};

#[test]
fn an_empty_repository_works_like_any_other() {
    in_every_way(|| {
        let project = Project::empty();
        let spaces = project.open();
        let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
        write(&first.root, "one.txt", "1\n");
        write(&second.root, "two.txt", "2\n");
        assert_eq!(files(&spaces, &first), ["one.txt"]);
        merge(&spaces, &keep(&spaces, &first));
        merge(&spaces, &keep(&spaces, &second));
        let applied = spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(applied.files, ["one.txt", "two.txt"]);
        assert_eq!(project.read("two.txt"), "2\n");
        assert_eq!(project.git("status --porcelain --branch"), "## main");
    });
}

#[test]
fn an_empty_repository_may_have_uncommitted_files() {
    in_every_way(|| {
        let project = Project::empty();
        project.write("draft.txt", "x\n");
        let spaces = project.open();
        let mut dirty = start("del-1", From::User);
        dirty.include_dirty = true;
        spaces.begin(&dirty).unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        assert_eq!(read(&place.root, "draft.txt"), "x\n");
    });
}

#[test]
fn a_detached_head_is_the_base() {
    in_every_way(|| {
        let project = Project::new();
        let first = project.git("rev-parse HEAD");
        project.write("later.txt", "x\n");
        project.commit("later");
        project.git(&format!("checkout -q {first}"));
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(place.base, first);
        assert!(!place.root.join("later.txt").exists());
        write(&place.root, "work.txt", "x\n");
        let commit = merge(&spaces, &keep(&spaces, &place));
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().commit, Some(commit.clone()));
        assert_eq!(project.git("rev-parse HEAD"), commit);
        assert_ne!(project.git("rev-parse main"), commit);
    });
}

#[test]
fn a_project_below_the_top_runs_below_the_top() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open_at("src");
        let place = create(&spaces, "exec-1");
        assert_eq!(place.cwd, place.root.join("src"));
        assert_eq!(read(&place.root, "README.md"), "hello\n");
        write(&place.cwd, "b.txt", "x\n");
        write(&place.root, "top.txt", "x\n");
        assert_eq!(files(&spaces, &place), ["src/b.txt", "top.txt"]);
        merge(&spaces, &keep(&spaces, &place));
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(project.read("src/b.txt") + &project.read("top.txt"), "x\nx\n");
    });
}

#[test]
fn a_project_that_is_not_committed_yet_still_has_its_folder() {
    in_every_way(|| {
        let project = Project::new();
        fs::create_dir(project.dir().join("fresh")).unwrap();
        let place = create(&project.open_at("fresh"), "exec-1");
        assert!(place.cwd.ends_with("fresh") && place.cwd.is_dir());
    });
}

#[test]
fn a_linked_worktree_has_its_own_head() {
    in_every_way(|| {
        let project = Project::new();
        project.git("worktree add -q ../tree -b side");
        let tree = project.outside("tree");
        write(&tree, "side.txt", "x\n");
        git(&tree, "add -A");
        git(&tree, "commit -q -m side");
        let spaces = Project::open_as(&tree, &project.state());
        let place = create(&spaces, "exec-1");
        assert_eq!(read(&place.root, "side.txt"), "x\n");
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(read(&tree, "work.txt"), "x\n");
        assert_eq!(git(&tree, "status --porcelain --branch"), "## side");
        assert!(!project.dir().join("work.txt").exists());
    });
}

#[test]
fn a_bare_repository_with_worktrees_works_from_either_place() {
    in_every_way(|| {
        let project = Project::new();
        let bare = project.outside("bare.git");
        project.git("clone -q --bare . ../bare.git");
        git(&bare, "worktree add -q ../tree main");
        let tree = project.outside("tree");
        let spaces = Project::open_as(&tree, &project.state());
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(read(&tree, "work.txt"), "x\n");
        let spaces = Project::open_as(&bare, &project.outside("state of bare"));
        let place = create(&spaces, "exec-2");
        assert_eq!(read(&place.root, "work.txt"), "x\n");
        let refused = spaces.apply("del-1", How::Auto).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    });
}

#[test]
fn packed_names_borrowed_objects_and_shallow_copies_are_understood() {
    in_every_way(|| {
        let project = Project::new();
        project.write("later.txt", "x\n");
        project.commit("later");
        project.git("pack-refs --all");
        project.git("clone -q --shared . ../shared");
        let from = format!("file://{}", project.dir().display());
        git_args(&project.dir(), &["clone", "-q", "--depth=1", &from, "../shallow"]);
        for name in ["my project", "shared", "shallow"] {
            let state = project.outside(&format!("state of {name}"));
            let spaces = Project::open_as(&project.outside(name), &state);
            let place = create(&spaces, "exec-1");
            assert_eq!(read(&place.root, "later.txt"), "x\n", "{name}");
            write(&place.root, "work.txt", "x\n");
            git(&place.root, "add -A");
            git(&place.root, "commit -q -m work");
            merge(&spaces, &keep(&spaces, &place));
        }
    });
}

#[test]
fn other_ways_to_name_objects_and_to_store_names_work() {
    in_every_way(|| {
        for option in ["--object-format=sha256", "--ref-format=reftable"] {
            let project = Project::plain();
            project.git(&format!("init -q -b main {option} ."));
            project.git("config user.name Ana");
            project.git("config user.email ana@example.org");
            project.write("README.md", "hello\n");
            project.commit("first");
            let spaces = project.open();
            let (first, second) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
            write(&first.root, "work.txt", "x\n");
            git(&first.root, "add -A");
            git(&first.root, "commit -q -m work");
            write(&second.root, "README.md", "HELLO\n");
            assert_eq!(files(&spaces, &first), ["work.txt"], "{option}");
            merge(&spaces, &keep(&spaces, &first));
            merge(&spaces, &keep(&spaces, &second));
            spaces.apply("del-1", How::Auto).unwrap();
            assert_eq!(
                project.read("README.md") + &project.read("work.txt"),
                "HELLO\nx\n",
                "{option}"
            );
        }
    });
}

#[test]
fn a_repository_inside_the_workspace_is_kept_as_files() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        git(&place.root, "init -q inner");
        write(&place.root, "inner/deep/work.txt", "x\n");
        make_executable(&place.root.join("inner/deep/work.txt"));
        assert_eq!(files(&spaces, &place), ["inner/deep/work.txt"]);
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:inner/deep/work.txt", kept.commit)), "x");
    });
}

#[test]
fn the_environment_of_the_engine_does_not_lead_git_astray() {
    in_every_way(|| {
        // The state folder may itself lie in a repository, as in a home that is one.
        let project = Project::new();
        let state = project.dir().join("build/state");
        let spaces = Project::open_as(&project.dir(), &state);
        let place = create(&spaces, "exec-1");
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        assert_eq!(project.git("diff --name-only main legation/del-1/result"), "work.txt");
    });
}

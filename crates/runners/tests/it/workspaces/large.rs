//! Pointers to large files, as git LFS writes them, with filters that stand for its program.

use legation_runners::workspace::{From, How};

use super::project::{
    Project, create, files, git_args, in_every_way, keep, merge, read, start, wanted, write,
};

/// What the large file holds.
const CONTENT: &str = "something large\n";

/// What stands for it: its hash and its size.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:ec808ea3b830b3f7a8e012c793ac0e58970986eab4239c4ccf2088e3b7c20426\n\
    size 16\n";

/// The user's checkout with the real file in it, and filters that know no other.
fn smudged() -> Project {
    let project = Project::new();
    project.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    project.write("pointer", POINTER);
    project.write("content", CONTENT);
    let (dir, exclude) = (project.dir(), project.dir().join(".git/info/exclude"));
    std::fs::write(exclude, "pointer\ncontent\n").unwrap();
    let answer = |name: &str| {
        let file = dir.join(name);
        format!("cat > /dev/null; cat '{}'", file.display())
    };
    git_args(&dir, &["config", "filter.lfs.clean", &answer("pointer")]);
    git_args(&dir, &["config", "filter.lfs.smudge", &answer("content")]);
    git_args(&dir, &["config", "filter.lfs.required", "true"]);
    project.write("large.bin", CONTENT);
    project.commit("large");
    assert_eq!(project.git("show HEAD:large.bin") + "\n", POINTER);
    project
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
fn a_large_file_of_the_user_is_no_change_and_stays_what_it_is() {
    in_every_way(|| {
        let project = smudged();
        project.write("draft.txt", "x\n");
        let spaces = project.open();
        let mut dirty = start("del-1", From::User);
        dirty.include_dirty = true;
        spaces.begin(&dirty).unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        assert_eq!(
            read(&place.root, "large.bin") + &read(&place.root, "draft.txt"),
            POINTER.to_owned() + "x\n"
        );
        let diff = project.git(&format!("diff --name-only HEAD {}", place.base));
        assert_eq!(diff, "draft.txt");
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["work.txt"]);
        assert_eq!(project.read("large.bin"), CONTENT);
    });
}

#[test]
fn what_an_attempt_has_fetched_for_a_pointer_is_no_change() {
    in_every_way(|| {
        let project = smudged();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "large.bin", CONTENT);
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        assert!(spaces.keep(&place, &super::project::note()).unwrap().is_none());
        // Something else of the same size is one.
        write(&place.root, "large.bin", &CONTENT.to_uppercase());
        write(&place.root, "README.md", "HELLO\n");
        assert_eq!(files(&spaces, &place), ["README.md", "large.bin"]);
    });
}

//! Submodules: from what the user has of them, without a network.

use std::fs;
use std::path::Path;

use legation_runners::workspace::{How, Seen, Surplus};

use super::project::{
    Project, create, files, git, git_args, in_every_way, keep, merge, note, read, write,
};

const ANA: [&str; 4] = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"];

fn commit(folder: &Path, message: &str) {
    git(folder, "add -A");
    git_args(folder, &[ANA.as_slice(), &["commit", "-q", "-m", message]].concat());
}

/// A repository with one file.
fn repository(project: &Project, name: &str) -> String {
    let folder = project.outside(name);
    fs::create_dir(&folder).unwrap();
    git(&folder, "init -q -b main .");
    write(&folder, "inside.txt", &format!("{name}\n"));
    write(&folder, ".gitignore", "*.log\n");
    commit(&folder, "x");
    folder.to_string_lossy().into_owned()
}

/// Adds a submodule, as its user would.
fn add(folder: &Path, from: &str, path: &str) {
    let allowed = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", from, path];
    git_args(folder, &allowed);
    commit(folder, "submodule");
}

/// A project with a submodule that has one itself.
fn nested() -> Project {
    let project = Project::new();
    let inner = repository(&project, "inner");
    let middle = repository(&project, "middle");
    add(Path::new(&middle), &inner, "deep/inner");
    add(&project.dir(), &middle, "my sub");
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"];
    git_args(&project.dir(), &[update.as_slice(), &["--recursive"]].concat());
    project
}

#[test]
fn what_the_user_has_is_there_nested_ones_too() {
    in_every_way(|| {
        let project = nested();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let sub = place.root.join("my sub");
        assert_eq!(
            read(&sub, "inside.txt") + &read(&sub, "deep/inner/inside.txt"),
            "middle\ninner\n"
        );
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        assert_eq!(git(&place.root, "status --porcelain"), "");
        assert_eq!(git(&sub, "status --porcelain"), "");
        assert_eq!(git(&sub.join("deep/inner"), "log --format=%s"), "x");
        // Its repository is its own: a commit in it is none of the user's.
        write(&sub, "inside.txt", "changed\n");
        commit(&sub, "mine");
        let theirs = git(&project.dir().join("my sub"), "log --format=%s");
        assert_eq!(theirs, "submodule\nx");
        write(&place.root, "work.txt", "x\n");
        merge(&spaces, &keep(&spaces, &place));
        let diff = project.git("diff --name-status main legation/del-1/result");
        assert_eq!(diff, "A\twork.txt");
        spaces.remove(&place).unwrap();
        // Nothing of it is there for the next one.
        let next = create(&spaces, "exec-2");
        assert_eq!(read(&next.root, "my sub/inside.txt"), "middle\n");
        assert_eq!(files(&spaces, &next), Vec::<String>::new());
    });
}

#[test]
fn one_with_its_repository_inside_is_there_too() {
    in_every_way(|| {
        let project = Project::new();
        let from = repository(&project, "inner");
        git_args(&project.dir(), &["clone", "-q", &from, "sub"]);
        project.write(".gitmodules", "[submodule \"x\"]\n\tpath = sub\n\turl = ../inner\n");
        project.commit("sub");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(read(&place.root, "sub/inside.txt"), "inner\n");
        let lent = spaces.origin().lent;
        assert!(
            lent.contains(&fs::canonicalize(project.dir().join("sub/.git/objects")).unwrap()),
            "{lent:?}"
        );
    });
}

#[test]
fn nothing_is_fetched_for_one_that_the_user_does_not_have() {
    in_every_way(|| {
        let project = nested();
        git_args(&project.dir(), &["submodule", "deinit", "-q", "-f", "my sub"]);
        fs::remove_dir_all(project.dir().join(".git/modules")).unwrap();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(fs::read_dir(place.root.join("my sub")).unwrap().count(), 0);
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        write(&place.root, "my sub/own.txt", "x\n");
        assert_eq!(files(&spaces, &place), ["my sub/own.txt"]);
    });
}

#[test]
fn a_commit_that_the_user_does_not_have_leaves_its_place_empty() {
    in_every_way(|| {
        let project = nested();
        let pointer = format!("160000,{},my sub", "1".repeat(40));
        git_args(&project.dir(), &["update-index", "--cacheinfo", &pointer]);
        git_args(&project.dir(), &["commit", "-q", "-m", "ahead"]);
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(fs::read_dir(place.root.join("my sub")).unwrap().count(), 0);
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
    });
}

#[test]
fn a_list_that_names_other_repositories_of_the_user_opens_none() {
    in_every_way(|| {
        let project = nested();
        let list = project.read(".gitmodules");
        project.write(
            ".gitmodules",
            &list.replace("submodule \"my sub\"", "submodule \"../../../middle/.git\""),
        );
        git_args(&project.dir(), &["add", ".gitmodules"]);
        git_args(&project.dir(), &["commit", "-q", "-m", "elsewhere"]);
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(fs::read_dir(place.root.join("my sub")).unwrap().count(), 0);
    });
}

#[test]
fn work_inside_is_told_kept_shown_and_restored_and_not_merged() {
    in_every_way(|| {
        let project = nested();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "my sub/inside.txt", "changed\n");
        write(&place.root, "my sub/deep/inner/new.txt", "new\n");
        write(&place.root, "my sub/noise.log", "noise\n");
        fs::remove_file(place.root.join("my sub/deep/inner/inside.txt")).unwrap();
        write(&place.root, "work.txt", "x\n");
        let Seen { files_changed, in_submodules, .. } = spaces.look(&place).unwrap();
        let inside =
            ["my sub/deep/inner/inside.txt", "my sub/deep/inner/new.txt", "my sub/inside.txt"];
        assert_eq!(in_submodules, inside);
        assert_eq!(files_changed, [inside.as_slice(), &["work.txt"]].concat());
        merge(&spaces, &keep(&spaces, &place));
        spaces.remove(&place).unwrap();
        assert_eq!(spaces.apply("del-1", How::Auto).unwrap().files, ["work.txt"]);
        assert_eq!(read(&project.dir(), "my sub/inside.txt"), "middle\n");
        let works = spaces.works().unwrap();
        assert_eq!((works.len(), works[0].in_branch), (1, false));
        let shown = ["my sub/deep/inner/new.txt", "my sub/inside.txt", "work.txt"];
        assert_eq!(spaces.work_files(&works[0]).unwrap(), shown);
        let to = project.outside("restored");
        spaces.restore(&works[0], &to).unwrap();
        let restored = read(&to, "my sub/inside.txt") + &read(&to, "my sub/deep/inner/new.txt");
        assert_eq!(restored + &read(&to, "work.txt"), "changed\nnew\nx\n");
    });
}

#[test]
fn work_that_is_inside_only_is_kept_listed_restored_and_let_go() {
    in_every_way(|| {
        let project = nested();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "my sub/inside.txt", "changed\n");
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
        spaces.remove(&place).unwrap();
        let works = spaces.works().unwrap();
        assert_eq!((works.len(), works[0].attempt.as_str()), (1, "exec-1"));
        assert!(works[0].is_inside_only());
        assert_eq!(works[0].provenance.as_ref().unwrap().agent, "fixer");
        let said = project.git("log -1 --format=%B refs/legation/del-1/foreign/exec-1");
        assert!(said.contains("Legation-Agent: fixer"), "{said}");
        assert_eq!(spaces.work_files(&works[0]).unwrap(), ["my sub/inside.txt"]);
        let to = project.outside("restored");
        spaces.restore(&works[0], &to).unwrap();
        assert_eq!(read(&to, "my sub/inside.txt") + &read(&to, "README.md"), "changed\nhello\n");
        spaces.clear_away(&Surplus::Kept(Box::new(works[0].clone()))).unwrap();
        assert_eq!(spaces.works().unwrap(), []);
        assert_eq!(project.git("for-each-ref refs/legation"), "");
    });
}

#[test]
fn what_is_not_committed_in_a_submodule_is_not_taken_away_with_it() {
    let project = Project::new();
    let from = repository(&project, "lib");
    add(&project.dir(), &from, "lib");
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    fs::remove_dir_all(place.root.join("lib")).unwrap();
    write(&place.root, "lib", "a file now\n");
    merge(&spaces, &keep(&spaces, &place));
    project.write("lib/inside.txt", "changed\n");
    project.write("lib/new.txt", "new\n");
    let refused = spaces.apply("del-1", How::Auto).unwrap_err().to_string();
    assert!(refused.contains("a submodule would go or move"), "{refused}");
    assert_eq!(project.read("lib/inside.txt") + &project.read("lib/new.txt"), "changed\nnew\n");
    git(&project.dir().join("lib"), "stash -q --include-untracked");
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("lib"), "a file now\n");
}

#[test]
fn a_submodule_that_the_child_has_put_at_another_commit_is_there_in_its_work() {
    in_every_way(|| {
        let project = Project::new();
        let from = repository(&project, "lib");
        add(&project.dir(), &from, "lib");
        let inside = project.dir().join("lib");
        write(&inside, "inside.txt", "newer\n");
        commit(&inside, "newer");
        let newer = git(&inside, "rev-parse HEAD");
        git(&inside, "checkout -q HEAD~1");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "mine.txt", "mine\n");
        git(&place.root.join("lib"), &format!("checkout -q {newer}"));
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m bump");
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("rev-parse {}:lib", kept.commit)), newer);
        merge(&spaces, &kept);
        spaces.apply("del-1", How::Auto).unwrap();
        assert_eq!(project.git("rev-parse HEAD:lib"), newer);
    });
}

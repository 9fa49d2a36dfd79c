//! Workspaces have all that there is, however the user's git keeps its objects, and whatever of
//! them is damaged.

use std::fs;
use std::path::PathBuf;

use legation_runners::workspace::{From, Place, Start};

use super::borrowed::{assert_whole, elsewhere, objects};
use super::project::{
    Project, begin, create, git, git_args, in_every_way, keep, merge, note, read, start, write,
};

/// The file of an object that is in no pack.
fn file_of(project: &Project, object: &str) -> PathBuf {
    let id = project.git(&format!("rev-parse {object}"));
    let (folder, name) = id.split_at(2);
    project.dir().join(".git/objects").join(folder).join(name)
}

fn lose(project: &Project, object: &str) {
    fs::remove_file(file_of(project, object)).unwrap();
}

/// Nothing is missing of what is checked out, whatever is of other names.
fn assert_has_its_own(place: &Place) {
    git(&place.root, "rev-list --objects HEAD");
    git(&place.root, "diff HEAD");
}

/// Commits that each change a file.
fn commits(project: &Project, words: &[&str]) {
    for word in words {
        project.write("README.md", &format!("{word}\n"));
        project.commit(word);
    }
}

#[test]
fn a_pack_may_lack_what_lies_in_files_of_its_own() {
    in_every_way(|| {
        let project = Project::new();
        commits(&project, &["second"]);
        // As if fetched from where somebody else has put the commit, while the file was here.
        let ids = ["HEAD", "HEAD^{tree}", "HEAD~1"].map(|name| {
            fs::write(project.outside(name), project.git(&format!("rev-parse {name}"))).unwrap();
            read(&project.outside(""), name)
        });
        let list = project.outside("list");
        fs::write(&list, ids.join("\n") + "\n").unwrap();
        let pack = project.dir().join(".git/objects/pack/pack");
        let command = format!("git pack-objects -q '{}' < '{}'", pack.display(), list.display());
        let mut shell = std::process::Command::new("sh");
        let packed = shell.args(["-c", &command]).current_dir(project.dir()).output().unwrap();
        assert!(packed.status.success(), "{packed:?}");
        project.git("prune-packed");
        assert!(!file_of(&project, "HEAD").exists());
        let place = create(&project.open(), "exec-1");
        assert_whole(&place);
        git(&place.root, "log -p");
    });
}

#[test]
fn what_nothing_held_for_a_while_is_there_when_something_does() {
    in_every_way(|| {
        let project = Project::new();
        commits(&project, &["second"]);
        let second = project.git("rev-parse HEAD");
        project.git("reset -q --hard HEAD~1");
        project.git("reflog expire --expire=now --all");
        project.git("gc -q");
        project.git(&format!("reset -q --hard {second}"));
        assert_whole(&create(&project.open(), "exec-1"));
    });
}

#[test]
fn what_was_fetched_late_is_there_for_whoever_starts_from_it() {
    let origin = Project::new();
    commits(&origin, &["second", "third"]);
    origin.git("config uploadpack.allowFilter true");
    origin.git("config uploadpack.allowAnySHA1InWant true");
    let source = format!("file://{}", origin.dir().display());
    let clone = Project::plain();
    git_args(&clone.dir(), &["clone", "-q", "--filter=blob:none", &source, "."]);
    let spaces = clone.open();
    create(&spaces, "exec-1");
    clone.git("checkout -q HEAD~1 -- README.md");
    let dirty = Start { tree: "del-2".into(), include_dirty: true, ..start("del-2", From::User) };
    spaces.begin(&dirty).unwrap();
    let place = elsewhere(&spaces, "del-2", "exec-2");
    assert_eq!(read(&place.root, "README.md"), "second\n");
    assert_eq!(git(&place.root, "show HEAD:README.md"), "second");
    // What the remote has promised is not piled up, however often it is put together.
    for at in 0..3 {
        clone.git("repack -q -a -d");
        elsewhere(&spaces, &format!("del-more-{at}"), &format!("exec-more-{at}"));
    }
    let packs = fs::read_dir(spaces.origin().lent[0].join("pack")).unwrap();
    let packs = packs.map(|entry| entry.unwrap().path());
    let promised = packs.filter(|path| path.extension().is_some_and(|it| it == "promisor"));
    assert!(promised.count() <= 2);
}

#[test]
fn a_branch_that_is_damaged_is_not_lent_and_hinders_nobody() {
    let losses: [&[&str]; 3] = [&["side~1^{tree}"], &["side~2"], &["side~2", "side~1"]];
    for (at, lost) in losses.into_iter().enumerate() {
        // Before there is a store, and when it grows.
        for early in [true, false] {
            let project = Project::new();
            let spaces = project.open();
            if !early {
                create(&spaces, "exec-0");
            }
            project.git("checkout -q -b side");
            commits(&project, &["one", "two", "three"]);
            let side = project.git("rev-parse side");
            project.git("checkout -q main");
            commits(&project, &["main"]);
            for object in lost {
                lose(&project, object);
            }
            let place = elsewhere(&spaces, "del-1", "exec-1");
            assert_has_its_own(&place);
            let names = git(&place.root, "for-each-ref --format=%(objectname) refs/heads/side");
            assert!(early || names.is_empty(), "{at}: {names} {side}");
            write(&place.root, "mine.txt", "mine\n");
            keep(&spaces, &place);
            commits(&project, &["later"]);
            assert_has_its_own(&elsewhere(&spaces, "del-2", "exec-2"));
        }
    }
}

#[test]
fn where_the_history_of_the_base_is_damaged_its_files_are_there() {
    in_every_way(|| {
        let project = Project::new();
        commits(&project, &["second", "third"]);
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "secret.txt", "secret\n");
        let kept = keep(&spaces, &place);
        lose(&project, "HEAD~1");
        // Somebody else, who takes nothing for granted.
        let other = Project::open_as(&project.dir().join("src"), &project.outside("other"));
        let there = elsewhere(&other, "del-2", "exec-2");
        assert_eq!(git(&there.root, "status --porcelain"), "");
        git(&there.root, "diff HEAD");
        assert_eq!(git(&there.root, "show HEAD:README.md"), "third");
        assert!(!objects(&there.root).contains(&kept.commit));
    });
}

#[test]
fn results_that_were_fetched_are_lent_to_nobody() {
    let origin = Project::new();
    let spaces = origin.open();
    let place = create(&spaces, "exec-1");
    write(&place.root, "secret.txt", "secret\n");
    let kept = keep(&spaces, &place);
    merge(&spaces, &kept);
    for remote in ["origin", "team/origin"] {
        let clone = Project::plain();
        let source = origin.dir().to_string_lossy().into_owned();
        git_args(&clone.dir(), &["clone", "-q", "--no-local", "-o", remote, &source, "."]);
        assert!(objects(&clone.dir()).contains(&kept.commit));
        let there = create(&clone.open(), "exec-1");
        assert_whole(&there);
        assert!(!objects(&there.root).contains(&kept.commit), "{remote}");
    }
}

#[test]
fn work_that_nobody_has_kept_is_lent_to_nobody_either() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "secret.txt", "secret\n");
        let kept = keep(&spaces, &place);
        project.git("gc -q");
        project.git(&format!("update-ref -d {}", kept.reference));
        drop(spaces);
        fs::remove_dir_all(project.state().join("lent")).unwrap();
        let there = elsewhere(&project.open(), "del-2", "exec-2");
        assert_whole(&there);
        assert!(!objects(&there.root).contains(&kept.commit));
    });
}

#[test]
fn what_a_child_merges_of_the_users_is_nothing_that_it_did() {
    in_every_way(|| {
        let project = Project::new();
        project.git("checkout -q -b release");
        project.git("checkout -q main");
        project.write("new.txt", "new\n");
        project.commit("new");
        commits(&project, &["one", "two"]);
        project.git("checkout -q release");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "mine.txt", "mine\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m mine");
        git(&place.root, "merge -q -m merged main~1");
        let seen = spaces.look(&place).unwrap();
        assert!(seen.history_usable);
        assert_eq!(seen.commits.len(), 2, "{:?}", seen.commits);
        let kept = keep(&spaces, &place);
        merge(&spaces, &kept);
        project.git("fsck --full --strict");
        assert_eq!(project.git("log -1 --format=%s legation/del-1/result"), "merged");
        // One that only went to where the user was.
        let other = elsewhere(&spaces, "del-2", "exec-2");
        git(&other.root, "reset -q --hard main");
        assert_eq!(spaces.look(&other).unwrap().commits, Vec::<String>::new());
        let kept = spaces.keep(&other, &note()).unwrap().unwrap();
        assert_eq!(kept.commit, project.git("rev-parse main"));
    });
}

#[test]
fn what_the_user_threw_away_meanwhile_is_kept_with_the_work_that_builds_on_it() {
    in_every_way(|| {
        let project = Project::new();
        commits(&project, &["second"]);
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        project.git("reset -q --hard HEAD~1");
        commits(&project, &["other"]);
        project.git("reflog expire --expire=now --all");
        project.git("gc -q --prune=now");
        assert!(!objects(&project.dir()).contains(&place.base));
        write(&place.root, "mine.txt", "mine\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m mine");
        let kept = keep(&spaces, &place);
        project.git("fsck --full --strict");
        assert_eq!(project.git(&format!("show {}:README.md", kept.commit)), "second");
        assert_eq!(project.git(&format!("rev-list --count {}", kept.commit)), "3");
    });
}

/// A branch of the user's that is one commit ahead, and one that went elsewhere.
fn ahead_and_apart(project: &Project) {
    project.git("checkout -q -b apart");
    commits(project, &["apart"]);
    project.git("checkout -q -b ahead main");
    project.write("ahead.txt", "ahead\n");
    project.commit("ahead");
    project.git("checkout -q main");
    project.write("main.txt", "main\n");
    project.commit("main");
    project.git("branch -f ahead-of-all main");
    project.git("checkout -q --detach HEAD~1");
}

#[test]
fn what_a_child_only_went_to_is_kept_with_its_work() {
    for branch in ["ahead-of-all", "apart"] {
        in_every_way(|| {
            let project = Project::new();
            ahead_and_apart(&project);
            let spaces = project.open();
            let place = create(&spaces, "exec-1");
            git(&place.root, &format!("reset -q --hard {branch}"));
            write(&place.root, "mine.txt", "mine\n");
            for name in ["ahead-of-all", "apart", "ahead", "main"] {
                project.git(&format!("branch -q -D {name}"));
            }
            project.git("reflog expire --expire=now --all");
            project.git("gc -q --prune=now");
            let kept = keep(&spaces, &place);
            project.git("fsck --full --strict");
            project.git("gc -q --prune=now");
            assert_eq!(project.git(&format!("show {}:mine.txt", kept.commit)), "mine");
            assert!(project.git(&format!("log --format=%s {}", kept.commit)).contains("first"));
            merge(&spaces, &kept);
        });
    }
}

#[test]
fn a_workspace_is_made_of_a_base_that_the_user_threw_away_meanwhile() {
    in_every_way(|| {
        let project = Project::new();
        commits(&project, &["second"]);
        let spaces = project.open();
        let base = begin(&spaces, "del-1");
        project.git("reset -q --hard HEAD~1");
        commits(&project, &["other"]);
        project.git("reflog expire --expire=now --all");
        project.git("gc -q --prune=now");
        assert!(!objects(&project.dir()).contains(&base));
        let place = create(&spaces, "exec-1");
        assert_eq!((read(&place.root, "README.md"), place.base.clone()), ("second\n".into(), base));
        assert_whole(&place);
    });
}

#[test]
fn what_was_damaged_is_looked_at_again_by_the_next_start() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        create(&spaces, "exec-0");
        commits(&project, &["second", "third"]);
        let lost = file_of(&project, "HEAD~1");
        let aside = project.outside("aside");
        fs::rename(&lost, &aside).unwrap();
        let place = elsewhere(&spaces, "del-3", "exec-1");
        assert_eq!(git(&place.root, "show HEAD:README.md"), "third");
        drop(spaces);
        fs::rename(&aside, &lost).unwrap();
        let there = elsewhere(&project.open(), "del-2", "exec-2");
        assert_whole(&there);
        assert_eq!(git(&there.root, "log --format=%s"), "third\nsecond\nfirst");
    });
}

#[test]
fn a_store_out_of_proportion_is_made_anew_once_nobody_works() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    let large = spaces.origin().lent[0].join("pack/large");
    let file = fs::File::create(&large).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 300 << 20).unwrap();
    drop((file, spaces));
    let spaces = project.open();
    assert!(large.exists(), "somebody borrows from it");
    write(&place.root, "mine.txt", "mine\n");
    keep(&spaces, &place);
    spaces.remove(&place).unwrap();
    drop(spaces);
    let spaces = project.open();
    assert!(!large.exists());
    assert_whole(&create(&spaces, "exec-2"));
}

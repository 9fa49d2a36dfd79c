//! The ordinary life of a workspace.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use expect_test::expect;
use legation_core::money::Usd;
use legation_runners::workspace::{Error, Merge, Note, Seen, Surplus};

use super::project::{
    Project, begin, create, files, git, git_args, in_every_way, keep, make_executable, merge, note,
    read, wanted, write,
};

#[test]
fn work_goes_from_a_workspace_to_the_result_and_the_user_sees_nothing_of_it() {
    in_every_way(|| {
        let project = Project::new();
        let before = project.untouchable();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(place.cwd, place.root);
        assert_eq!(read(&place.root, "README.md"), "hello\n");
        write(&place.root, "README.md", "changed\n");
        write(&place.root, "new file.txt", "new\n");
        fs::remove_file(place.root.join("src/a.txt")).unwrap();
        assert_eq!(files(&spaces, &place), ["README.md", "new file.txt", "src/a.txt"]);
        let kept = keep(&spaces, &place);
        assert_eq!(kept.reference, "refs/legation/del-1/exec-1");
        let commit = merge(&spaces, &kept);
        spaces.remove(&place).unwrap();
        assert_eq!(project.git("rev-parse legation/del-1/result"), commit);
        let shown = git_args(&project.dir(), &["show", "legation/del-1/result:new file.txt"]);
        assert_eq!(shown, "new");
        assert_eq!(project.read("README.md"), "hello\n");
        assert_eq!(project.untouchable(), before);
        assert_eq!(project.git("status --porcelain"), "");
        assert!(!place.root.exists());
        assert!(spaces.list().unwrap().is_empty());
        project.git("fsck --strict");
    });
}

#[test]
fn what_is_kept_says_where_it_came_from() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "new.txt", "new\n");
        let kept = keep(&spaces, &place);
        let shown = project.git(&format!("log -1 --format=%an%n%ae%n%B {}", kept.commit));
        expect![[r#"
            Ana
            ana@example.org
            Work on Fix: the parser

            Legation-Agent: fixer
            Legation-Session: sess_1735460684_a1b2c3
            Legation-Delegation: del-1
            Legation-Subtask: Fix: the parser
            Legation-Attempt: exec-1
            Legation-Cost: unknown"#]]
        .assert_eq(&shown);
        assert_eq!(project.git(&format!("rev-parse {}^", kept.commit)), place.base);
        assert_eq!(project.git("rev-parse refs/legation/del-1/exec-1"), kept.commit);
    });
}

#[test]
fn the_child_works_on_a_branch_of_its_own_as_the_user() {
    in_every_way(|| {
        let project = Project::new();
        let place = create(&project.open(), "exec-1");
        assert_eq!(
            git(&place.root, "status --porcelain --branch"),
            "## legation/del-1/Fix--the-parser/exec-1"
        );
        assert_eq!(git(&place.root, "config user.name"), "Ana");
        assert_eq!(git(&place.root, "rev-parse HEAD"), project.git("rev-parse main"));
    });
}

#[test]
fn a_user_without_a_name_gets_ours() {
    in_every_way(|| {
        let project = Project::new();
        git_args(&project.dir(), &["config", "user.name", ""]);
        let place = create(&project.open(), "exec-1");
        assert_eq!(git(&place.root, "config user.email"), "legation@localhost");
    });
}

#[test]
fn the_childs_own_commits_are_kept_with_what_it_did_not_commit() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "README.md", "changed\n");
        git(&place.root, "commit -q -a -m one");
        write(&place.root, "two.txt", "two\n");
        git(&place.root, "add -A");
        git(&place.root, "commit -q -m two");
        write(&place.root, "three.txt", "three\n");
        let seen = spaces.look(&place).unwrap();
        let theirs =
            git(&place.root, "rev-list --reverse main..HEAD".replace("main", &place.base).as_str());
        assert_eq!(seen.commits.join("\n"), theirs);
        assert_eq!(seen.files_changed, ["README.md", "three.txt", "two.txt"]);
        let kept = keep(&spaces, &place);
        spaces.remove(&place).unwrap();
        assert_eq!(
            project.git(&format!("log --format=%s {}", kept.commit)),
            "Work on Fix: the parser\ntwo\none\nfirst"
        );
        assert_eq!(project.git(&format!("show {}:three.txt", kept.commit)), "three");
        project.git("fsck --strict --connectivity-only");
    });
}

#[test]
fn what_the_child_committed_itself_needs_no_commit_of_ours() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "README.md", "changed\n");
        git(&place.root, "commit -q -a -m one");
        let cost = Some(Usd::from_nanos(500_000_000));
        let kept = spaces.keep(&place, &Note { cost, ..note() }).unwrap().unwrap();
        assert_eq!(kept.commit, git(&place.root, "rev-parse HEAD"));
        assert_eq!(merge(&spaces, &kept), kept.commit);
        // Where it came from stands beside it, and is in no history.
        let note = "refs/legation/del-1/provenance/exec-1";
        assert_eq!(project.git(&format!("rev-parse {note}^")), kept.commit);
        assert_eq!(project.git(&format!("diff --name-only {} {note}", kept.commit)), "");
        let said = project.git(&format!("log -1 --format=%B {note}"));
        for line in ["Agent: fixer", "Session: sess_", "Delegation: del-1", "Cost: 0.5 USD"] {
            assert!(said.contains(&format!("Legation-{line}")), "{said}");
        }
        spaces.remove(&place).unwrap();
        let [work] = <[_; 1]>::try_from(spaces.works().unwrap()).unwrap();
        spaces.clear_away(&Surplus::Kept(Box::new(work))).unwrap();
        assert_eq!(project.git("for-each-ref refs/legation/del-1/provenance"), "");
    });
}

#[test]
fn a_note_about_what_the_child_committed_goes_once_a_commit_of_ours_is_on_top() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "README.md", "changed\n");
        git(&place.root, "commit -q -a -m one");
        keep(&spaces, &place);
        let notes = || project.git("for-each-ref --format=%(refname) refs/legation/del-1");
        assert!(notes().contains("provenance/exec-1"), "{}", notes());
        write(&place.root, "README.md", "changed again\n");
        let kept = keep(&spaces, &place);
        assert!(!notes().contains("provenance"), "{}", notes());
        // What such work cost is told even where nobody knows it.
        let said = project.git(&format!("log -1 --format=%B {}", kept.commit));
        assert!(said.contains("Legation-Agent: fixer\n"), "{said}");
        assert!(said.contains("\nLegation-Cost: unknown"), "{said}");
        assert_eq!(keep(&spaces, &place), kept, "there is none to delete any more");
    });
}

#[test]
fn ignored_files_are_seen_and_not_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "run.log", "noise\n");
        write(&place.root, "build/out", "noise\n");
        assert_eq!(files(&spaces, &place), ["build/out", "run.log"]);
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
        write(&place.root, "kept.txt", "signal\n");
        let kept = keep(&spaces, &place);
        let names = project.git(&format!("diff --name-only {} {}", kept.base, kept.commit));
        assert_eq!(names, "kept.txt");
    });
}

#[test]
fn nothing_done_is_nothing_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let seen = spaces.look(&place).unwrap();
        assert_eq!(seen, Seen { exists: true, history_usable: true, ..Seen::default() });
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
        spaces.remove(&place).unwrap();
        assert_eq!(project.git("for-each-ref refs/legation refs/heads/legation"), "");
    });
}

#[test]
fn a_touched_file_is_not_a_changed_one() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        write(&place.root, "README.md", "hello\n");
        assert!(files(&spaces, &place).is_empty());
        assert_eq!(spaces.keep(&place, &note()).unwrap(), None);
    });
}

#[test]
fn a_change_of_the_same_size_with_the_old_time_is_seen() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let path = place.root.join("README.md");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "hallo\n").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(files(&spaces, &place), ["README.md"]);
        assert_eq!(
            project.git(&format!("show {}:README.md", keep(&spaces, &place).commit)),
            "hallo"
        );
    });
}

#[test]
fn odd_names_executable_bits_and_links_survive_the_way() {
    in_every_way(|| {
        let project = Project::new();
        project.write("ünï códe/naïve – file.txt", "ü\n");
        project.write("run.sh", "#!/bin/sh\n");
        make_executable(&project.dir().join("run.sh"));
        symlink("README.md", project.dir().join("link")).unwrap();
        project.commit("odd");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(fs::metadata(place.root.join("run.sh")).unwrap().mode() & 0o111, 0o111);
        assert_eq!(fs::read_link(place.root.join("link")).unwrap().to_str(), Some("README.md"));
        write(&place.root, "ünï códe/naïve – file.txt", "changed\n");
        write(&place.root, "日本 語.txt", "new\n");
        write(&place.root, "with\nbreak", "new\n");
        write(&place.root, "-dash*?", "new\n");
        write(&place.root, ":(top)!x", "new\n");
        make_executable(&place.root.join("README.md"));
        fs::remove_file(place.root.join("link")).unwrap();
        symlink("/etc/passwd", place.root.join("link")).unwrap();
        let seen = files(&spaces, &place);
        assert_eq!(
            seen,
            [
                "-dash*?",
                ":(top)!x",
                "README.md",
                "link",
                "with\nbreak",
                "ünï códe/naïve – file.txt",
                "日本 語.txt"
            ]
        );
        let kept = keep(&spaces, &place);
        let raw = project.git(&format!(
            "-c core.quotePath=false diff --raw --abbrev=7 --no-renames {} {}",
            kept.base, kept.commit
        ));
        let names: Vec<&str> = raw.lines().map(|line| line.split_once('\t').unwrap().1).collect();
        assert_eq!(
            names,
            [
                "-dash*?",
                ":(top)!x",
                "README.md",
                "link",
                "\"with\\nbreak\"",
                "ünï códe/naïve – file.txt",
                "日本 語.txt"
            ]
        );
        assert!(
            raw.lines()
                .any(|line| line.starts_with(":100644 100755") && line.ends_with("README.md"))
        );
        assert_eq!(project.git(&format!("show {}:link", kept.commit)), "/etc/passwd");
    });
}

#[test]
fn a_file_that_becomes_a_folder_and_a_folder_that_becomes_a_link() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        fs::remove_file(place.root.join("README.md")).unwrap();
        write(&place.root, "README.md/inner.txt", "x\n");
        fs::remove_dir_all(place.root.join("src")).unwrap();
        symlink("/etc", place.root.join("src")).unwrap();
        assert_eq!(
            files(&spaces, &place),
            ["README.md", "README.md/inner.txt", "src", "src/a.txt"]
        );
        let kept = keep(&spaces, &place);
        let names = project.git(&format!("ls-tree -r --name-only {}", kept.commit));
        assert_eq!(names, ".gitignore\nREADME.md/inner.txt\nsrc");
    });
}

#[test]
fn line_endings_that_the_project_asks_for_are_kept_as_git_would() {
    in_every_way(|| {
        let project = Project::new();
        project.write(".gitattributes", "*.bat text eol=crlf\n");
        project.write("run.bat", "one\ntwo\n");
        project.commit("endings");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        assert_eq!(read(&place.root, "run.bat"), "one\r\ntwo\r\n");
        assert!(files(&spaces, &place).is_empty());
        write(&place.root, "run.bat", "one\r\nzwei\r\n");
        let kept = keep(&spaces, &place);
        assert_eq!(project.git(&format!("show {}:run.bat", kept.commit)), "one\nzwei");
    });
}

#[test]
fn a_workspace_is_not_removed_before_its_work_was_kept() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let refused = spaces.remove(&place).unwrap_err();
        expect!["the work of exec-1 was not kept yet; keep it before the workspace goes"]
            .assert_eq(&refused.to_string());
        assert!(place.root.exists());
        assert!(matches!(spaces.clear("exec-1"), Err(Error::NotKept { .. })));
    });
}

#[test]
fn a_workspace_is_found_again_and_made_only_once() {
    in_every_way(|| {
        let project = Project::new();
        let place = create(&project.open(), "exec-1");
        write(&place.root, "work.txt", "x\n");
        let spaces = project.open();
        assert_eq!(spaces.find("exec-1").unwrap(), Some(place.clone()));
        assert_eq!(spaces.create(&wanted("del-1", "exec-1")).unwrap(), place);
        assert_eq!(files(&spaces, &place), ["work.txt"]);
        assert_eq!(spaces.find("exec-2").unwrap(), None);
    });
}

#[test]
fn what_a_crash_left_half_made_is_listed_cleared_and_made_anew() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        write(&project.state(), "workspaces/exec-1/half.txt", "x");
        write(&project.state(), "repos/exec-2.git/HEAD", "x");
        assert_eq!(spaces.list().unwrap(), ["exec-1", "exec-2"]);
        spaces.clear("exec-2").unwrap();
        let place = spaces.create(&wanted("del-1", "exec-1")).unwrap();
        assert!(files(&spaces, &place).is_empty());
        assert!(!place.root.join("half.txt").exists());
    });
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        begin(&spaces, "del-1");
        for attempt in ["", "..", "../x", "a/b", ".hidden", "-x", "a b", "x.lock", "x..y", "x\n"] {
            let refused = spaces.create(&wanted("del-1", attempt));
            assert!(matches!(refused, Err(Error::Name { .. })), "{attempt:?}: {refused:?}");
            assert!(matches!(spaces.find(attempt), Err(Error::Name { .. })), "{attempt:?}");
        }
        assert!(matches!(spaces.create(&wanted("del-9", "exec-1")), Err(Error::Unknown { .. })));
    });
}

#[test]
fn a_merge_that_was_made_before_a_crash_is_not_made_twice() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let first = create(&spaces, "exec-1");
        let second = create(&spaces, "exec-2");
        write(&first.root, "one.txt", "1\n");
        write(&second.root, "two.txt", "2\n");
        let kept = [keep(&spaces, &first), keep(&spaces, &second)];
        for kept in &kept {
            merge(&spaces, kept);
        }
        let tip = project.git("rev-parse legation/del-1/result");
        for spaces in [spaces, project.open()] {
            for kept in &kept {
                assert_eq!(spaces.merge("del-1", kept).unwrap(), Merge::Nothing);
            }
        }
        assert_eq!(project.git("rev-parse legation/del-1/result"), tip);
    });
}

#[test]
fn a_copied_index_keeps_the_time_that_git_judges_by() {
    in_every_way(|| {
        let project = Project::new();
        let place = create(&project.open(), "exec-1");
        let time = |path| fs::metadata(path).unwrap().modified().unwrap();
        let ours = project.state().join("repos/exec-1.git/index");
        assert_eq!(time(place.root.join(".git/index")), time(ours));
    });
}

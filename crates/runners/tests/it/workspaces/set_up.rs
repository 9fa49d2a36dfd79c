//! What a new workspace has beside its files: copies, shared folders, ports, set-ups.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use legation_runners::workspace::{Limits, Options, Place, Surplus, Wanted};

use super::project::{
    Project, begin, create, files, git, in_every_way, in_way, keep, note, read, wanted, write,
};

fn variable(place: &Place, name: &str) -> String {
    place.env.iter().find(|(key, _)| key == name).unwrap().1.clone()
}

#[test]
fn ignored_files_that_are_listed_are_copied_and_are_nobodys_work() {
    in_every_way(|| {
        let project = Project::new();
        project.write(".gitignore", "*.log\n.env*\nsecrets/\n.legation/\n");
        project.write(
            ".worktreeinclude",
            "# what tests need\n.env*\n!.env.old\nsecrets/key\nREADME.md\n",
        );
        project.commit("lists");
        project.write(".env", "TOKEN=1\n");
        project.write(".env.old", "TOKEN=0\n");
        project.write("src/.env.local", "TOKEN=2\n");
        project.write("secrets/key", "k\n");
        project.write("secrets/other", "o\n");
        project.write("debug.log", "noise\n");
        project.write("untracked.txt", "not ignored\n");
        project.write(".legation/.env", "ours\n");
        let spaces = project.open();
        let place = create(&spaces, "exec-1");
        let there = [".env", "src/.env.local", "secrets/key"];
        let missing = [".env.old", "secrets/other", "debug.log", "untracked.txt", ".legation"];
        assert!(there.iter().all(|name| place.root.join(name).exists()));
        assert!(missing.iter().all(|name| !place.root.join(name).exists()));
        assert_eq!(files(&spaces, &place), Vec::<String>::new());
        assert_eq!(git(&place.root, "status --porcelain"), "");
        write(&place.root, ".env", "TOKEN=3\n");
        assert_eq!(files(&spaces, &place), [".env"]);
        write(&place.root, "work.txt", "x\n");
        let kept = keep(&spaces, &place);
        let kept = project.git(&format!("diff --name-only {} {}", kept.base, kept.commit));
        assert_eq!(kept, "work.txt");
        assert_eq!(project.read(".env"), "TOKEN=1\n");
    });
}

#[test]
fn a_shared_folder_is_seen_by_all_and_changed_by_none() {
    for way in [Wanted::Worktree, Wanted::Pool, Wanted::Overlay] {
        in_way(Wanted::Overlay, || {
            let project = Project::new();
            project.write("build/deep/cache.txt", "warm\n");
            let share = vec!["build".into(), "../outside".into(), "absent".into(), "src".into()];
            let options = || Options { share: share.clone(), mechanism: way, ..Options::default() };
            let spaces = project.open_exactly(&options());
            let (one, two) = (create(&spaces, "exec-1"), create(&spaces, "exec-2"));
            assert_eq!(read(&one.root, "build/deep/cache.txt"), "warm\n");
            write(&one.root, "build/deep/cache.txt", "mine\n");
            write(&one.root, "build/new.txt", "mine\n");
            assert_eq!(read(&two.root, "build/deep/cache.txt"), "warm\n");
            assert_eq!(project.read("build/deep/cache.txt"), "warm\n");
            assert_eq!(files(&spaces, &one), Vec::<String>::new(), "{way:?}");
            assert_eq!(git(&one.root, "status --porcelain"), "");
            for place in [&one, &two] {
                spaces.keep(place, &note()).unwrap();
                spaces.remove(place).unwrap();
                assert!(!place.root.exists());
            }
            drop(spaces);
            assert_eq!(project.read("build/deep/cache.txt"), "warm\n", "{way:?}");
            assert_eq!(fs::read_dir(project.state().join("trash")).unwrap().count(), 0);
            let spaces = project.open_exactly(&options());
            assert_eq!(read(&create(&spaces, "exec-3").root, "build/deep/cache.txt"), "warm\n");
        });
    }
}

#[test]
fn what_cannot_be_shared_is_told() {
    let share = vec!["build".into(), "../outside".into(), "absent".into(), "src".into()];
    let told = |mechanism| {
        let project = Project::new();
        project.write("build/deep/cache.txt", "warm\n");
        let options = Options { share: share.clone(), mechanism, ..Options::default() };
        let spaces = project.open_exactly(&options);
        let place = create(&spaces, &format!("exec-{mechanism:?}"));
        write(&place.root, "README.md", "changed\n");
        let told = spaces.look(&place).unwrap().not_shared;
        assert_eq!(told.is_empty(), place.root.join("build").exists(), "{mechanism:?}");
        told
    };
    assert_eq!(told(Wanted::Copy), ["build"]);
    in_way(Wanted::Overlay, || assert_eq!(told(Wanted::Overlay), Vec::<String>::new()));
    told(Wanted::Worktree);
}

#[test]
fn ports_and_names_belong_to_one_workspace_and_are_given_back() {
    let project = Project::new();
    let spaces = project.open();
    let places = [0, 1, 2, 3].map(|number| create(&spaces, &format!("exec-A.{number}")));
    let ports: HashSet<String> =
        places.iter().map(|place| variable(place, "LEGATION_PORT_BASE")).collect();
    assert_eq!(ports.len(), 4);
    assert_eq!(variable(&places[0], "COMPOSE_PROJECT_NAME"), "legation-exec-a-0");
    assert_eq!(spaces.find("exec-A.0").unwrap().unwrap().env, places[0].env);
    let leases = || fs::read_dir(project.state().join("leases")).unwrap().count();
    assert_eq!(leases(), 4);
    for place in &places {
        spaces.keep(place, &note()).unwrap();
        spaces.remove(place).unwrap();
    }
    assert_eq!(leases(), 0);
    let first = variable(&places[0], "LEGATION_PORT_BASE");
    assert_eq!(variable(&create(&spaces, "exec-5"), "LEGATION_PORT_BASE"), first);
}

#[test]
fn a_port_that_somebody_listens_on_is_not_given_away() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    let base: u16 = variable(&place, "LEGATION_PORT_BASE").parse().unwrap();
    spaces.keep(&place, &note()).unwrap();
    spaces.remove(&place).unwrap();
    for (attempt, address) in [("exec-2", "127.0.0.1"), ("exec-3", "::1")] {
        let Ok(_somebody) = TcpListener::bind((address, base + 7)) else {
            eprintln!("SKIPPED: nobody can listen on {address}");
            continue;
        };
        let place = create(&spaces, attempt);
        let next: u16 = variable(&place, "LEGATION_PORT_BASE").parse().unwrap();
        assert!(next > base + 9 || next < base, "{next} is not far from {base} on {address}");
    }
}

#[test]
fn a_lease_of_a_workspace_that_is_gone_is_taken_over() {
    let project = Project::new();
    let spaces = project.open();
    let place = create(&spaces, "exec-1");
    let port = variable(&place, "LEGATION_PORT_BASE");
    spaces.keep(&place, &note()).unwrap();
    spaces.remove(&place).unwrap();
    let gone = format!("{}\nexec-long-gone", project.state().display());
    fs::write(project.state().join("leases").join(&port), gone).unwrap();
    assert_eq!(variable(&create(&spaces, "exec-2"), "LEGATION_PORT_BASE"), port);
}

#[test]
fn projects_of_one_user_never_lease_the_same_port() {
    let (project, home) = (Project::new(), Project::plain());
    let states = home.outside("legation");
    // From the other end of the range, each would ask for the same ports sooner or later.
    let spaces = ["one", "two"].map(|name| Project::open_as(&project.dir(), &states.join(name)));
    let mut ports = HashSet::new();
    for (number, spaces) in spaces.iter().enumerate() {
        for attempt in 0..3 {
            let place = create(spaces, &format!("exec-{number}-{attempt}"));
            ports.insert(variable(&place, "LEGATION_PORT_BASE"));
        }
    }
    assert_eq!(ports.len(), 6);
    let leases = fs::read_dir(states.join("leases")).unwrap();
    let held: HashSet<String> =
        leases.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(held, ports);
    // One that the other project holds is not asked for, however free the port is.
    let place = create(&spaces[0], "exec-9");
    let taken = variable(&place, "LEGATION_PORT_BASE");
    let other = format!("{}\nexec-1-0", fs::canonicalize(states.join("two")).unwrap().display());
    spaces[0].keep(&place, &note()).unwrap();
    spaces[0].remove(&place).unwrap();
    fs::write(states.join("leases").join(&taken), other).unwrap();
    assert_ne!(variable(&create(&spaces[0], "exec-10"), "LEGATION_PORT_BASE"), taken);
}

#[test]
fn what_a_set_up_made_is_put_into_the_next_workspace_with_the_same_files() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let commands = ["make deps".to_owned()];
        let first = create(&spaces, "exec-1");
        assert!(!spaces.recall(&first, &commands).unwrap());
        write(&first.root, "build/dep.bin", "made\n");
        write(&first.root, "generated.txt", "made\n");
        spaces.remember(&first, &commands).unwrap();
        assert_eq!(files(&spaces, &first), Vec::<String>::new(), "it is no work");
        assert_eq!(spaces.keep(&first, &note()).unwrap(), None);
        let second = create(&spaces, "exec-2");
        assert!(!spaces.recall(&second, &["other".to_owned()]).unwrap());
        assert!(spaces.recall(&second, &commands).unwrap());
        assert_eq!(
            read(&second.root, "build/dep.bin") + &read(&second.root, "generated.txt"),
            "made\nmade\n"
        );
        assert_eq!(files(&spaces, &second), Vec::<String>::new());
        write(&second.root, "generated.txt", "changed\n");
        assert_eq!(files(&spaces, &second), ["generated.txt"]);
        project.write("README.md", "other files\n");
        project.commit("moved");
        begin(&spaces, "del-2");
        let third = spaces.create(&wanted("del-2", "exec-3")).unwrap();
        assert!(!spaces.recall(&third, &commands).unwrap());
    });
}

#[test]
fn a_set_up_is_made_anew_where_the_files_copied_for_it_are_others() {
    in_every_way(|| {
        let project = Project::new();
        project.write(".worktreeinclude", "x.log\n");
        project.commit("list");
        project.write("x.log", "one\n");
        let spaces = project.open();
        let commands = ["make deps".to_owned()];
        let first = create(&spaces, "exec-1");
        assert!(!spaces.recall(&first, &commands).unwrap());
        // What a set-up does to them is not what it started from.
        write(&first.root, "x.log", "changed\n");
        write(&first.root, "generated.txt", "of one\n");
        spaces.remember(&first, &commands).unwrap();
        assert!(spaces.recall(&create(&spaces, "exec-2"), &commands).unwrap());
        project.write("x.log", "two\n");
        assert!(!spaces.recall(&create(&spaces, "exec-3"), &commands).unwrap());
    });
}

#[test]
fn a_set_up_that_names_its_own_workspace_is_made_anew_in_each() {
    let writes: [fn(&Place) -> String; 3] = [
        |place| format!("#!{}/build/bin/python\n", place.root.display()),
        |place| format!("PORT={}\n", variable(place, "LEGATION_PORT_BASE")),
        |place| format!("name: {}\n", variable(place, "COMPOSE_PROJECT_NAME")),
    ];
    for text in writes {
        let project = Project::new();
        let spaces = project.open();
        let commands = vec!["make ready".to_owned()];
        let first = create(&spaces, "exec-1");
        write(&first.root, "build/made.txt", &text(&first));
        spaces.remember(&first, &commands).unwrap();
        assert_eq!(files(&spaces, &first), Vec::<String>::new());
        let second = create(&spaces, "exec-2");
        assert!(!spaces.recall(&second, &commands).unwrap(), "{}", text(&first));
        // A number with others around it is another number.
        let other = format!("1{}\n", variable(&second, "LEGATION_PORT_BASE"));
        write(&second.root, "build/made.txt", &other);
        spaces.remember(&second, &commands).unwrap();
        assert!(spaces.recall(&create(&spaces, "exec-3"), &commands).unwrap());
    }
}

#[test]
fn folders_that_a_set_up_made_and_left_empty_are_there_in_the_next_workspace() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let commands = vec!["mkdir -p build/tmp/pids".to_owned()];
        let first = create(&spaces, "exec-1");
        fs::create_dir_all(first.root.join("build/tmp/pids")).unwrap();
        spaces.remember(&first, &commands).unwrap();
        let second = create(&spaces, "exec-2");
        assert!(spaces.recall(&second, &commands).unwrap());
        assert!(second.root.join("build/tmp/pids").is_dir());
        assert_eq!(files(&spaces, &second), Vec::<String>::new());
    });
}

#[test]
fn a_set_up_of_the_repository_or_of_nothing_that_files_show_is_made_in_each() {
    in_every_way(|| {
        let project = Project::new();
        let spaces = project.open();
        let commands = vec!["set up".to_owned()];
        let does: [fn(&Place); 6] = [
            |_| {},
            |place| write(&place.root, ".git/info/exclude", "/build\n"),
            |place| write(&place.root, ".git/hooks/pre-commit", "#!/bin/sh\n"),
            |place| drop(git(&place.root, "config filter.lfs.smudge cat")),
            |place| drop(git(&place.root, "tag ready")),
            |place| drop(git(&place.root, "status --porcelain")),
        ];
        for (number, does) in (0..).zip(does) {
            let place = create(&spaces, &format!("exec-{number}"));
            assert!(!spaces.recall(&place, &commands).unwrap());
            if number > 0 {
                write(&place.root, "build/made.txt", "made\n");
            }
            does(&place);
            spaces.remember(&place, &commands).unwrap();
        }
        // The last one has only looked.
        assert!(spaces.recall(&create(&spaces, "exec-last"), &commands).unwrap());
    });
}

#[test]
fn what_a_set_up_made_is_a_spare_that_may_go() {
    let project = Project::new();
    let spaces = project.open();
    let commands = ["make deps".to_owned()];
    let first = create(&spaces, "exec-1");
    write(&first.root, "build/dep.bin", "made\n");
    spaces.remember(&first, &commands).unwrap();
    let limits = Limits { max_age: Duration::MAX, quota_bytes: 0, unapplied: false };
    let surplus = spaces.surplus(limits, |_| true).unwrap();
    let is_set_up = |what: &Surplus| {
        matches!(what, Surplus::Spare(spare)
        if spare.path.parent() == Some(&project.state().join("setups")))
    };
    let (set_up, _) = surplus.into_iter().find(|(what, _)| is_set_up(what)).unwrap();
    spaces.clear_away(&set_up).unwrap();
    assert!(!spaces.recall(&create(&spaces, "exec-2"), &commands).unwrap());
}

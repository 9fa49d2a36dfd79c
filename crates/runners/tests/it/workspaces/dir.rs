//! Workspaces that lie where somebody wants them.

use std::path::Path;

use legation_runners::workspace::{How, Options, Spaces};

use super::project::{Project, create, in_every_way, keep, merge, read, write};

fn at(project: &Project, dir: Option<&Path>) -> Spaces {
    project.open_with(Options { dir: dir.map(Path::to_owned), ..Options::default() })
}

fn works(project: &Project) {
    let dir = project.outside("else where");
    let spaces = at(project, Some(&dir));
    let place = create(&spaces, "exec-1");
    let home = dir.join("legation/state/workspaces");
    assert_eq!(place.root, std::fs::canonicalize(&home).unwrap().join("exec-1"));
    assert!(spaces.homes().ends_with(&[std::fs::canonicalize(&home).unwrap()]));
    write(&place.root, "new.txt", "1\n");
    assert_eq!(spaces.look(&place).unwrap().files_changed, ["new.txt"]);
    merge(&spaces, &keep(&spaces, &place));
    spaces.remove(&place).unwrap();
    assert!(!place.root.exists() && spaces.list().unwrap().is_empty());
    spaces.apply("del-1", How::Auto).unwrap();
    assert_eq!(project.read("new.txt"), "1\n");
}

#[test]
fn they_are_made_worked_in_and_removed_there() {
    in_every_way(|| works(&Project::new()));
    works(&Project::plain());
}

#[test]
fn whoever_moves_leaves_nobody_behind() {
    in_every_way(|| {
        let project = Project::new();
        let (one, other) = (project.outside("one"), project.outside("other"));
        let first = create(&at(&project, None), "exec-1");
        let second = create(&at(&project, Some(&one)), "exec-2");
        let spaces = at(&project, Some(&other));
        let third = create(&spaces, "exec-3");
        assert_eq!(spaces.homes().len(), 3);
        for place in [&first, &second, &third] {
            assert_eq!(spaces.find(&place.attempt).unwrap().as_ref(), Some(place));
            write(&place.root, &format!("{}.txt", place.attempt), "x\n");
        }
        assert_eq!(spaces.list().unwrap(), ["exec-1", "exec-2", "exec-3"]);
        // Whoever comes without the setting finds them, too.
        let spaces = project.open();
        for place in [&first, &second, &third] {
            merge(&spaces, &keep(&spaces, place));
            spaces.remove(place).unwrap();
            assert!(!place.root.exists(), "{place:?}");
        }
        assert!(spaces.list().unwrap().is_empty());
        let fourth = create(&spaces, "exec-4");
        assert_eq!(fourth.root.parent(), first.root.parent());
    });
}

#[test]
fn what_was_half_made_in_another_place_is_cleared() {
    let project = Project::new();
    let dir = project.outside("one");
    drop(at(&project, Some(&dir)));
    let half = dir.join("legation/state/workspaces/exec-1");
    write(&half, "half.txt", "x\n");
    let spaces = at(&project, None);
    assert!(!half.exists() && spaces.list().unwrap().is_empty());
}

#[test]
fn they_may_lie_in_the_project_and_are_no_part_of_it() {
    for project in [Project::new(), Project::plain()] {
        let spaces = at(&project, Some(&project.dir().join(".work")));
        let first = create(&spaces, "exec-1");
        assert!(!first.root.join(".work/legation").exists(), "a copy of itself");
        write(&first.root, "new.txt", "1\n");
        keep(&spaces, &first);
        if project.dir().join(".git").exists() {
            assert_eq!(project.git("status --porcelain"), "");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_with_what_to_do() {
    let project = Project::new();
    let refused = |dir: &Path| {
        let options = Options { dir: Some(dir.to_owned()), ..Options::default() };
        let opened = Spaces::open_with(&project.dir(), &project.state(), &options);
        let told = opened.unwrap_err().to_string();
        assert_eq!(Spaces::check_dir(dir).unwrap_err().to_string(), told);
        told.replace(&project.outside("").display().to_string(), "/")
    };
    let hint = "name a folder that you may write to, or remove the setting";
    let inside = "that is inside a repository's own folder";
    assert_eq!(
        refused(&project.dir().join(".git/work")),
        format!("workspace.dir is /my project/.git/work, and {inside}; {hint}")
    );
    std::os::unix::fs::symlink(project.dir().join(".git"), project.outside("link")).unwrap();
    assert_eq!(
        refused(&project.outside("link/work")),
        format!("workspace.dir is /link/work, and {inside}; {hint}")
    );
    std::fs::write(project.outside("file"), "").unwrap();
    assert_eq!(
        refused(&project.outside("file/work")),
        format!("workspace.dir is /file/work, and nothing can be written there; {hint}")
    );
    assert_eq!(
        refused(Path::new("work")),
        format!("workspace.dir is work, and that leads nowhere; {hint}")
    );
    assert_eq!(read(&project.dir(), "README.md"), "hello\n");
}

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use expect_test::expect;
use legation_core::returns::ArtifactFacts;
use legation_runners::artifacts::WorkspaceFiles;
use tempfile::TempDir;

/// A workspace beside a secret, and links of every kind between them.
fn disk() -> TempDir {
    let root = TempDir::new().unwrap();
    let at = |path: &str| root.path().join(path);
    for folder in ["ws/src/deep", "ws/hollow/inner", "ws/empty-file-in", "outside"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for (path, text) in [
        ("ws/out.txt", "x"),
        ("ws/empty.txt", ""),
        ("ws/src/deep/a.rs", "x"),
        ("ws/empty-file-in/e", ""),
        ("outside/secret", "x"),
    ] {
        fs::write(at(path), text).unwrap();
    }
    let inside = at("ws/out.txt");
    let gone = at("ws/gone");
    let links: [(&str, &Path); 14] = [
        ("to-file", Path::new("out.txt")),
        ("to-folder", Path::new("src")),
        ("to-empty", Path::new("./hollow")),
        ("absolute-inside", &inside),
        ("absolute-gone", &gone),
        ("there-and-back", Path::new("src/../out.txt")),
        ("out", Path::new("../outside")),
        ("out-and-back", Path::new("../ws/out.txt")),
        ("absolute-out", Path::new("/etc/passwd")),
        ("dangling-in", Path::new("nowhere")),
        ("dangling-out", Path::new("../nowhere")),
        ("absolute-dangling-out", Path::new("/nowhere/at/all")),
        ("circle", Path::new("circle")),
        ("src/up", Path::new("../../outside/secret")),
    ];
    for (link, target) in links {
        symlink(target, at("ws").join(link)).unwrap();
    }
    symlink("../../outside/secret", at("ws/hollow/link")).unwrap();
    UnixListener::bind(at("ws/socket")).unwrap();
    root
}

#[test]
fn the_disk_answers_for_every_kind_of_path() {
    let root = disk();
    let files = WorkspaceFiles::new(&root.path().join("ws")).unwrap();
    let paths = [
        "out.txt",
        "empty.txt",
        "missing.txt",
        "src",
        "src/deep",
        "src/deep/a.rs",
        "hollow",
        "hollow/inner",
        "empty-file-in",
        "out.txt/below",
        "to-file",
        "to-folder",
        "to-folder/deep/a.rs",
        "to-folder/missing",
        "to-empty",
        "absolute-inside",
        "absolute-gone",
        "there-and-back",
        "out",
        "out/secret",
        "out/missing",
        "out-and-back",
        "absolute-out",
        "dangling-in",
        "dangling-out",
        "absolute-dangling-out",
        "circle",
        "src/up",
        "hollow/link",
        "socket",
    ];
    let told: String =
        paths.iter().map(|path| format!("{path}: {:?}\n", files.look(path))).collect();
    expect![[r#"
        out.txt: Present
        empty.txt: Empty
        missing.txt: Missing
        src: Present
        src/deep: Present
        src/deep/a.rs: Present
        hollow: Empty
        hollow/inner: Empty
        empty-file-in: Present
        out.txt/below: Missing
        to-file: Present
        to-folder: Present
        to-folder/deep/a.rs: Present
        to-folder/missing: Missing
        to-empty: Empty
        absolute-inside: Present
        absolute-gone: Missing
        there-and-back: Present
        out: Outside
        out/secret: Outside
        out/missing: Outside
        out-and-back: Outside
        absolute-out: Outside
        dangling-in: Missing
        dangling-out: Outside
        absolute-dangling-out: Outside
        circle: Unreadable
        src/up: Outside
        hollow/link: Outside
        socket: Unreadable
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_workspace_reached_through_a_link_is_the_same_workspace() {
    let root = disk();
    let alias = root.path().join("alias");
    symlink(root.path().join("ws"), &alias).unwrap();
    symlink(alias.join("out.txt"), root.path().join("ws/by-alias")).unwrap();
    let files = WorkspaceFiles::new(&alias).unwrap();
    let told = ["out.txt", "by-alias", "out"].map(|path| format!("{:?}", files.look(path)));
    assert_eq!(told, ["Present", "Present", "Outside"]);
}

#[test]
fn a_search_for_a_file_gives_up_after_so_many_entries() {
    let root = TempDir::new().unwrap();
    for n in 0..1_001 {
        fs::create_dir(root.path().join(format!("{n}"))).unwrap();
    }
    fs::create_dir(root.path().join("top")).unwrap();
    let parent = root.path().parent().unwrap();
    let name = root.path().file_name().unwrap().to_str().unwrap();
    let files = WorkspaceFiles::new(parent).unwrap();
    assert_eq!(format!("{:?}", files.look(name)), "Unreadable");
    let files = WorkspaceFiles::new(root.path()).unwrap();
    assert_eq!(format!("{:?}", files.look("top")), "Empty");
}

#[test]
fn a_workspace_is_a_folder_that_exists() {
    let root = disk();
    for path in ["missing", "ws/out.txt"] {
        assert!(WorkspaceFiles::new(&root.path().join(path)).is_err(), "{path}");
    }
}

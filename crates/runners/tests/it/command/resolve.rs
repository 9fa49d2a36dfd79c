//! Where the program of an agent is found.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use expect_test::expect;
use legation_runners::command::{Folders, resolve};

fn file(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_workspace_comes_before_the_agents_folder_and_bare_names_are_in_the_path() {
    let root = tempfile::TempDir::new().unwrap();
    let at = |path: &str| root.path().join(path);
    for path in ["w/both.sh", "w/tools/deep.sh", "a/both.sh", "a/beside.sh", "p/tool", "w/tool"] {
        file(&at(path), 0o755);
    }
    for path in ["w/plain.sh", "p/flat", "w/shadow.sh"] {
        file(&at(path), 0o644);
    }
    file(&at("a/shadow.sh"), 0o755);
    fs::create_dir_all(at("w/folder")).unwrap();
    let (workspace, beside) = (at("w"), at("a"));
    let search = format!("relative::{}:{}", at("none").display(), at("p").display());
    let folders = Folders { workspace: &workspace, beside: Some(&beside), search: Some(&search) };
    let absolute = at("p/tool").to_string_lossy().into_owned();
    let commands = [
        "./both.sh",
        "./beside.sh",
        "tools/deep.sh",
        "./shadow.sh",
        "tool",
        &absolute,
        "./plain.sh",
        "flat",
        "./folder",
        "./missing.sh",
        "missing",
        "/no/such/program",
        "",
    ];
    let mut shown = String::new();
    for command in commands {
        let found = resolve(&[command.to_owned(), "-x".to_owned()], &folders);
        let found = found.map_or_else(|error| error.to_string(), |found| found.join(" "));
        let _ = writeln!(shown, "{command} -> {found}");
    }
    let _ = writeln!(shown, "nothing -> {}", resolve(&[], &folders).unwrap_err());
    expect![[r#"
        ./both.sh -> ROOT/w/both.sh -x
        ./beside.sh -> ROOT/a/beside.sh -x
        tools/deep.sh -> ROOT/w/tools/deep.sh -x
        ./shadow.sh -> ROOT/w/shadow.sh is not executable; `chmod +x` it
        tool -> ROOT/p/tool -x
        ROOT/p/tool -> ROOT/p/tool -x
        ./plain.sh -> ROOT/w/plain.sh is not executable; `chmod +x` it
        flat -> ROOT/p/flat is not executable; `chmod +x` it
        ./folder -> there is no program `./folder` in ROOT/w or ROOT/a
        ./missing.sh -> there is no program `./missing.sh` in ROOT/w or ROOT/a
        missing -> there is no program `missing` in PATH
        /no/such/program -> there is no program `/no/such/program` in the file system
         -> the agent's `command` is empty; give it a program
        nothing -> the agent's `command` is empty; give it a program
    "#]]
    .assert_eq(&shown.replace(&*root.path().to_string_lossy(), "ROOT"));
}

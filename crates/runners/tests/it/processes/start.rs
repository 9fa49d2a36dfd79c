//! How programs are started, and what is said when they cannot be.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use legation_runners::fence::Fence;
use legation_runners::keep::{Ended, Supervision, cgroup};
use legation_runners::supervise::{Error, Keeper};

use super::stage::{Stage, ended, rest};

#[tokio::test]
async fn a_program_gets_its_brief_and_its_output_and_end_are_told() {
    let (output, ended) = Stage::new().play("cat; echo done; echo oops >&2; exit 3").await;
    assert_eq!(output, "the brief\ndone\n");
    let Ended { code, signal, stdout_bytes, stderr_bytes, left_over, stopped, .. } = ended;
    assert_eq!((code, signal), (Some(3), None));
    assert_eq!((stdout_bytes, stderr_bytes, left_over, stopped), (15, 5, 0, false));
}

#[tokio::test]
async fn a_program_has_the_environment_it_was_given_and_nothing_else() {
    let stage = Stage::new();
    let mut order = stage.order(&["/usr/bin/env"]);
    order.env = vec![("B".to_owned(), "2".to_owned()), ("A".to_owned(), "1=1".to_owned())];
    let mut running = super::stage::keeper().spawn(&order).await.unwrap();
    let output = String::from_utf8(rest(&mut running).await).unwrap();
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=1=1", "B=2"]);
    assert_eq!(ended(&mut running).await.code, Some(0));
}

#[tokio::test]
async fn a_program_that_says_nothing_and_exits_is_no_problem() {
    let stage = Stage::new();
    let (output, ended) = stage.play("exit 0").await;
    assert_eq!((output.as_str(), ended.code), ("", Some(0)));
    assert_eq!(Ended::read(&stage.dir()), Some(ended));
    let files = fs::read_dir(stage.dir()).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["exit.json"]);
}

#[tokio::test]
async fn what_cannot_be_started_is_reported_in_words() {
    let stage = Stage::new();
    let at = |name: &str| stage.workspace().join(name).to_string_lossy().into_owned();
    fs::write(at("plain"), "#!/bin/sh\n").unwrap();
    stage.script("lost", "#!/no/such/interpreter\n");
    stage.script("bare", "echo no first line\n");
    let mut said = String::new();
    for name in ["missing", "plain", "lost", "bare"] {
        let _ = fs::remove_dir_all(stage.dir());
        let mut running = stage.try_run(&[&at(name)]).await.unwrap();
        assert_eq!(rest(&mut running).await, b"");
        let message = ended(&mut running).await.start_failed.unwrap();
        said += &format!("{}\n", message.replace(&*stage.workspace().to_string_lossy(), "W"));
    }
    expect![[r#"
        cannot start `W/missing`: No such file or directory (os error 2)
        cannot start `W/plain`: Permission denied (os error 13); is it executable?
        cannot start `W/lost`: No such file or directory (os error 2); the interpreter that its first line names is missing
        cannot start `W/bare`: Exec format error (os error 8); a script needs a first line such as #!/bin/sh
    "#]]
    .assert_eq(&said);
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_named() {
    let stage = Stage::new();
    fs::remove_dir(stage.workspace()).unwrap();
    let mut running = stage.shell("echo never").await;
    let message = ended(&mut running).await.start_failed.unwrap();
    assert!(message.contains("there is no folder"), "{message}");
}

#[tokio::test]
async fn an_attempt_is_kept_once() {
    let stage = Stage::new();
    let mut running = stage.shell("echo first; while [ ! -e go ]; do :; done").await;
    let second = stage.try_run(&["/bin/sh", "-c", "echo second"]).await;
    assert!(matches!(second, Err(Error::GaveUp(_))), "{second:?}");
    fs::write(stage.workspace().join("go"), "").unwrap();
    ended(&mut running).await;
    let third = stage.try_run(&["/bin/sh", "-c", "echo third"]).await;
    assert!(matches!(third, Err(Error::GaveUp(_))), "{third:?}");
    assert_eq!(fs::read(stage.dir().join("stdout")).unwrap(), b"first\n");
}

#[tokio::test]
async fn a_program_that_removes_its_attempts_files_is_still_reported() {
    let stage = Stage::new();
    let commands = format!("echo on; rm -f {}/*; exit 5", stage.dir().display());
    let (output, ended) = stage.play(&commands).await;
    assert_eq!((output.as_str(), ended.code), ("on\n", Some(5)));
}

#[tokio::test]
async fn a_keeper_that_is_not_there_is_named() {
    let stage = Stage::new();
    let keeper = Keeper { exe: "/no/such/keeper".into(), args: Vec::new() };
    let error = keeper.spawn(&stage.order(&["/bin/true"])).await.unwrap_err();
    expect!["start the keeper /no/such/keeper: No such file or directory (os error 2)"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_program_is_in_its_cgroup_where_one_can_be_made() {
    let mut stage = Stage::new();
    let group = cgroup::own().map(|own| own.join(format!("test-{}", stage.session)));
    let is_possible = group.as_ref().is_some_and(|group| fs::create_dir(group).is_ok());
    stage.cgroup = group.clone();
    let (output, ended) = stage.play("grep ^0:: /proc/self/cgroup; sleep 1000 &").await;
    let expected = if is_possible { Supervision::Cgroup } else { Supervision::Subreaper };
    assert_eq!(ended.supervised_by, expected);
    assert_eq!(output.contains("/test-sess_"), is_possible, "{output}");
    assert_eq!((ended.code, ended.left_over), (Some(0), 1));
    assert!(!group.is_some_and(|group| group.exists()));
}

#[tokio::test]
async fn a_fenced_program_is_born_with_its_mark_which_leads_nowhere_and_without_a_terminal() {
    let mut stage = Stage::new();
    let base = fs::canonicalize(stage.workspace()).unwrap();
    let victim = base.with_file_name("victim");
    fs::write(&victim, "precious\n").unwrap();
    let mode = |mode| fs::set_permissions(&victim, fs::Permissions::from_mode(mode));
    mode(0o600).unwrap();
    let home = base.parent().unwrap().to_owned();
    stage.fence = Some(Fence {
        hidden: vec![home.join("attempt")],
        writable: vec![base],
        required: true,
        ..Fence::default()
    });
    let script = "for at in /proc/$$/fd/*; do case ${at##*/} in [012]) ;; \
                  *) [ -L $at ] && echo ${at##*/} && readlink $at;; esac; done\n\
                  chmod 777 /proc/self/fd/64/../victim && echo changed\n\
                  ls /proc/self/fd/64 && echo listed\n\
                  : < /dev/tty && echo terminal";
    let (said, _) = stage.play(&format!("exec 2>/dev/null\n{script}")).await;
    assert_eq!(said, format!("64\n{}\n", home.join("attempt").display()));
    assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o600);
}

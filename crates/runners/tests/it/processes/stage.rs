//! A folder for one attempt, programs to run in it, and looks at what they started.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use legation_core::ids::{AttemptId, SessionId};
use legation_core::tree::event::Process;
use legation_runners::fence::Fence;
use legation_runners::keep::{Ceilings, Ended, Limits, Order};
use legation_runners::supervise::{Error, Exit, Keeper, Running, Traces};
use tempfile::TempDir;
use tokio::time::{interval, timeout};

/// What takes longer than this hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// No process at all.
pub(super) const NOBODY: [u32; 0] = [];

/// One attempt.
pub(super) struct Stage {
    folder: TempDir,
    place: PathBuf,
    pub(super) session: SessionId,
    pub(super) limits: Limits,
    pub(super) deadline_ms: Option<u64>,
    pub(super) cgroup: Option<PathBuf>,
    pub(super) fence: Option<Fence>,
    pub(super) attempt: String,
    pub(super) ceilings: Ceilings,
}

impl Stage {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("workspace")).unwrap();
        // The session is what processes are found by, so no two tests may share one.
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let session = SessionId::new(format!("sess_{name}"));
        // Long enough for a machine that has much else to do.
        let limits = Limits { grace_ms: 30_000, ..Limits::default() };
        let place = folder.path().join("workspace");
        Self {
            folder,
            place,
            session,
            limits,
            deadline_ms: None,
            cgroup: None,
            fence: None,
            attempt: "exec-1".to_owned(),
            ceilings: Ceilings::default(),
        }
    }

    /// One for programs that take no notice of SIGTERM.
    pub(super) fn impatient() -> Self {
        let mut stage = Self::new();
        stage.limits.grace_ms = 200;
        stage
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.folder.path().join("attempt")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.place.clone()
    }

    /// What is known of the attempt when its keeper is gone.
    pub(super) fn traces<'a>(&'a self, dir: &'a Path, keeper: Option<Process>) -> Traces<'a> {
        Traces { session: &self.session, dir, keeper, workspace: Some(&self.place) }
    }

    /// A file in the workspace that may be executed.
    pub(super) fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.workspace().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(super) fn order(&self, program: &[&str]) -> Order {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Order {
            asks_first: false,
            serves: None,
            attempt: AttemptId::new(&self.attempt),
            session: self.session.clone(),
            dir: self.dir(),
            program: program.iter().map(|&word| word.to_owned()).collect(),
            env: vec![
                ("PATH".to_owned(), std::env::var("PATH").unwrap()),
                ("LEGATION_SESSION_ID".to_owned(), self.session.to_string()),
                ("WORKSPACE".to_owned(), text(&self.workspace())),
            ],
            cwd: self.workspace(),
            stdin: "the brief\n".to_owned(),
            limits: self.limits,
            deadline_ms: self.deadline_ms,
            cgroup: self.cgroup.clone(),
            ceilings: self.ceilings,
            fence: self.fence.clone(),
        }
    }

    pub(super) async fn try_run(&self, program: &[&str]) -> Result<Running, Error> {
        in_time(keeper().spawn(&self.order(program))).await
    }

    /// Starts a shell with these commands.
    pub(super) async fn shell(&self, commands: &str) -> Running {
        self.try_run(&["/bin/sh", "-c", commands]).await.unwrap()
    }

    /// Runs these commands to their end.
    pub(super) async fn play(&self, commands: &str) -> (String, Ended) {
        let mut running = self.shell(commands).await;
        let output = rest(&mut running).await;
        (String::from_utf8_lossy(&output).into_owned(), ended(&mut running).await)
    }
}

/// The keeper that is built with these tests.
pub(super) fn keeper() -> Keeper {
    Keeper { exe: PathBuf::from(env!("CARGO_BIN_EXE_keeper")), args: Vec::new() }
}

pub(super) async fn in_time<F: Future>(future: F) -> F::Output {
    timeout(DEADLINE, future).await.expect("it hangs")
}

/// Everything that is still to be read.
pub(super) async fn rest(running: &mut Running) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(chunk) = in_time(running.read()).await {
        all.extend(chunk);
    }
    all
}

/// Reads until there are so many whole lines, and returns their words.
pub(super) async fn words(running: &mut Running, lines: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.iter().filter(|&&byte| byte == b'\n').count() < lines {
        all.extend(in_time(running.read()).await.expect("the output ended too soon"));
    }
    String::from_utf8(all).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// The same for lines that are numbers of processes.
pub(super) async fn pids(running: &mut Running, lines: usize) -> Vec<u32> {
    words(running, lines).await.iter().map(|word| word.parse().unwrap()).collect()
}

pub(super) async fn ended(running: &mut Running) -> Ended {
    match in_time(running.wait()).await {
        Exit::Ended(ended) => ended,
        Exit::Lost { reaped } => panic!("lost, with {reaped} processes"),
    }
}

/// The letter for what a process does; nothing if there is none.
pub(super) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Those of the processes that live.
pub(super) fn alive(pids: &[u32]) -> Vec<u32> {
    let lives = |pid: &u32| state(*pid).is_some_and(|state| state != 'Z' && state != 'X');
    pids.iter().copied().filter(lives).collect()
}

/// Looks again and again until it is so.
pub(super) async fn eventually(mut is_so: impl FnMut() -> bool) {
    let mut looks = interval(Duration::from_millis(5));
    in_time(async {
        while !is_so() {
            looks.tick().await;
        }
    })
    .await;
}

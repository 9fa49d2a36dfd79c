//! A conversation with a program that is started for each turn, or stays.
//!
//! What is said to it and what its output means is for the vendor's module to say; here
//! it is started, listened to, asked to stop, and buried.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until, timeout};

use super::charge::Charge;
use super::dialogue::Dialogue;
use super::ear::Ear;
use super::event::{Event, Fault, FaultKind, Outcome};
use super::told::Told;
use crate::procfs::Busy;

/// Bytes of the program's last words that are kept for a failure.
const LAST_WORDS: usize = 4 << 10;
/// How long a program that was asked to stop may take, before it is left to the keeper.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a program may stay after it has said everything.
const END_AFTER: Duration = Duration::from_secs(5);
/// How long output is waited for after the program has ended: something it left may hold
/// its output open.
const DRAIN: Duration = Duration::from_millis(500);
/// How often silence is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A vendor's program.
pub trait Program {
    /// How long it may say nothing outside a tool call.
    const SILENCE: Duration;

    /// How it is started for a turn.
    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn>;

    /// Takes a piece of its output. It is one stream from turn to turn: figures that a
    /// program adds up over a conversation are told as differences.
    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>);

    /// Whether it has said that this turn is over.
    fn is_over(&self) -> bool;

    /// What came of the turn, after the program has ended or said that it is over.
    fn end(&mut self, end: &End<'_>) -> Outcome;

    /// How it is asked to stop.
    fn interrupt(&self) -> Interrupt;
}

/// What is to be said.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The words.
    pub text: &'a str,
    /// How often something was said before.
    pub no: u32,
}

/// How a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it gets in its environment beside what this process has.
    pub env: Vec<(String, String)>,
    /// Files that it wants to read.
    pub files: Vec<(PathBuf, String)>,
    /// What it reads on its standard input.
    pub stdin: Stdin,
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// This, and then nothing more.
    Once(String),
    /// This, and more may come until the turn is over.
    Open(String),
}

/// How a program is asked to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// By SIGINT.
    Signal,
    /// By words on its standard input.
    Say(String),
}

/// How a program ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// Its exit status; absent where it did not end in time.
    pub status: Option<ExitStatus>,
    /// The last it wrote to its standard error.
    pub last_words: &'a str,
}

/// A conversation with such a program.
pub(super) struct Process<P> {
    program: P,
    turns: u32,
}

impl<P> Process<P> {
    pub(super) fn with(program: P) -> Self {
        Self { program, turns: 0 }
    }
}

impl<P: Program> Dialogue for Process<P> {
    async fn turn(&mut self, charge: &Charge, text: &str, ear: &mut Ear) -> Outcome {
        let turn = Turn { text, no: self.turns };
        self.turns += 1;
        let started =
            self.program.spawn(charge, &turn).and_then(|spawn| Running::start(charge, &spawn));
        match started {
            Ok(running) => self.listen(running, ear).await,
            Err(problem) => {
                let program = charge.program.first().map_or("the program", String::as_str);
                let message = format!("{program} cannot be started: {problem}");
                Outcome::Broken(Fault::new(FaultKind::NotStarted, message))
            }
        }
    }
}

impl<P: Program> Process<P> {
    async fn listen(&mut self, mut running: Running, ear: &mut Ear) -> Outcome {
        let mut piece = vec![0; 64 << 10];
        let mut heard = Vec::new();
        let mut give_up_at = None;
        let mut next_look = Instant::now() + LOOK_EVERY;
        let mut busy = Busy::below(running.child.id());
        let mut is_told = false;
        loop {
            tokio::select! {
                read = running.stdout.read(&mut piece) => {
                    let count = read.unwrap_or(0);
                    let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
                    self.program.push(bytes, &mut heard);
                    heard.drain(..).for_each(|event| ear.hear(event));
                    if self.program.is_over() && give_up_at.is_none() {
                        running.say = None;
                        give_up_at = Some(Instant::now() + END_AFTER);
                    }
                }
                _ = running.child.wait() => {
                    let rest = timeout(DRAIN, self.drain(&mut running, ear));
                    // Whoever still holds the output is not the program.
                    let _ = rest.await;
                    break;
                }
                () = ear.stopped(), if !is_told => {
                    is_told = true;
                    running.interrupt(self.program.interrupt());
                    give_up_at = Some(Instant::now() + PATIENCE);
                }
                () = sleep_until(give_up_at.unwrap_or(next_look)), if give_up_at.is_some() => break,
                () = sleep_until(next_look) => {
                    next_look = Instant::now() + LOOK_EVERY;
                    if busy.changed() {
                        ear.stay_calm();
                    }
                    let silent = ear.silent_for();
                    if silent >= P::SILENCE {
                        let after_ms = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
                        ear.tell(&Told::Stalled { after_ms });
                        ear.stay_calm();
                    }
                }
            }
        }
        self.bury(running).await
    }

    /// Reads what is left.
    async fn drain(&mut self, running: &mut Running, ear: &mut Ear) {
        let mut piece = vec![0; 64 << 10];
        let mut heard = Vec::new();
        while let Ok(count) = running.stdout.read(&mut piece).await {
            let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { return };
            self.program.push(bytes, &mut heard);
            heard.drain(..).for_each(|event| ear.hear(event));
        }
    }

    async fn bury(&mut self, mut running: Running) -> Outcome {
        running.say = None;
        let status = timeout(END_AFTER, running.child.wait()).await;
        if status.is_err() {
            // What it has started is left to the keeper.
            let _ = running.child.kill().await;
        }
        let last_words = running.last_words.await.unwrap_or_default();
        let status = status.ok().and_then(Result::ok);
        self.program.end(&End { status, last_words: &last_words })
    }
}

/// A program that runs.
struct Running {
    child: Child,
    /// Until this is dropped its standard input stays open.
    say: Option<UnboundedSender<String>>,
    stdout: ChildStdout,
    last_words: tokio::task::JoinHandle<String>,
}

impl Running {
    fn start(charge: &Charge, spawn: &Spawn) -> io::Result<Self> {
        for (path, text) in &spawn.files {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)?;
        }
        let (program, arguments) =
            spawn.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&charge.workspace);
        command.envs(spawn.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = ends else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let last_words = tokio::spawn(last_words(stderr));
        let (say, to_say) = mpsc::unbounded_channel();
        tokio::spawn(speak(stdin, to_say));
        let (first, stays_open) = match &spawn.stdin {
            Stdin::Once(text) => (text.clone(), false),
            Stdin::Open(text) => (text.clone(), true),
        };
        // One that has ended already is noticed by its end.
        let _ = say.send(first);
        Ok(Self { child, say: stays_open.then_some(say), stdout, last_words })
    }

    fn interrupt(&self, how: Interrupt) {
        match (how, &self.say) {
            (Interrupt::Say(words), Some(say)) => drop(say.send(words)),
            (Interrupt::Say(_), None) | (Interrupt::Signal, _) => {
                let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
                // One that has ended need not be asked.
                pid.map(|pid| kill_process(pid, Signal::INT));
            }
        }
    }
}

/// Says what there is to say, until nobody wants to say anything more.
async fn speak(mut stdin: ChildStdin, mut to_say: UnboundedReceiver<String>) {
    while let Some(words) = to_say.recv().await {
        // A program that does not care for it is free not to read it.
        if stdin.write_all(words.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Passes on what the program says about itself, and keeps the end of it.
async fn last_words(mut stderr: tokio::process::ChildStderr) -> String {
    let mut piece = vec![0; 16 << 10];
    let mut kept: Vec<u8> = Vec::new();
    while let Ok(count) = stderr.read(&mut piece).await {
        let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        // Nobody can be told that nobody listens.
        let _ = io::Write::write_all(&mut io::stderr(), bytes);
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

//! `legation demo`: a scratch project, a few small programs as agents, and what is
//! left to look at afterwards. It needs no key and no network.

mod scratch;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use legation_core::Code;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use crate::error::CommandError;
use crate::output::Output;
use crate::page::tame;
use crate::watch::no_signals;

/// Shows everything at once, in a scratch repository of its own.
///
/// Three agents side by side, one that delegates in turn, one that is refused for being too
/// deep, two that edit the same line, one that runs out of time.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave the scratch project where it is, to look around in it.
    #[arg(long)]
    keep: bool,
}

/// Runs the demo.
pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let interrupts = Interrupts::catch()?;
    let scratch = scratch::Scratch::make()?;
    let quiet = output.wants_json();
    let mut stage = Stage { folder: scratch.folder.clone(), quiet, interrupts };
    let outcome = stage.play(output);
    let kept = args.keep.then(|| scratch.folder.clone());
    if args.keep {
        scratch.keep();
    } else {
        scratch.clear();
    }
    let ids = outcome?;
    output.answer(&json!({"directory": kept, "delegations": ids}), || match &kept {
        Some(folder) => next(folder, &ids),
        None => "The scratch project is gone again; `legation demo --keep` leaves it for you to \
                 look around in.\nNext: docs/guides/first-delegation.md writes an agent of your \
                 own in ten lines."
            .to_owned(),
    });
    Ok(ExitCode::SUCCESS)
}

fn next(folder: &Path, ids: &[String]) -> String {
    let first = ids.first().map_or("ID", String::as_str);
    format!(
        "The scratch project is in {folder}. Look around in it:\n\
         \x20 cd {folder}\n\
         \x20 legation status {first}     what each agent said, and what was seen of it\n\
         \x20 legation trace {first}      who ran when\n\
         \x20 legation diff {first}       what they changed; `legation apply` takes it over\n\
         \x20 ls .legation/agents         the agents: a few lines of shell each",
        folder = folder.display(),
    )
}

/// Ctrl-C. It reaches what the demo runs as well, which ends by it; the demo itself has to
/// clear up.
struct Interrupts {
    runtime: Runtime,
    signal: Signal,
}

impl Interrupts {
    fn catch() -> Result<Self, CommandError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let caught = runtime.and_then(|runtime| {
            let signal = runtime.block_on(async { signal(SignalKind::interrupt()) })?;
            Ok(Self { runtime, signal })
        });
        caught.map_err(|problem| no_signals(&problem))
    }

    /// Whether one has come.
    fn came(&mut self) -> bool {
        let Self { runtime, signal } = self;
        runtime.block_on(async { timeout(Duration::ZERO, signal.recv()).await.is_ok() })
    }
}

/// Where the demo takes place.
struct Stage {
    folder: PathBuf,
    quiet: bool,
    interrupts: Interrupts,
}

impl Stage {
    /// Everything there is to see, in order; the ids of what was delegated.
    fn play(&mut self, output: &mut Output) -> Result<Vec<String>, CommandError> {
        self.say(output, "Three agents side by side. One of them delegates in turn, and below it");
        self.say(output, "somebody tries to go deeper than two levels, which is refused.\n");
        let plan = ["--plan", ".legation/plan.json", "Look after this project"];
        let (first, answer) = self.delegate(&plan)?;
        self.show(output, &["tree", &first])?;
        let refusal = find(&answer, "refused").and_then(|said| said.pointer("/error"));
        if let Some(refusal) = refusal {
            let word = |key: &str| refusal.get(key).and_then(Value::as_str).unwrap_or_default();
            let said = format!("\nRefused below: {}: {}", word("code"), word("message"));
            self.say(output, &said);
        }
        let writers = self.conflict(output)?;
        self.say(
            output,
            "\nOne agent that would never end. It gets two seconds; what it wrote stays.\n",
        );
        let (second, answer) = self.delegate(&["--agent", "dreamer", "Think about everything"])?;
        self.show(output, &["tree", &second])?;
        let said = answer.pointer("/subtasks/0/return/errors/0/message").and_then(Value::as_str);
        let left = answer.pointer("/subtasks/0/receipt/filesChanged/0").and_then(Value::as_str);
        if let (Some(said), Some(left)) = (said, left) {
            self.say(output, &format!("\n{said}; it left {left}, which is kept."));
        }
        self.say(
            output,
            "\nWhat it cost, as the agents of the demo say, everything below included:\n",
        );
        self.show(output, &["cost", &first])?;
        self.say(output, "");
        Ok(vec![first, writers, second])
    }

    /// Two agents edit the same line; the one that comes second is asked again.
    fn conflict(&mut self, output: &mut Output) -> Result<String, CommandError> {
        self.say(output, "\nTwo agents edit the same line, each in a workspace of its own.\n");
        let plan = ["--plan", ".legation/two-writers.json", "Improve the title"];
        let (id, answer) = self.delegate(&plan)?;
        self.show(output, &["tree", &id])?;
        let subtasks = answer.get("subtasks").and_then(Value::as_array).into_iter().flatten();
        let word = |value: &Value, at: &str| {
            value.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let Some(blocked) = subtasks.into_iter().find(|one| word(one, "/status") == "blocked")
        else {
            return Ok(id);
        };
        let name = word(blocked, "/id");
        // What an agent wrote is shown as text and as nothing else.
        let hunk = word(blocked, "/error/details/hunks/0/text");
        let hunk = hunk.lines().map(tame).collect::<Vec<_>>().join("\n");
        self.say(output, &format!("\nThe second to come is blocked; its work is kept.\n\n{hunk}"));
        self.say(
            output,
            "\nAsked again, it starts from what was merged, and knows of the conflict.\n",
        );
        let note = ["--note", "Keep what the other one wrote.", "--wait"];
        let mut retry = self.legation(&["--json", "retry", &id, &name]);
        self.run(retry.args(note))?;
        self.show(output, &["tree", &id])?;
        self.say(output, "");
        self.show(output, &["diff", &id])?;
        Ok(id)
    }

    fn say(&self, output: &mut Output, text: &str) {
        if !self.quiet {
            output.line(&Value::Null, || text.to_owned());
        }
    }

    /// Delegates; the id and the answer. However it ends, that it ran is what matters here.
    fn delegate(&mut self, what: &[&str]) -> Result<(String, Value), CommandError> {
        let mut delegate = self.legation(&["--json", "delegate"]);
        let ran = self.run(delegate.args(what))?;
        let answer: Value = serde_json::from_slice(&ran.stdout)
            .map_err(|_| broken(&String::from_utf8_lossy(&ran.stderr)))?;
        let id = answer.get("delegationId").and_then(Value::as_str);
        let id = id.map(str::to_owned).ok_or_else(|| broken(&answer.to_string()))?;
        Ok((id, answer))
    }

    /// Shows what a command says.
    fn show(&mut self, output: &mut Output, what: &[&str]) -> Result<(), CommandError> {
        if self.quiet {
            return Ok(());
        }
        let mut command = self.legation(what);
        let ran = self.run(&mut command)?;
        self.say(output, String::from_utf8_lossy(&ran.stdout).trim_end());
        Ok(())
    }

    /// Runs a command to its end, unless that is what somebody pressed Ctrl-C for.
    fn run(&mut self, command: &mut Command) -> Result<std::process::Output, CommandError> {
        let ran = command.output().map_err(|problem| broken(&problem.to_string()))?;
        match self.interrupts.came() {
            false => Ok(ran),
            true => Err(broken("you pressed Ctrl-C")),
        }
    }

    /// This very program, in the scratch project, as a root of its own.
    fn legation(&self, args: &[&str]) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("legation"));
        let mut command = Command::new(&program);
        command.args(args).current_dir(&self.folder).stdin(Stdio::null());
        // The agents call `legation` by name; this is the one they should find.
        if let Some(folder) = program.parent() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let all = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
            if let Ok(joined) = std::env::join_paths(all) {
                command.env("PATH", joined);
            }
        }
        command
    }
}

/// The first value of this name, however deep it lies.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => {
            map.get(name).or_else(|| map.values().find_map(|value| find(value, name)))
        }
        Value::Array(list) => list.iter().find_map(|value| find(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn broken(detail: &str) -> CommandError {
    CommandError::failed(Code::UnknownError, format!("the demo broke off: {}", detail.trim()))
        .hint("`legation demo --keep` leaves what there is, to look at .legation/logs in it")
}

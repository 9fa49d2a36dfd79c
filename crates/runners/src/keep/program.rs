//! Starting the program.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::process::Pid;

use super::ceilings::Held;
use super::cgroup;
use super::mark;
use super::order::Order;
use crate::fence::audit::Listening;
use crate::fence::{self, Standing};
use crate::procfs;

/// A program that was started.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) pid: Pid,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// The group it was born in.
    pub(super) group: Option<PathBuf>,
    /// What came of the fence that was ordered.
    pub(super) fence: Option<Standing>,
    /// What the fence refuses, where the kernel tells.
    pub(super) refusals: Option<Listening>,
    /// What limits it.
    pub(super) held: Held,
}

/// A process just born, and what came of its fence.
type Born = (Child, Option<Standing>);

impl Program {
    /// Starts it, or says in words why that is not possible.
    pub(super) fn start(order: &Order) -> Result<Self, String> {
        // Before there is anything to hear.
        let refusals = order.fence.as_ref().and_then(|_| Listening::begin());
        let (child, group, held) = start_in(order);
        let (mut child, fence) = child.map_err(|error| match error {
            fence::Error::NoFence(_) | fence::Error::NoCeiling(_) => error.to_string(),
            fence::Error::Start(error) => explain(order, &error),
        })?;
        let pid = procfs::pid(child.id());
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(pid), (Some(stdin), Some(stdout), Some(stderr))) = (pid, ends) else {
            return Err("the program has no standard input or output".to_owned());
        };
        let (stdin, stdout, stderr) = (stdin.into(), stdout.into(), stderr.into());
        Ok(Self { pid, stdin, stdout, stderr, group, fence, refusals, held })
    }
}

/// Starts it from within its groups and leaves them again, so that they can be ended
/// without the keeper. Where there is no group of its own, it is started without.
fn start_in(order: &Order) -> (Result<Born, fence::Error>, Option<PathBuf>, Held) {
    let entered = order.cgroup.as_ref().and_then(|group| {
        let home = cgroup::own()?;
        if cgroup::enter(group).is_err() {
            cgroup::remove(group);
            return None;
        }
        Some((group.clone(), home))
    });
    let own = entered.as_ref().map(|(group, _)| group.as_path());
    let held = order.ceilings.take(order.attempt.as_str(), own);
    let child = match held.gaps.is_empty() || !order.ceilings.required {
        true => spawn(order),
        false => Err(fence::Error::NoCeiling(held.gaps.join("; "))),
    };
    held.leave();
    let group = entered.and_then(|(group, home)| {
        let has_left = cgroup::join(&home).is_ok();
        if child.is_err() {
            cgroup::remove(&group);
        }
        has_left.then_some(group)
    });
    if child.is_err() {
        held.remove();
    }
    (child, group, held)
}

fn spawn(order: &Order) -> Result<Born, fence::Error> {
    let Some((program, arguments)) = order.program.split_first() else {
        return Err(io::Error::from(ErrorKind::InvalidInput).into());
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&order.cwd);
    command.env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // In a group of its own, so that a program that signals its group does not hit
    // the keeper.
    command.process_group(0);
    // Without it the program is known by its environment and its session.
    let mark = || mark::set(&order.dir).ok();
    if let Some(fence) = &order.fence {
        let started = fence.start_marked(&mut command, &mark);
        return started.map(|(child, fence)| (child, Some(fence)));
    }
    let _mark = mark();
    Ok((command.spawn()?, None))
}

/// Says what the system's error means for whoever wrote the agent.
fn explain(order: &Order, error: &io::Error) -> String {
    let Some(program) = order.program.first() else { return "no program is given".to_owned() };
    if !order.cwd.is_dir() {
        return format!("cannot start `{program}`: there is no folder {}", order.cwd.display());
    }
    let advice = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if order.cwd.join(program).exists() => {
            "; the interpreter that its first line names is missing"
        }
        Some(Errno::ACCESS) if order.fence.is_some() => {
            "; is it executable, and not hidden by the fence (`sandbox.readable`)?"
        }
        Some(Errno::ACCESS) => "; is it executable?",
        Some(Errno::TXTBSY) => "; somebody is still writing it",
        Some(Errno::TOOBIG) => "; its arguments and environment are too long",
        Some(Errno::NOEXEC) => "; a script needs a first line such as #!/bin/sh",
        Some(_) | None => "",
    };
    format!("cannot start `{program}`: {error}{advice}")
}

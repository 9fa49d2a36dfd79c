//! The brief: everything an attempt is told.
//!
//! It may take at most a quarter of what the attempt may spend. What does not fit
//! is left out by rule, the least needed first, and the receipt says what. The task
//! itself comes last: only its end is cut, and the brief says so where it was. Words of
//! other agents are data.

mod above;

use serde::Serialize;
use serde_json::Value;

use super::arena::{AttemptNo, SubtaskNo};
use super::bounds::{self, Remaining};
use super::event::{Caller, Outcome, Role};
use super::state::State;
use super::view::Stamp;
use crate::agent::ContextMode;
use crate::ids::{AgentId, DelegationId, SessionId, SubtaskId, TaskId};
use crate::returns::{self, Artifact, Metadata, ReturnError, harmless, neutralise};
use crate::text::shown::clip;
use crate::time::Now;
pub use above::Above;

/// The part of an attempt's tokens that its brief may take.
const SHARE: u64 = 4;
/// Characters that make about one token.
const CHARS_PER_TOKEN: u64 = 4;
/// Characters that a byte of text becomes in JSON at most: `\u0000`.
const MOST_PER_BYTE: usize = 6;
/// More than the name of any text, with what stands around it.
const LONG_KEY: usize = 32;
/// Letters of a title; a task of one line is its own title, and told in full beside it.
const MAX_TITLE_CHARS: usize = 200;
/// Letters of an earlier result's data that are told; it is kept in full in the log.
const MAX_DATA_CHARS: usize = 8_000;
/// Letters of a task that are told however little room there is.
const LEAST_TASK_CHARS: usize = 1_000;
/// Where a task was cut.
const CUT_HERE: &str = "\n[The rest of the task was cut: it is longer than a brief may be.]";
/// Earlier results that are told at most; of more, the last ones.
const MAX_RESULTS: usize = 50;

/// Everything an attempt is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Brief {
    /// What it is called in its return.
    pub session_id: SessionId,
    /// The delegation it works for.
    pub delegation_id: DelegationId,
    /// Its subtask.
    pub subtask_id: SubtaskId,
    /// How deep it stands.
    pub delegation_depth: u32,
    /// The agents above it, and itself.
    pub delegation_path: Vec<AgentId>,
    /// Seconds it may take.
    pub timeout: u64,
    /// When its time is up.
    pub deadline: Stamp,
    /// Who asked.
    pub caller: AgentId,
    /// What it is part of.
    pub task_context: TaskContext,
    /// What is to be done.
    pub task: String,
    /// The part it plays.
    pub role: Role,
    /// The round of its pattern; 0 outside rounds.
    pub round: u32,
    /// The instructions of its agent's file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// What it is handed beside the task.
    pub context: Context,
    /// What may still be asked for.
    pub remaining: Option<Remaining>,
    /// How to hand a part of it on, where that is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegation: Option<String>,
    /// The form of the return.
    pub return_format: String,
    /// What was left out to fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<&'static str>,
}

/// The delegation's own task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskContext {
    /// Its id.
    pub task_id: TaskId,
    /// In a line.
    pub title: String,
    /// In full.
    pub description: String,
    /// How its subtasks are run.
    pub pattern: crate::config::Pattern,
    /// Files the subtask means to change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// What an attempt is handed beside its task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Context {
    /// How much of it was asked for.
    pub mode: ContextMode,
    /// Those above it, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// What came of the work it builds on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Earlier>,
    /// What it has to do without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<SubtaskId>,
    /// How the attempt before this one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Previous>,
    /// What somebody wants it to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Work that was done before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Earlier {
    /// The subtask.
    pub subtask: SubtaskId,
    /// Who did it.
    pub agent: AgentId,
    /// The part it played.
    pub role: Role,
    /// The round.
    pub round: u32,
    /// How it ended.
    pub status: &'static str,
    /// What it says.
    pub summary: String,
    /// Its structured answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// What it made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
}

/// The attempt before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Previous {
    /// What it said.
    pub summary: String,
    /// What went wrong.
    pub errors: Vec<ReturnError>,
}

/// What the agent's file adds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner<'a> {
    /// The system prompt.
    pub prompt: &'a str,
    /// A JSON Schema of `data` in the return.
    pub schema: Option<&'a Value>,
    /// Whether it may delegate in turn.
    pub delegates: bool,
    /// What its caller has said so far, if that is wanted.
    pub said: Option<&'a str>,
}

/// What an attempt is told.
pub fn brief(
    state: &State,
    no: AttemptNo,
    manner: Manner<'_>,
    (now, free_slots): (Now, u32),
) -> Brief {
    let attempt = &state.attempts[no];
    let subtask = &state.subtasks[attempt.subtask];
    let delegation = &state.delegations[subtask.delegation];
    let metadata = Metadata {
        session_id: attempt.session.clone(),
        agent_type: attempt.agent.clone(),
        delegation_depth: attempt.depth,
        delegation_path: attempt.path.to_vec(),
        duration_seconds: None,
    };
    let caller = Caller::Attempt(attempt.id.clone());
    let mut brief = Brief {
        session_id: attempt.session.clone(),
        delegation_id: delegation.id.clone(),
        subtask_id: subtask.id.clone(),
        delegation_depth: attempt.depth,
        delegation_path: attempt.path.to_vec(),
        timeout: attempt.allowed_ms.div_ceil(1000),
        deadline: Stamp(attempt.deadline),
        caller: attempt.path.iter().rev().nth(1).unwrap_or(&attempt.agent).clone(),
        task_context: TaskContext {
            task_id: delegation.task_id.clone(),
            title: clip(&delegation.title, MAX_TITLE_CHARS).into_owned(),
            description: delegation.task.to_string(),
            pattern: delegation.pattern,
            files: subtask.files.clone(),
        },
        task: subtask.task.to_string(),
        role: subtask.role,
        round: subtask.round,
        instructions: manner.prompt.trim().to_owned(),
        context: Context {
            mode: subtask.habits.context,
            above: above::above(state, no, (subtask.habits.context, manner.said)),
            results: results(state, attempt.subtask),
            missing: missing(state, attempt.subtask),
            previous: previous(state, no),
            note: subtask.note.as_deref().map(|note| neutralise(note).into()),
        },
        delegation: delegation_taught(state, no, manner.delegates),
        remaining: bounds::remaining(state, &caller, now, free_slots),
        return_format: returns::instruction(&metadata, manner.schema),
        cut: Vec::new(),
    };
    leave_long_data(&mut brief);
    shorten(&mut brief, state.ledger.left(subtask.account).tokens);
    brief
}

/// How to hand a part on, for an agent that may and stands high enough.
fn delegation_taught(state: &State, no: AttemptNo, delegates: bool) -> Option<String> {
    let caller = bounds::standing(state, no);
    let enabled = state.settings.as_ref().is_some_and(|settings| settings.enabled);
    let (depth, most) = (caller.depth, caller.max_depth);
    (delegates && enabled && depth < most).then(|| {
        format!(
            "To hand a part of this to another agent, run `legation delegate`, or write a line \
             [delegate:what is to be done:hours] with whole hours. You stand at depth {depth} of \
             at most {most}."
        )
    })
}

/// Everything the subtask builds on, in the order it came to be.
fn before(state: &State, of: SubtaskNo) -> Vec<SubtaskNo> {
    let mut found = std::collections::BTreeSet::new();
    let mut next = vec![of];
    while let Some(no) = next.pop() {
        for &need in &state.subtasks[no].needs {
            if found.insert(need) {
                next.push(need);
            }
        }
    }
    found.into_iter().collect()
}

fn results(state: &State, of: SubtaskNo) -> Vec<Earlier> {
    let direct = &state.subtasks[of].needs;
    let before = before(state, of);
    let skip = before.len().saturating_sub(MAX_RESULTS);
    let told = before.into_iter().skip(skip);
    told.filter_map(|no| earlier(state, no, direct.contains(&no))).collect()
}

/// What came of a subtask, with its structured answer if that is wanted.
fn earlier(state: &State, no: SubtaskNo, with_data: bool) -> Option<Earlier> {
    let subtask = &state.subtasks[no];
    let end = state.attempts[*subtask.attempts.last()?].end.as_deref()?;
    Some(Earlier {
        subtask: subtask.id.clone(),
        agent: subtask.agent.clone(),
        role: subtask.role,
        round: subtask.round,
        status: state.status(no),
        summary: neutralise(&end.answer.summary).into(),
        data: end.answer.data.clone().filter(|_| with_data).map(harmless),
        artifacts: end.answer.artifacts.iter().map(tamed).collect(),
    })
}

/// An artifact of another agent, with its texts as data.
fn tamed(artifact: &Artifact) -> Artifact {
    Artifact {
        kind: neutralise(&artifact.kind).into(),
        path: neutralise(&artifact.path).into(),
        summary: artifact.summary.as_deref().map(|summary| neutralise(summary).into()),
    }
}

fn missing(state: &State, of: SubtaskNo) -> Vec<SubtaskId> {
    let needs = state.subtasks[of].needs.iter().map(|no| &state.subtasks[*no]);
    let skipped = needs.filter(|need| need.outcome() == Some(Outcome::Skipped));
    skipped.map(|need| need.id.clone()).collect()
}

fn previous(state: &State, no: AttemptNo) -> Option<Previous> {
    let attempts = &state.subtasks[state.attempts[no].subtask].attempts;
    let before = attempts.iter().rev().skip_while(|other| **other != no).nth(1)?;
    let end = state.attempts[*before].end.as_deref()?;
    Some(Previous {
        summary: neutralise(&end.answer.summary).into(),
        errors: end.answer.errors.iter().map(told).collect(),
    })
}

/// An error of another agent, with its texts as data.
fn told(error: &ReturnError) -> ReturnError {
    ReturnError {
        kind: neutralise(&error.kind).into(),
        message: neutralise(&error.message).into(),
        recommendation: neutralise(&error.recommendation).into(),
        ..error.clone()
    }
}

/// More characters than the brief has. Long texts are only measured, since counting
/// them exactly costs more than everything else about a brief.
fn most_chars(brief: &mut Brief) -> u64 {
    let long = |brief: &mut Brief| {
        let Brief { task, instructions, return_format, task_context, .. } = brief;
        [task, instructions, return_format, &mut task_context.description].map(std::mem::take)
    };
    let texts = long(brief);
    let rest = serde_json::to_string(&brief).map_or(usize::MAX, |text| text.len());
    let most = texts.iter().fold(rest, |sum, text| {
        sum.saturating_add(text.len().saturating_mul(MOST_PER_BYTE)).saturating_add(LONG_KEY)
    });
    let [task, instructions, return_format, description] = texts;
    (brief.task, brief.instructions, brief.return_format) = (task, instructions, return_format);
    brief.task_context.description = description;
    most as u64
}

/// Leaves out data of earlier results that is too long for anybody's context.
fn leave_long_data(brief: &mut Brief) {
    let mut any = false;
    for result in &mut brief.context.results {
        let is_long = |data: &mut Value| data.to_string().len() > MAX_DATA_CHARS;
        any |= result.data.take_if(is_long).is_some();
    }
    if any {
        brief.cut.push("long data of earlier results");
    }
}

/// How many characters the brief has.
fn chars(brief: &Brief) -> u64 {
    serde_json::to_string(brief).map_or(0, |text| text.chars().count() as u64)
}

/// Cuts the end of the task until the brief has no more than `most` characters.
fn cut_task(brief: &mut Brief, most: u64) {
    let over = |brief: &Brief| chars(brief).saturating_sub(most);
    if over(brief) == 0 || brief.task.chars().count() <= LEAST_TASK_CHARS {
        return;
    }
    let task = std::mem::take(&mut brief.task);
    brief.cut.push("the end of the task");
    brief.task.push_str(CUT_HERE);
    let room = usize::try_from(most.saturating_sub(chars(brief))).unwrap_or(usize::MAX);
    // A letter may take more than one in JSON, so the longest beginning that fits is looked for.
    let (mut least, mut most) = (LEAST_TASK_CHARS, room.max(LEAST_TASK_CHARS));
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        let start: String = task.chars().take(middle).collect();
        let fits = serde_json::to_string(&start).is_ok_and(|text| text.chars().count() - 2 <= room);
        if fits { least = middle } else { most = middle - 1 }
    }
    brief.task.insert_str(0, &task.chars().take(least).collect::<String>());
}

/// Leaves out what is least needed until the rest fits.
fn shorten(brief: &mut Brief, tokens: u64) {
    let most = (tokens / SHARE).saturating_mul(CHARS_PER_TOKEN);
    type Cut = (&'static str, fn(&mut Brief));
    let cuts: [Cut; 7] = [
        ("what the caller has said", |brief| {
            brief.context.above.iter_mut().for_each(|above| above.said = None);
        }),
        ("what was done further up", |brief| {
            brief.context.above.iter_mut().for_each(|above| above.results.clear());
        }),
        ("those further up", |brief| brief.context.above.clear()),
        ("data of earlier results", |brief| {
            brief.context.results.iter_mut().for_each(|result| result.data = None);
        }),
        ("artifacts of earlier results", |brief| {
            brief.context.results.iter_mut().for_each(|result| result.artifacts.clear());
        }),
        ("earlier results", |brief| brief.context.results.clear()),
        ("the whole task's description", |brief| brief.task_context.description.clear()),
    ];
    if most_chars(brief) <= most {
        return;
    }
    for (what, cut) in cuts {
        if chars(brief) <= most {
            return;
        }
        let before = brief.clone();
        cut(brief);
        if *brief != before {
            brief.cut.push(what);
        }
    }
    cut_task(brief, most);
}

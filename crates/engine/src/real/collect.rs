//! What an attempt left behind: its return, checked, and the receipt.

use legation_core::agent::Definition;
use legation_core::returns::{
    self, CompiledSchema, Expectation, Fact, Receipt, Return, ReturnStatus, StopReason, Violation,
    quality_of,
};
use legation_core::tree::command::{End, Said, Timing};
use legation_runners::artifacts::WorkspaceFiles;
use legation_runners::hearing::Hearing;
use legation_runners::supervise::Exit;
use legation_runners::workspace::{Place, Seen};

use super::Inner;
use super::attempt::Heard;
use super::fence;
use super::handed_in::{self, HandedIn};
use super::live::Live;
use super::verify::Owner;
use crate::world::Job;

/// Bytes of output that are kept where no return could be had from it.
const MAX_RAW_BYTES: usize = 16 * 1024;
/// The type of an error by which a program says that its provider asked it to wait.
const RATE_LIMIT: &str = "rate_limit";
/// How long is waited where the provider did not say.
const HOLD_MS: u64 = 60_000;
/// How long is waited at most.
const MAX_HOLD_MS: u64 = 3_600_000;

impl Inner {
    /// Looks at everything an attempt left behind.
    pub(super) async fn collect(&self, job: &Job, place: &Place, heard: Heard, live: &Live) -> End {
        let agent = self.agent(&job.agent, job.parent.as_ref());
        let definition = agent.map(|(definition, _)| definition).unwrap_or_default();
        let token = self.token(&job.tree, &job.attempt);
        let handed_in = handed_in::read(&self.folder(&job.attempt), &token);
        let (said, raw) = said(job, place, (&definition, handed_in.as_ref()), &heard.hearing);
        let seen = {
            let place = place.clone();
            self.on_spaces(move |spaces| spaces.look(&place)).await.unwrap_or_default()
        };
        let seen = seen_from(place, seen);
        let mut receipt = receipt(job, (&heard, handed_in.as_ref()), seen);
        self.pricing(job).enter(&heard.hearing, &mut receipt);
        let is_completed = matches!(&said, Said::Return(claim)
            if claim.status == ReturnStatus::Completed);
        if is_completed && !definition.legation.verify.is_empty() {
            // What these commands leave is nothing that the agent did.
            self.keep_as_it_is(job, place, receipt.cost_usd).await;
            receipt.verify = self.verify(Owner::of(job), place, &definition, live).await;
        }
        let hold_until = hold_until(&said);
        if let Some(until) = hold_until {
            self.leave_alone(job, until);
        }
        End {
            attempt: job.attempt.clone(),
            quality: quality(&said, &receipt),
            hold_until,
            said,
            receipt,
            raw,
            timing: Timing {
                by_itself: heard.ended_by_itself(),
                ended_at: heard.ended_at,
                handed_in_at: handed_in.and_then(|handed_in| handed_in.at),
            },
        }
    }
}

/// What an attempt said: what it handed in, else what stands in its output.
fn said(
    job: &Job,
    place: &Place,
    (definition, handed_in): (&Definition, Option<&HandedIn>),
    hearing: &Hearing,
) -> (Said, Option<String>) {
    let schema = definition.legation.schema.as_ref().map(CompiledSchema::compile);
    let schema = match schema.transpose() {
        Ok(schema) => schema,
        Err(problem) => {
            let why = format!("The agent's schema cannot be used: {problem}");
            let code = legation_core::Code::ValidationFailed;
            return (Said::NotStarted { code, why }, None);
        }
    };
    let expect = Expectation { session_id: &job.session, schema: schema.as_ref() };
    let files = WorkspaceFiles::new(&place.cwd).ok();
    let facts = |path: &str| match &files {
        Some(files) => returns::ArtifactFacts::look(files, path),
        None => Fact::Missing,
    };
    if let Some(handed_in) = handed_in {
        let checked = returns::check(&handed_in.returned, &expect, &facts);
        return judged(checked, || handed_in.returned.to_string());
    }
    let text = hearing.text();
    if text.trim().is_empty() {
        return (Said::Nothing, None);
    }
    match returns::extract(&text) {
        // Prose without a return is no return; whoever reads it may want to know what it was.
        Err(returns::Absent::NoObject) => (Said::Nothing, Some(tail(&text))),
        Ok(_)
        | Err(
            returns::Absent::OnlyLists
            | returns::Absent::Malformed { .. }
            | returns::Absent::TooLarge { .. },
        ) => judged(returns::check_text(&text, &expect, &facts), || text.clone()),
    }
}

fn judged(
    checked: Result<Return, Violation>,
    raw: impl FnOnce() -> String,
) -> (Said, Option<String>) {
    match checked {
        Ok(returned) => (Said::Return(returned), None),
        Err(violation) => (Said::Invalid(violation), Some(tail(&raw()))),
    }
}

/// What was seen, with names as the attempt itself would write them: from the folder it
/// ran in, which may lie below the top of its repository.
fn seen_from(place: &Place, mut seen: Seen) -> Seen {
    let Ok(below) = place.cwd.strip_prefix(&place.root) else { return seen };
    let depth = below.components().count();
    if depth > 0 {
        let prefix = format!("{}/", below.display());
        let up = "../".repeat(depth);
        for file in seen.files_changed.iter_mut().chain(&mut seen.in_submodules) {
            *file = match file.strip_prefix(&prefix) {
                Some(rest) => rest.to_owned(),
                None => format!("{up}{file}"),
            };
        }
    }
    seen
}

/// The end of a text, as much as is kept.
fn tail(text: &str) -> String {
    let from = text.len().saturating_sub(MAX_RAW_BYTES);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default().to_owned()
}

fn receipt(job: &Job, (heard, handed_in): (&Heard, Option<&HandedIn>), seen: Seen) -> Receipt {
    let told = heard.hearing.usage();
    let used = handed_in.map(|handed_in| handed_in.usage).unwrap_or_default();
    let streamed = Some(told.tokens).filter(|tokens| *tokens != Default::default());
    let tokens = match (streamed, used.tokens()) {
        // What was said at the end comes on top of what was said on the way.
        (Some(streamed), Some(last)) => Some(streamed.plus(&last)),
        (streamed, last) => streamed.or(last),
    };
    let cost_usd = match (told.cost, used.cost()) {
        (Some(streamed), Some(last)) => Some(streamed + last),
        (streamed, last) => streamed.or(last),
    };
    let (exit_code, stop_reason) = match &heard.exit {
        Exit::Ended(ended) if ended.start_failed.is_some() => (None, StopReason::NotStarted),
        Exit::Ended(ended) if ended.timed_out => (ended.code, StopReason::Timeout),
        Exit::Ended(ended) if ended.signal.is_some() => (None, StopReason::Killed),
        Exit::Ended(ended) => (ended.code, StopReason::Exited),
        Exit::Lost { .. } => (None, StopReason::Killed),
    };
    let supervised_by = match &heard.exit {
        Exit::Ended(ended) => Some(ended.supervised_by.as_str().to_owned()),
        Exit::Lost { .. } => None,
    };
    let mut receipt = Receipt {
        stop_reason,
        supervised_by,
        exit_code,
        files_changed: seen.files_changed,
        in_submodules: seen.in_submodules,
        not_shared: seen.not_shared,
        commits: seen.commits,
        tokens,
        cost_usd,
        brief_cut: job.brief.cut.iter().map(|what| (*what).to_owned()).collect(),
        ..Receipt::default()
    };
    if let Some(envoy) = heard.hearing.envoy() {
        receipt.tool_calls.clone_from(envoy.tools());
        receipt.truncated = envoy.is_cut_off();
        receipt.denied.clone_from(envoy.denied());
        receipt.unavailable.clone_from(envoy.unavailable());
    }
    fence::record(&heard.exit, &mut receipt);
    receipt
}

/// Quality as it can be measured by what is there.
fn quality(said: &Said, receipt: &Receipt) -> Option<u32> {
    let Said::Return(claim) = said else { return None };
    quality_of(&claim.artifacts, receipt, &[])
}

/// When the provider wants to be asked again, where that is why it failed.
fn hold_until(said: &Said) -> Option<legation_core::time::Now> {
    let Said::Return(claim) = said else { return None };
    claim.errors.iter().find(|error| error.kind == RATE_LIMIT)?;
    let asked = claim.data.as_ref().and_then(|data| data.get("retryAfter")?.as_f64());
    let wait_ms = asked.filter(|seconds| *seconds >= 0.0).map_or(HOLD_MS, |seconds| {
        // The cast saturates, and the limit below is far smaller.
        ((seconds * 1000.0) as u64).min(MAX_HOLD_MS)
    });
    Some(super::now().plus_ms(wait_ms))
}

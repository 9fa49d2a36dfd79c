//! The merge queue: work is tried with what is there, verified together with it, and only
//! then becomes part of the result.
//!
//! The rules hand over one subtask of a delegation at a time. All of this may be done
//! again after a crash: nothing has moved before the very last step.

use std::sync::Arc;
use std::time::Duration;

use legation_core::Code;
use legation_core::agent::Definition;
use legation_core::ids::{AgentId, AttemptId};
use legation_core::returns::Verification;
use legation_core::tree::event::MergeOutcome;
use legation_runners::workspace::{self, Candidate, Kept, Outlook, Place};

use super::live::Live;
use super::verify::Owner;
use super::works::keep;
use super::{Inner, kept_until, now};
use crate::world::Work;

/// How often a merge is tried anew because somebody has moved the result meanwhile.
const MAX_ROUNDS: usize = 5;
/// How long the commands that verify a merge may take together.
const LIMIT: Duration = Duration::from_secs(1800);
/// What the folders of commands that run on merged files begin with.
const STAGE: &str = "merged-";

impl Inner {
    /// Enters the merge of an attempt's work in the list of what can be stopped.
    pub(super) fn begin_merge(&self, attempt: &AttemptId) -> Arc<Live> {
        let live = Arc::new(Live::default());
        self.running().insert(attempt.clone(), live.clone());
        live
    }

    /// Merges the work of an attempt, or says what is in the way.
    pub(super) async fn enqueued(&self, work: &Work, live: &Live) -> Result<MergeOutcome, String> {
        if let Some(message) = self.unresolved(work).await? {
            return Ok(MergeOutcome::Failed { code: Code::Conflict, message });
        }
        for _ in 0..MAX_ROUNDS {
            let Some((place, kept, outlook)) = self.foreseen(work).await? else {
                return Ok(MergeOutcome::Clean { commit: None });
            };
            let candidate = match outlook {
                Outlook::Fits(candidate) => candidate,
                Outlook::Conflict { files, hunks } => {
                    return Ok(MergeOutcome::Conflict { files, hunks });
                }
                Outlook::Held { at } => {
                    let held = workspace::Error::held(work.delegation.as_str(), &at);
                    let (code, message) = (Code::WorkspaceFailed, held.to_string());
                    return Ok(MergeOutcome::Failed { code, message });
                }
                // A crash came between the merge and its record.
                Outlook::Nothing => {
                    return Ok(MergeOutcome::Clean { commit: Some(kept.commit) });
                }
            };
            let verify = self.verify_merged(work, &place, (&kept, &candidate), live).await?;
            if verify.iter().any(|check| check.exit_code != Some(0)) {
                return Ok(MergeOutcome::Unverified { verify });
            }
            let (id, commit) = (work.delegation.clone(), candidate.commit.clone());
            let moved =
                self.on_spaces(move |spaces| spaces.advance(id.as_str(), &kept, &candidate));
            if moved.await? {
                return Ok(MergeOutcome::Clean { commit: Some(commit) });
            }
        }
        Err(format!("the result of {} was moved again and again by somebody else", work.delegation))
    }

    /// What is left of a conflict that the work was to resolve, in words.
    async fn unresolved(&self, work: &Work) -> Result<Option<String>, String> {
        if work.resolves.is_none() {
            return Ok(None);
        }
        let work = work.clone();
        let left = self.on_spaces(move |spaces| {
            let Some(place) = spaces.find(work.attempt.as_str())? else { return Ok(None) };
            match keep(spaces, &work)? {
                Some(kept) => spaces.unresolved(&place, &kept).map(Some),
                None => Ok(None),
            }
        });
        Ok(match left.await? {
            Some(files) if files.is_empty() => None,
            Some(files) => Some(format!("Conflict markers are left in: {}.", files.join(", "))),
            None => Some("It left both sides as they were.".to_owned()),
        })
    }

    /// What of an attempt there is to merge, and how that would go.
    async fn foreseen(&self, work: &Work) -> Result<Option<(Place, Kept, Outlook)>, String> {
        let work = work.clone();
        let foreseen = self.on_spaces(move |spaces| {
            let Some(place) = spaces.find(work.attempt.as_str())? else {
                let kept = spaces.kept_commit(work.tree.as_str(), work.attempt.as_str())?;
                // Work that is kept and cannot be merged any more is no work without changes.
                return kept.map_or(Ok(None), |_| {
                    let id = work.attempt.to_string();
                    Err(workspace::Error::Unknown { what: "workspace", id })
                });
            };
            let Some(kept) = keep(spaces, &work)? else { return Ok(None) };
            let outlook = spaces.foresee(work.delegation.as_str(), &kept)?;
            Ok(Some((place, kept, outlook)))
        });
        foreseen.await
    }

    /// Runs the agent's own commands on the merged files, in a workspace that is thrown away.
    /// Where they are the attempt's own files there is nothing to run again.
    async fn verify_merged(
        &self,
        work: &Work,
        place: &Place,
        (kept, candidate): (&Kept, &Candidate),
        live: &Live,
    ) -> Result<Vec<Verification>, String> {
        if self.checks(work, true).legation.verify.is_empty() {
            return Ok(Vec::new());
        }
        let (at, with) = (kept.clone(), candidate.clone());
        let is_untried = self.on_spaces(move |spaces| spaces.is_untried(&at, &with)).await?;
        let definition = self.checks(work, is_untried);
        if definition.legation.verify.is_empty() {
            return Ok(Vec::new());
        }
        if live.is_stopping() {
            return Ok(broken_off(&definition));
        }
        let (place, with) = (place.clone(), candidate.clone());
        let merged = self.on_spaces(move |spaces| spaces.rehearse(&place, &with)).await?;
        // Whatever these commands start is known as the attempt's as long as they run.
        let deadline = now().plus_ms(u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX));
        live.set_pace(|pace| pace.deadline_ms = Some(kept_until(deadline)));
        let verified = self.verify_in(work, &merged, &definition, live).await;
        let thrown = self.on_spaces(move |spaces| spaces.end_rehearsal(&merged));
        thrown.await?;
        verified
    }

    /// The commands that merged files have to pass. Work that resolves a conflict has to pass
    /// those of the work that met it, which nobody has run on it yet.
    fn checks(&self, work: &Work, is_untried: bool) -> Definition {
        let defined = |agent: &AgentId| {
            let found = self.agent(agent, work.parent.as_ref());
            found.map(|(definition, _)| definition).unwrap_or_default()
        };
        let mut own = defined(&work.agent);
        if !is_untried {
            own.legation.verify.clear();
        }
        let Some(of) = &work.resolves else { return own };
        let mut checks = defined(of);
        let known = checks.legation.verify.clone();
        let more = own.legation.verify.into_iter().filter(|line| !known.contains(line));
        checks.legation.verify.extend(more);
        checks
    }

    async fn verify_in(
        &self,
        work: &Work,
        merged: &Place,
        definition: &Definition,
        live: &Live,
    ) -> Result<Vec<Verification>, String> {
        // Two tries on different sides are different tries.
        let sides = merged.attempt.strip_prefix(work.attempt.as_str()).unwrap_or_default();
        let stage = format!("{STAGE}{}-", sides.trim_matches('-'));
        let owner = Owner::of_work(work, &stage);
        self.set_up(owner, merged, definition, live).await.map_err(|obstacle| obstacle.why)?;
        Ok(self.verify(owner, merged, definition, live).await)
    }
}

/// Commands that somebody has stopped before they began.
fn broken_off(definition: &Definition) -> Vec<Verification> {
    let stopped = |line: &String| Verification { command: line.clone(), exit_code: None };
    definition.legation.verify.iter().map(stopped).collect()
}

//! The merge queue: work is tried with what is there, verified together with it, and only
//! then becomes part of the result.
//!
//! The rules hand over one subtask of a delegation at a time. All of this may be done
//! again after a crash: nothing has moved before the very last step.

use std::sync::Arc;
use std::time::Duration;

use legation_core::agent::Definition;
use legation_core::returns::Verification;
use legation_core::tree::event::MergeOutcome;
use legation_runners::keep::Pace;
use legation_runners::workspace::{Candidate, Kept, Outlook, Place};

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
    /// Merges the work of an attempt, or says what is in the way.
    pub(super) async fn enqueued(&self, work: &Work) -> Result<MergeOutcome, String> {
        for _ in 0..MAX_ROUNDS {
            let Some((place, kept, outlook)) = self.foreseen(work).await? else {
                return Ok(MergeOutcome::Clean { commit: None });
            };
            let candidate = match outlook {
                Outlook::Fits(candidate) => candidate,
                Outlook::Conflict { files, hunks } => {
                    return Ok(MergeOutcome::Conflict { files, hunks });
                }
                // A crash came between the merge and its record.
                Outlook::Nothing => {
                    return Ok(MergeOutcome::Clean { commit: Some(kept.commit) });
                }
            };
            let verify = self.verify_merged(work, &place, (&kept, &candidate)).await?;
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

    /// What of an attempt there is to merge, and how that would go.
    async fn foreseen(&self, work: &Work) -> Result<Option<(Place, Kept, Outlook)>, String> {
        let work = work.clone();
        let foreseen = self.on_spaces(move |spaces| {
            let Some(place) = spaces.find(work.attempt.as_str())? else { return Ok(None) };
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
    ) -> Result<Vec<Verification>, String> {
        let agent = self.agent(&work.agent, work.parent.as_ref());
        let definition = agent.map(|(definition, _)| definition).unwrap_or_default();
        if definition.legation.verify.is_empty() {
            return Ok(Vec::new());
        }
        let (place, kept, with) = (place.clone(), kept.clone(), candidate.clone());
        let merged = self.on_spaces(move |spaces| match spaces.is_untried(&kept, &with)? {
            true => spaces.rehearse(&place, &with).map(Some),
            false => Ok(None),
        });
        let Some(merged) = merged.await? else { return Ok(Vec::new()) };
        let deadline = now().plus_ms(u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX));
        let pace = Pace { deadline_ms: Some(kept_until(deadline)), ..Pace::default() };
        let live = Arc::new(Live::new(pace));
        // Whatever these commands start is known as the attempt's as long as they run.
        self.running().insert(work.attempt.clone(), live.clone());
        let verified = self.verify_in(work, &merged, &definition, &live).await;
        self.end(&work.attempt);
        let thrown = self.on_spaces(move |spaces| spaces.end_rehearsal(&merged));
        thrown.await?;
        verified
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

//! What is done with the work of attempts that ended: merged, brought, kept. How it is
//! merged is in `queue.rs`.

use std::path::Path;
use std::sync::Arc;

use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::money::Usd;
use legation_core::tree::Command;
use legation_core::tree::event::{MergeOutcome, NotBrought, in_words};
use legation_runners::command::leavings;
use legation_runners::supervise::{Traces, reap};
use legation_runners::workspace::{Error, Kept, Merge, Note, Place, Spaces};

use super::Inner;
use super::live::Live;
use crate::mail::Mailbox;
use crate::world::{Job, Work};

/// How the sides are called where a result meets the files of whoever asked for it.
const SIDES: [&str; 2] = ["you", "the delegation"];

/// What is written beside kept work.
fn note(work: &Work) -> Note {
    Note {
        agent: work.agent.to_string(),
        session: work.session.to_string(),
        cost: work.cost,
        title: work.title.clone(),
    }
}

/// Keeps the work of an attempt that has ended; none if there is nothing to keep.
pub(super) fn keep(spaces: &Spaces, work: &Work) -> Result<Option<Kept>, Error> {
    let _turn = spaces.turn_of(work.attempt.as_str());
    keep_in_turn(spaces, work)
}

/// The same where nobody else keeps or removes it meanwhile.
fn keep_in_turn(spaces: &Spaces, work: &Work) -> Result<Option<Kept>, Error> {
    match spaces.find(work.attempt.as_str())? {
        Some(place) => spaces.keep_once(&place, &note(work)),
        None => Ok(None),
    }
}

/// Clears away what the programs of an attempt that has ended have left beside its workspace.
pub(crate) fn clear_leavings(spaces: &Spaces, folder: &Path) {
    for leaving in leavings(folder) {
        // What stays is cleared by the next start.
        drop(spaces.discard(&leaving));
    }
}

impl Inner {
    /// Keeps the work of an attempt before its turn to be merged has come: turns come one
    /// by one, and this can be done for several at once.
    pub(super) async fn keep_early(&self, work: Work) {
        // What is in the way is told when its turn has come.
        drop(self.on_spaces(move |spaces| keep(spaces, &work)).await);
    }

    /// Keeps what an attempt has done so far, before anything else is done in its workspace.
    pub(super) async fn keep_as_it_is(&self, job: &Job, place: &Place, cost: Option<Usd>) {
        let (agent, session) = (job.agent.to_string(), job.session.to_string());
        let note = Note { agent, session, cost, title: job.title.clone() };
        let place = place.clone();
        let kept = self.on_spaces(move |spaces| {
            let _turn = spaces.turn_of(&place.attempt);
            spaces.keep_once(&place, &note)
        });
        // What is in the way is told when its turn to be merged has come.
        drop(kept.await);
    }

    /// Merges the work of an attempt into its delegation's result.
    pub(super) async fn merge(self: Arc<Self>, work: Work, live: Arc<Live>, mail: Mailbox) {
        let attempt = work.attempt.clone();
        let outcome = self.enqueued(&work, &live).await;
        self.end(&attempt);
        let outcome = outcome.unwrap_or_else(|message| MergeOutcome::Failed {
            code: Code::GitCommitFailed,
            message,
        });
        mail.tell(Command::Merged { attempt, outcome }).await;
    }

    /// Keeps the work of an attempt, then removes its workspace and what its programs have left
    /// beside it. What cannot be kept is not removed.
    pub(super) async fn remove(self: Arc<Self>, work: Work, mail: Mailbox) {
        let (attempt, at) = (work.attempt.clone(), work.workspace.clone());
        let folder = self.folder(&work.attempt);
        self.end_rehearsals(&work).await;
        let kept = self.on_spaces(move |spaces| {
            let _turn = spaces.turn_of(work.attempt.as_str());
            // Its end is on record. A crash in between does all of this again.
            clear_leavings(spaces, &folder);
            let kept = keep_in_turn(spaces, &work)?;
            if let Some(place) = spaces.find(work.attempt.as_str())? {
                spaces.remove(&place)?;
            }
            Ok(kept.map(|kept| kept.reference))
        });
        let told = match kept.await {
            Ok(kept) => Command::WorkspaceRemoved { attempt, kept },
            Err(why) => {
                let place = at.unwrap_or_else(|| format!("the workspace of {attempt}"));
                let why = format!("{place} was left as it is: {why}");
                Command::WorkspaceLeft { attempt, why }
            }
        };
        mail.tell(told).await;
    }

    /// Throws away what a crash left of merges that were tried out, and ends what runs there.
    async fn end_rehearsals(&self, work: &Work) {
        let (id, session) = (work.attempt.clone(), work.session.clone());
        let dir = self.folder(&work.attempt);
        let ended = self.on_spaces(move |spaces| {
            for place in spaces.rehearsals(id.as_str())? {
                let workspace = Some(place.root.as_path());
                reap(Traces { session: &session, dir: &dir, keeper: None, workspace });
                spaces.end_rehearsal(&place)?;
            }
            Ok(())
        });
        // What stays is thrown away by the next start.
        drop(ended.await);
    }

    /// Takes back what a delegation merged.
    pub(super) async fn roll_back(self: Arc<Self>, delegation: DelegationId, mail: Mailbox) {
        let id = delegation.clone();
        let told = match self.on_spaces(move |spaces| spaces.rollback(id.as_str())).await {
            Ok(_) => Command::RolledBack { delegation },
            Err(why) => {
                let why = format!("what {delegation} merged was not taken back: {why}");
                Command::ResultLeft { delegation, why }
            }
        };
        mail.tell(told).await;
    }

    /// Brings a delegation's result to the workspace of the attempt that asked.
    pub(super) async fn bring(
        self: Arc<Self>,
        delegation: DelegationId,
        into: Work,
        mail: Mailbox,
    ) {
        let id = delegation.clone();
        let brought = self.on_spaces(move |spaces| match spaces.find(into.attempt.as_str())? {
            Some(place) => {
                let brought = spaces.bring(&place, id.as_str())?;
                Ok(Some((brought, spaces.result_commit(id.as_str()).ok().flatten())))
            }
            None => Ok(None),
        });
        // A conflict changes nothing there; the result stays on its branch.
        let obstacle = match brought.await {
            Ok(Some((Merge::Conflict { files, hunks }, commit))) => {
                let both = in_words(&files, &hunks, SIDES);
                // Who asked sees the objects, and not the branches of the user.
                let merge = commit.map_or_else(String::new, |id| format!(": `git merge {id}`"));
                let why = format!(
                    "its files are not in your workspace: both sides changed {both}; they are \
                     kept on legation/{delegation}/result, to be merged by you{merge}"
                );
                Some(NotBrought { why, files, hunks })
            }
            Ok(Some((Merge::Clean { .. } | Merge::Nothing, _)) | None) => None,
            Err(why) => {
                let why = format!("its files are not in your workspace: {why}");
                Some(NotBrought { why, files: Vec::new(), hunks: Vec::new() })
            }
        };
        mail.brought(delegation, obstacle).await;
    }
}

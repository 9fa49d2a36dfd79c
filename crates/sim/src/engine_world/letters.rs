//! Reports on their way to a tree: they may come late, twice, or in another order.

use legation_core::ids::DelegationId;
use legation_core::tree::Command;
use legation_engine::Mailbox;

use super::Flaw;
use super::hub::{Hub, Inner};
use crate::plan::one_in;

/// A report on its way.
#[derive(Clone)]
pub(super) struct Letter {
    mail: Mailbox,
    what: What,
}

#[derive(Clone)]
enum What {
    Tell(Box<Command>),
    Brought(DelegationId),
}

impl Inner {
    /// Sends a report on its way.
    pub(super) fn post(&mut self, mail: &Mailbox, command: Command) {
        if matches!(command, Command::End(_)) && self.flaw == Flaw::LosesAnEnd {
            self.flaw = Flaw::None;
            return;
        }
        let what = What::Tell(Box::new(command));
        self.letters.push_back(Letter { mail: mail.clone(), what });
    }

    /// Sends word that a result was brought.
    pub(super) fn post_brought(&mut self, mail: &Mailbox, delegation: DelegationId) {
        self.letters.push_back(Letter { mail: mail.clone(), what: What::Brought(delegation) });
    }

    /// Whether such a report is on its way.
    pub(super) fn is_posted(&self, wanted: impl Fn(&Command) -> bool) -> bool {
        self.letters.iter().any(|letter| match &letter.what {
            What::Tell(command) => wanted(command),
            What::Brought(_) => false,
        })
    }

    /// A report that arrives now: in calm times the oldest, else any, and perhaps not
    /// for the last time.
    fn arriving(&mut self) -> Option<Letter> {
        if self.calm {
            return self.letters.pop_front();
        }
        let at = self.rng.usize(0..self.letters.len().max(1));
        let letter = self.letters.remove(at)?;
        // A question that is asked again is another question.
        let is_once = matches!(&letter.what, What::Tell(command)
            if matches!(**command, Command::Ask { .. }));
        if !is_once && one_in(&mut self.rng, 8) {
            self.letters.push_back(letter.clone());
        }
        Some(letter)
    }
}

impl Hub {
    /// One report arrives. False if none is on its way.
    pub(super) async fn deliver(&self) -> bool {
        let Some(letter) = self.lock().arriving() else { return false };
        if !self.lock().step() {
            return false;
        }
        match letter.what {
            What::Tell(command) => {
                self.lock().say(format!("told {command:?}"));
                letter.mail.tell(*command).await;
            }
            What::Brought(delegation) => {
                self.lock().say(format!("brought {delegation}"));
                letter.mail.brought(delegation, None).await;
            }
        }
        true
    }
}

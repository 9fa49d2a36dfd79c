//! A call that had been made before: the same key gives the same delegation.

use legation_core::ids::DelegationId;
use serde_json::{Value, json};

use super::Watch;
use crate::look;
use crate::page::clipped;

/// Columns of another task's title in a warning.
const MAX_TITLE: usize = 50;

/// What is known of a delegation that was there before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Again {
    /// How it stands.
    pub(super) status: Option<String>,
    /// What it is called, where its task is another one.
    other: Option<String>,
}

impl Again {
    /// The same for programs, beside the rest of the answer.
    pub(crate) fn json(&self) -> Vec<(String, Value)> {
        let mut fields = vec![("reattached".to_owned(), json!(true))];
        if self.other.is_some() {
            fields.push(("taskDiffers".to_owned(), json!(true)));
        }
        fields
    }
}

impl Watch<'_> {
    /// Says that nothing new is started, and if what is there is about something else.
    pub(super) async fn found_again(&mut self, id: &DelegationId) {
        let mut again = Again::default();
        // An attempt may not read the journal.
        if !self.reach.is_attempt()
            && let Ok(found) = look::find(self.reach, id.as_str()).await
        {
            let known = &found.state.delegations[found.no];
            again.status = Some(found.state.delegation_status(found.no).to_owned());
            again.other = (*known.task != *self.asked).then(|| known.title.clone());
        }
        let text = format!("{id} was asked for before; nothing new is started");
        self.display.note(self.output, &text);
        if let Some(title) = &again.other {
            let title = clipped(title, MAX_TITLE);
            let text = format!(
                "warning: its task is another one, \"{title}\"; a new task takes a new key"
            );
            self.display.note(self.output, &text);
        }
        self.again = Some(again);
    }
}

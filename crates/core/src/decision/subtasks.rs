//! The subtasks that the parts of a task become: ids, texts, figures and order.

use std::slice;

use rustc_hash::FxHashMap;

use super::complexity::{Estimate, Facts};
use super::decompose::{Decomposition, MAX_SUBTASKS, Part, Parts, Source, Subtask};
use super::order::{self, Links};
use super::words::Found;
use super::{sentences, verbs};
use crate::config::Thresholds;
use crate::task::Task;
use crate::text::span::effort_hours;

/// Characters of a title at most; the whole text is in the description then.
const MAX_TITLE: usize = 120;
/// Bad dependencies that are told one by one.
const MAX_TOLD: usize = 5;
/// Why a dependency cannot be.
const CIRCLE: &str = "closes a circle";
const MS_PER_HOUR: f64 = 3_600_000.0;

impl Parts<'_> {
    /// The subtasks they become.
    pub(super) fn subtasks(
        &self,
        task: &Task,
        task_id: &str,
        thresholds: &Thresholds,
    ) -> Decomposition {
        let mut notes = Vec::new();
        let ids = self.ids(task_id, &mut notes);
        let links = self.links(task, &ids, &mut notes);
        let share = task.effort.as_deref().and_then(|text| effort_hours(text).ok());
        let share = share.map(|hours| hours / ids.len() as f64);
        let rest = self.rest();
        let subtasks = ids.iter().zip(&self.parts).enumerate().map(|(index, (id, part))| {
            let gathers = index + 1 == MAX_SUBTASKS && rest.len() > 1;
            let dependencies: Vec<String> =
                links.of(index).filter_map(|other| ids.get(other).cloned()).collect();
            let (mut title, description) = if gathers { gathered(rest) } else { told(part) };
            if self.source == Source::Sentences
                && let Some(first) = title.get_mut(..1)
            {
                first.make_ascii_uppercase();
            }
            let texts = if gathers { ["", &description] } else { part.texts() };
            let own = if gathers { rest } else { slice::from_ref(part) };
            let own_hours = own.iter().filter_map(own_hours).reduce(|sum, more| sum + more);
            let facts = Facts {
                characters: texts.iter().map(|text| text.chars().count()).sum(),
                found: Found::in_texts(&texts),
                dependencies: dependencies.len(),
                criteria: 0,
                effort_hours: own_hours,
                large_hours: thresholds.effort_hours,
            };
            Subtask {
                id: id.clone(),
                complexity: Estimate::of(&facts).total(),
                estimated_duration: duration_ms(own_hours.or(share), &title),
                title,
                description,
                dependencies,
            }
        });
        let subtasks = subtasks.collect();
        self.note_efforts(&mut notes);
        self.note_what_was_gathered(&ids, &mut notes);
        Decomposition { source: self.source, subtasks, notes }
    }

    /// The parts that share the last subtask; one or none where nothing is gathered.
    fn rest(&self) -> &[Part<'_>] {
        self.parts.get(MAX_SUBTASKS - 1..).unwrap_or_default()
    }

    /// An id for each subtask: the user's own where it is there and not taken.
    fn ids(&self, task_id: &str, notes: &mut Vec<String>) -> Vec<String> {
        let own = |part: &Part<'_>| {
            let id = part.given.and_then(|given| given.id.as_deref()).map(str::trim);
            id.filter(|id| !id.is_empty()).map(str::to_owned)
        };
        let shown = self.parts.iter().take(MAX_SUBTASKS);
        let mut taken: Vec<String> = shown.clone().filter_map(own).collect();
        let mut ids: Vec<String> = Vec::with_capacity(MAX_SUBTASKS);
        for (index, part) in shown.enumerate() {
            let id = own(part).filter(|id| {
                let is_free = !ids.contains(id);
                if !is_free {
                    notes.push(format!(
                        "Two subtasks are called `{id}`; give each an id of its own."
                    ));
                }
                is_free
            });
            let id = id.unwrap_or_else(|| {
                let made = (index + 1..).map(|n| format!("{task_id}-sub-{n}"));
                let mut made = made.filter(|id| !taken.contains(id));
                made.next().unwrap_or_default()
            });
            taken.push(id.clone());
            ids.push(id);
        }
        ids
    }

    /// Which subtask waits for which: as the user listed it, else as the words say.
    fn links(&self, task: &Task, ids: &[String], notes: &mut Vec<String>) -> Links {
        let given = self.parts.iter().filter_map(|part| part.given);
        if given.clone().any(|given| !given.dependencies.is_empty()) {
            return self.given_links(ids, notes);
        }
        if self.source == Source::NumberedLines && order::has_order_word(&task.description) {
            return order::chain(ids.len());
        }
        let (links, refused) = order::from_words(&self.parts);
        let id = |index: usize| ids.get(index).map_or("", String::as_str);
        let refused = refused.into_iter().map(|(part, other)| (id(part), id(other), CIRCLE));
        note_left_out(refused.collect(), notes);
        links
    }

    fn given_links(&self, ids: &[String], notes: &mut Vec<String>) -> Links {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let node = |index: usize| index.min(MAX_SUBTASKS - 1);
        for (index, id) in ids.iter().enumerate() {
            places.entry(id).or_insert(index);
        }
        for (index, part) in self.parts.iter().enumerate() {
            if let Some(id) = part.given.and_then(|given| given.id.as_deref()) {
                places.entry(id.trim()).or_insert(node(index));
            }
        }
        let mut links = Links::default();
        let mut bad = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let own = ids.get(node(index)).map_or("", String::as_str);
            for wanted in part.given.iter().flat_map(|given| &given.dependencies) {
                match places.get(wanted.trim()) {
                    None => bad.push((own, wanted.as_str(), "is not among the subtasks")),
                    // Parts that were gathered into one subtask need no order between them.
                    Some(&place) if place == node(index) && index >= MAX_SUBTASKS - 1 => {}
                    Some(&place) => {
                        if !links.add(node(index), place) {
                            bad.push((own, wanted.as_str(), CIRCLE));
                        }
                    }
                }
            }
        }
        note_left_out(bad, notes);
        links
    }

    fn note_efforts(&self, notes: &mut Vec<String>) {
        let efforts = self.parts.iter().filter_map(|part| part.given?.effort.as_deref());
        let strange = efforts.filter(|text| !text.trim().is_empty() && effort_hours(text).is_err());
        for text in strange.take(MAX_TOLD) {
            let text: String = text.chars().take(40).collect();
            notes.push(format!("The effort \"{text}\" of a subtask was not understood."));
        }
    }

    fn note_what_was_gathered(&self, ids: &[String], notes: &mut Vec<String>) {
        let rest = self.rest().len();
        if let Some(last) = ids.last()
            && rest > 1
        {
            notes.push(format!(
                "{} parts were found and at most {MAX_SUBTASKS} become subtasks: `{last}` gathers \
                 the last {rest}, and its description lists them.",
                self.len()
            ));
        }
        if self.done > 0 {
            let entries = if self.done == 1 { "entry was" } else { "entries were" };
            notes.push(format!("{} checked-off {entries} left out.", self.done));
        }
    }
}

/// Says which dependencies were left out: whose, on what, and why.
fn note_left_out(bad: Vec<(&str, &str, &str)>, notes: &mut Vec<String>) {
    let more = bad.len().saturating_sub(MAX_TOLD);
    for (own, wanted, why) in bad.into_iter().take(MAX_TOLD) {
        notes.push(format!(
            "Subtask `{own}` depends on `{wanted}`, which {why}; that dependency was left out."
        ));
    }
    if more > 0 {
        notes.push(format!("Of the other dependencies, {more} were left out likewise."));
    }
}

/// The effort that the user stated for a part, in hours.
fn own_hours(part: &Part<'_>) -> Option<f64> {
    effort_hours(part.given?.effort.as_deref()?).ok()
}

/// Title and description of a part of its own.
fn told(part: &Part<'_>) -> (String, String) {
    let title = short(part.title);
    let is_cut = title.ends_with('…') && !part.title.ends_with('…');
    let description = match part.given {
        Some(_) if is_cut => format!("{}\n{}", part.title, part.text),
        Some(_) => part.text.to_owned(),
        None if is_cut || part.text != part.title => part.text.to_owned(),
        None => String::new(),
    };
    (title, description)
}

/// Title and description of the subtask that gathers the rest.
fn gathered(rest: &[Part<'_>]) -> (String, String) {
    let first = rest.first().map_or("", |part| part.title);
    let title = format!("{} (and {} more)", short(first), rest.len() - 1);
    let mut description = String::new();
    for part in rest {
        for text in part.texts().into_iter().filter(|text| !text.is_empty()) {
            description.push_str(if description.is_empty() { "" } else { "\n" });
            description.push_str(text);
        }
    }
    (title, description)
}

/// A title on one line and of bearable length.
fn short(title: &str) -> String {
    let mut short = match title.char_indices().nth(MAX_TITLE) {
        Some((end, _)) => format!("{}…", title.get(..end).unwrap_or_default()),
        None => title.to_owned(),
    };
    if short.contains('\n') {
        let words: Vec<&str> = short.split_whitespace().collect();
        short = words.join(" ");
    }
    short
}

/// Its effort, or half the time class that its first word stands for.
fn duration_ms(hours: Option<f64>, title: &str) -> u64 {
    match hours {
        // The cast stops at the largest number, which is what an absurd effort deserves.
        Some(hours) => (hours * MS_PER_HOUR).round() as u64,
        None => verbs::operation(sentences::first_word(title).0).default_ms() / 2,
    }
}

//! Everything that is there of a project's workspaces, with what the journal knows of it.

use std::collections::HashSet;
use std::time::SystemTime;

use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::text::{shown, span};
use legation_runners::workspace::namespace::{self, Inside, Namespace};
use legation_runners::workspace::{KeptWork, Provenance, Spaces, Standing};
use serde_json::{Value, json};

use crate::commands::diff::{failed, spaces};
use crate::error::CommandError;
use crate::reach::{Reach, block_on, unreadable};

/// Ids that are told where a beginning fits several.
const MAX_TOLD: usize = 5;
const BYTES_PER_KB: u64 = 1024;

/// What there is.
pub(super) struct Stock {
    pub(super) reach: Reach,
    pub(super) spaces: Spaces,
    pub(super) entries: Vec<Entry>,
    /// Where workspaces can be seen only from inside a user namespace, this process is.
    pub(super) inside: Option<Inside>,
}

/// A workspace, the work that is kept of it, or both.
pub(super) struct Entry {
    pub(super) attempt: String,
    pub(super) standing: Option<Standing>,
    /// Whether its tree is not over.
    pub(super) in_use: bool,
    pub(super) work: Option<KeptWork>,
}

impl Stock {
    /// Looks at all of it. An attempt sees nothing of this: it is the user's.
    pub(super) fn take() -> Result<Self, CommandError> {
        Self::taken(|_| Ok(None))
    }

    /// The same for whoever needs to see the files in workspaces, too.
    pub(super) fn take_inside() -> Result<Self, CommandError> {
        Self::taken(enter)
    }

    fn taken(
        enter: impl Fn(&Reach) -> Result<Option<Inside>, CommandError>,
    ) -> Result<Self, CommandError> {
        let denied = "workspaces are not looked at from inside of one";
        let reach = Reach::from_outside(denied, "do it in the folder of your project")?;
        // Before anything else: only a process with one thread gets in.
        let inside = enter(&reach)?;
        let spaces = spaces(&reach)?;
        let standing = spaces.standing().map_err(|problem| failed(&problem))?;
        let over = over(&reach, standing.iter().map(|one| one.place.tree.as_str()).collect())?;
        let mut entries: Vec<Entry> = standing
            .into_iter()
            .map(|standing| Entry {
                attempt: standing.place.attempt.clone(),
                in_use: !over.contains(&standing.place.tree),
                standing: Some(standing),
                work: None,
            })
            .collect();
        for work in spaces.works().map_err(|problem| failed(&problem))? {
            match entries.iter_mut().find(|entry| entry.attempt == work.attempt) {
                Some(entry) => entry.work = Some(work),
                None => entries.push(Entry {
                    attempt: work.attempt.clone(),
                    standing: None,
                    in_use: false,
                    work: Some(work),
                }),
            }
        }
        // What is there comes first, and of each kind the newest.
        entries.sort_by_key(|entry| (entry.standing.is_none(), entry.age_ms()));
        Ok(Self { reach, spaces, entries, inside })
    }

    /// The one that an attempt's id means, or the beginning of it; the id of a delegation
    /// will do where only one belongs to it.
    pub(super) fn find(&self, id: &str) -> Result<&Entry, CommandError> {
        let fits =
            |entry: &&Entry| entry.attempt.starts_with(id) || entry.delegation().starts_with(id);
        let exact = self.entries.iter().find(|entry| entry.attempt == id);
        let found: Vec<&Entry> = match exact {
            Some(entry) => vec![entry],
            None if id.is_empty() => Vec::new(),
            None => self.entries.iter().filter(fits).collect(),
        };
        match found.as_slice() {
            [entry] => Ok(entry),
            [] => {
                let message = format!("there is no workspace {}, nor kept work", shown::quote(id));
                Err(CommandError::failed(Code::Conflict, message)
                    .hint("`legation workspaces list` shows what there is")
                    .details(json!({"missing": "workspace", "id": id})))
            }
            several => {
                let told = several.iter().take(MAX_TOLD).map(|entry| entry.attempt.as_str());
                let told: Vec<&str> = told.collect();
                let more = if several.len() > MAX_TOLD { " and more" } else { "" };
                let message = format!("{} could be any of several", shown::quote(id));
                Err(CommandError::failed(Code::Conflict, message)
                    .hint(format!("name one: {}{more}", told.join(", ")))
                    .details(json!({"id": id, "fits": told})))
            }
        }
    }
}

/// Goes where the workspaces of this user can be seen, if that is anywhere else than here.
fn enter(reach: &Reach) -> Result<Option<Inside>, CommandError> {
    if !namespace::is_needed() {
        return Ok(None);
    }
    let program = std::env::current_exe().unwrap_or_default();
    let namespace = Namespace::of(&reach.paths.state, &program);
    if !namespace.is_used() {
        return Ok(None);
    }
    namespace.enter().map(Some).map_err(|closed| {
        let message = format!("the workspaces cannot be looked into: {closed}");
        CommandError::failed(Code::WorkspaceFailed, message)
            .hint("`legation workspaces list` tells what there is; nothing was changed")
    })
}

impl Entry {
    /// What becomes of it.
    pub(super) fn state(&self) -> &'static str {
        match (&self.standing, self.in_use) {
            (Some(_), true) => "in_use",
            (Some(_), false) => "left",
            (None, _) => "kept",
        }
    }

    /// The same in words.
    pub(super) fn state_words(&self) -> &'static str {
        if self.state() == "in_use" { "in use" } else { self.state() }
    }

    pub(super) fn provenance(&self) -> Option<&Provenance> {
        let work = self.work.as_ref().and_then(|work| work.provenance.as_ref());
        work.or_else(|| self.standing.as_ref().and_then(|one| one.provenance.as_ref()))
    }

    pub(super) fn delegation(&self) -> &str {
        let place = self.standing.as_ref().map(|one| one.place.delegation.as_str());
        let known = || self.provenance().map(|known| known.delegation.as_str());
        place.or_else(known).unwrap_or_default()
    }

    pub(super) fn subtask(&self) -> &str {
        let place = self.standing.as_ref().map(|one| one.place.subtask.as_str());
        let known = || self.provenance().map(|known| known.subtask.as_str());
        place.or_else(known).unwrap_or_default()
    }

    pub(super) fn tree(&self) -> &str {
        let place = self.standing.as_ref().map(|one| one.place.tree.as_str());
        let work = || self.work.as_ref().map(|work| work.tree.as_str());
        place.or_else(work).unwrap_or_default()
    }

    /// Whether somebody wants it to stay.
    pub(super) fn exempt(&self) -> bool {
        let work = self.work.as_ref().is_some_and(|work| work.exempt);
        work || self.standing.as_ref().is_some_and(|one| one.exempt)
    }

    /// What it takes on the disk, where that can be told.
    pub(super) fn bytes(&self) -> Option<u64> {
        let work = self.work.as_ref().and_then(|work| work.bytes);
        self.standing.as_ref().map(|one| one.bytes).or(work)
    }

    pub(super) fn age_ms(&self) -> u64 {
        let since = self.standing.as_ref().map(|one| one.since);
        let since = since.or_else(|| self.work.as_ref().map(|work| work.since));
        age_ms(since.unwrap_or_else(SystemTime::now))
    }

    /// The names under which its other branches, tags and stashes are kept.
    pub(super) fn beside(&self) -> Vec<&str> {
        let beside = self.work.iter().flat_map(|work| &work.beside);
        beside.map(|(name, _)| name.as_str()).collect()
    }

    /// For programs.
    pub(super) fn json(&self, agent: Option<&str>) -> Value {
        let known = self.provenance();
        let agent = agent.or_else(|| known.map(|known| known.agent.as_str()));
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        json!({
            "attempt": self.attempt, "state": self.state(),
            "delegationId": text(self.delegation()), "treeId": text(self.tree()),
            "subtask": text(self.subtask()),
            "agent": agent.and_then(text),
            "path": self.standing.as_ref().map(|one| one.place.root.display().to_string()),
            "ref": self.work.as_ref().map(|work| work.reference.as_str()),
            "beside": self.beside(),
            "bytes": self.bytes(), "ageMs": self.age_ms(), "exempt": self.exempt(),
            "inBranch": self.work.as_ref().map(|work| work.in_branch),
        })
    }
}

/// The trees that are over, among these.
pub(super) fn over(reach: &Reach, trees: HashSet<&str>) -> Result<HashSet<String>, CommandError> {
    let Some(reader) = reach.reader()? else {
        return Ok(trees.into_iter().map(str::to_owned).collect());
    };
    block_on(async {
        let mut over = HashSet::new();
        for tree in trees {
            let is_over = reader.is_over(&DelegationId::new(tree)).await;
            if is_over.map_err(|error| unreadable(&error))? {
                over.insert(tree.to_owned());
            }
        }
        Ok(over)
    })
}

/// Milliseconds since then.
pub(super) fn age_ms(since: SystemTime) -> u64 {
    let age = since.elapsed().unwrap_or_default();
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}

/// An age as people say it.
pub(super) fn age(ms: u64) -> String {
    const MINUTE_MS: u64 = 60_000;
    if ms < MINUTE_MS { "just now".to_owned() } else { format!("{} ago", span::show_ms(ms)) }
}

/// A size as people say it.
pub(super) fn size(bytes: u64) -> String {
    let kb = bytes.div_ceil(BYTES_PER_KB);
    let mb = kb / BYTES_PER_KB;
    if mb == 0 { format!("{kb} KB") } else { format!("{mb} MB") }
}

//! The engine killed again and again while it works: in the middle of a start, of a call, of
//! keeping, merging, bringing and removing work, wherever chance has it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use legation_core::ids::DelegationId;
use legation_core::money::Usd;
use legation_core::returns::{ReturnStatus, StopReason};
use legation_core::tree::{DelegationNo, State};
use legation_engine::read::Reader;
use serde_json::Value;

use super::leavings::leavings;
use super::stage::{Stage, shown, wait_for};

/// How often the engine is killed.
const KILLS: usize = 200;
/// What it is told about its project.
pub(super) const CONFIG: &str = "[limits]\nmaxConcurrentTotal = 6\n[recovery]\nmaxRetries = 0\n";
/// Agents of the subtasks of each delegation; the last one hands a part of its own on.
const PARTS: [&str; 3] = ["w", "w", "lead"];
/// Tokens and dollars that each attempt says it has used.
const USED: &str = "--tokens-in 7 --cost-usd 0.01";
/// How many delegations may be under way at once, so that each gets on between two kills.
const MOST_OPEN: usize = 4;
/// Events that are waited for at most before a kill.
const MOST_EVENTS: u64 = 14;
/// How long is waited at most before a kill.
const MOST_TIME: Duration = Duration::from_millis(250);
/// The variable that names a seed, to try the same choices again.
const SEED: &str = "KILLS_SEED";

/// Numbers that look like chance and follow from a seed: SplitMix64.
struct Chance {
    seed: u64,
    at: u64,
}

impl Chance {
    /// Another seed each time, unless one is named.
    fn new() -> Self {
        let named = std::env::var(SEED).ok().map(|seed| seed.parse().unwrap());
        let seed = named.unwrap_or_else(|| RandomState::new().hash_one(0));
        // Only who fails is heard.
        eprintln!("{SEED}={seed} makes the same choices again");
        Self { seed, at: seed }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.at = self.at.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.at;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// A while, and short ones as likely as long ones: most of what happens takes a moment.
    fn a_while(&mut self) -> Duration {
        let shorter = u32::try_from(self.below(8)).unwrap();
        let most = u64::try_from(MOST_TIME.as_micros()).unwrap() >> shorter;
        Duration::from_micros(self.below(most))
    }
}

/// Whoever kills, and what it has asked for.
struct Killer<'a> {
    stage: &'a Stage,
    chance: Chance,
    kills: usize,
    /// The delegations by the number of their key.
    ids: BTreeMap<usize, String>,
}

#[test]
fn nothing_is_lost_doubled_or_left_behind_however_often_the_engine_is_killed() {
    survives(&Stage::new(CONFIG), KILLS);
}

/// Kills the engine so often while it works, and looks at what came of it.
pub(super) fn survives(stage: &Stage, most_kills: usize) {
    // Whoever starts says so, leaves a file of its own and says what it has used.
    let works = "echo $LEGATION_SESSION_ID >> $OUT/starts\n\
                 echo x | tee $TMPDIR/x > $LEGATION_ATTEMPT_DIR/x\n\
                 echo once >> part-$LEGATION_SESSION_ID.txt\n";
    let hands_in = format!("legation submit --status completed --summary done {USED}");
    stage.agent("w", "", &format!("{works}{hands_in}"));
    // It asks by a key until it has its answer, for engines that die over it come and go.
    let asks = "until legation delegate --json --idempotency-key part --agent w 'A part' \
                > $OUT/nested-$LEGATION_SESSION_ID; do :; done\n";
    let may = "subagents:\n  allow: ['w']\n";
    stage.agent("lead", may, &format!("{works}{asks}{hands_in}"));
    let mut killer = Killer { stage, chance: Chance::new(), kills: 0, ids: BTreeMap::new() };
    while killer.kills < most_kills {
        killer.round();
    }
    let seed = killer.chance.seed;
    let ids: Vec<String> = killer.ids.into_values().collect();
    for id in &ids {
        let (code, view) = stage.json(&["resume", id, "--wait"]);
        assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "seed {seed}: {view}");
    }
    // Who waits is answered before workspaces are removed, so an answer is not yet the end.
    let over = |id: &String| wait_for("a tree to be over", || is_over(stage, id));
    let states: Vec<State> = ids.iter().map(over).collect();
    for (id, state) in ids.iter().zip(&states) {
        check(state, seed);
        assert_eq!(files(stage, id), expected(state), "seed {seed}: the files of {id}");
    }
    let told = stage.told("starts");
    check_starts(&told, &states, seed);
    assert_eq!(ends_on_record(stage), attempts(&states), "seed {seed}: one end for each");
    // What is left behind stays, however long one waits; what is being cleared away goes.
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
    wait_for("what attempts leave to be gone", || left(stage).is_empty().then_some(()));
    wait_for("locks to be gone", || {
        let locks = stage.shell("find .git -name '*.lock'");
        assert!(locks.status.success(), "{}", shown(&locks));
        locks.stdout.is_empty().then_some(())
    });
}

impl Killer<'_> {
    /// Asks for something new, or for what was asked for last, and kills the engine at some
    /// moment during the call or after it.
    fn round(&mut self) {
        let newest = self.ids.last_key_value().map(|(number, id)| (*number, id.clone()));
        let is_open = |id: &&String| is_over(self.stage, id).is_none();
        let open = self.ids.values().rev().take(MOST_OPEN + 1).filter(is_open).count();
        let is_new = open == 0 || (open < MOST_OPEN && self.chance.below(2) == 0);
        let number = match newest {
            Some((number, _)) if !is_new => number,
            Some((number, _)) => number + 1,
            None => 0,
        };
        let mut asking = vec![delegate(self.stage, number)];
        if self.chance.below(3) == 0 {
            let until = Instant::now() + self.chance.a_while();
            poll(until, || false);
            self.kill();
            // Who has seen its engine die before it listened looks whether somebody else has
            // one, so somebody else asks, too.
            asking.push(delegate(self.stage, number));
        }
        let said: Vec<_> = asking.into_iter().map(|it| it.wait_with_output().unwrap()).collect();
        for said in said {
            let answer: Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
            // The same key again, where no engine lived for long enough to answer.
            let Some(id) = answer["delegationId"].as_str() else { continue };
            let known = self.ids.insert(number, id.to_owned());
            assert!(known.is_none_or(|known| known == id), "seed {}: {answer}", self.chance.seed);
        }
        let Some(id) = self.ids.get(&number).cloned() else { return };
        match self.chance.below(3) {
            0 => {}
            1 => {
                let until = Instant::now() + self.chance.a_while();
                poll(until, || false);
            }
            _ => self.wait_for_events(&id),
        }
        self.kill();
    }

    /// Waits until so many more events are on record, or there will be no more.
    fn wait_for_events(&mut self, id: &str) {
        let more = self.chance.below(MOST_EVENTS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reader = Reader::open(&self.stage.paths().journal).unwrap().unwrap();
        let id = DelegationId::new(id);
        let look = || runtime.block_on(reader.find(&id)).unwrap().state;
        let enough = look().seq + more;
        poll(Instant::now() + 2 * MOST_TIME, || {
            let state = look();
            state.seq >= enough || state.is_over()
        });
    }

    fn kill(&mut self) {
        self.kills += usize::from(self.stage.kill());
    }
}

/// Looks again and again until something is there or the time has come.
fn poll(until: Instant, mut is_there: impl FnMut() -> bool) {
    while !is_there() && Instant::now() < until {
        std::thread::yield_now();
    }
}

/// Begins to ask for the delegation of this number.
fn delegate(stage: &Stage, number: usize) -> Child {
    let part = |(n, agent): (usize, &&str)| {
        format!("{{\"id\":\"p{n}\",\"title\":\"part {number}-{n}\",\"agent\":\"{agent}\"}}")
    };
    let parts: Vec<String> = PARTS.iter().enumerate().map(part).collect();
    let plan = format!("{{\"pattern\":\"parallel\",\"subtasks\":[{}]}}", parts.join(","));
    let file = stage.out(&format!("plan-{number}.json"));
    std::fs::write(&file, plan).unwrap();
    let key = format!("round {number}");
    let args = ["delegate", "--json", "--detach", "--idempotency-key", &key, "--plan"];
    let mut asking = stage.legation(&args);
    asking.arg(&file).arg(format!("Round {number}"));
    asking.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The tree of a delegation, once nothing of it is open.
fn is_over(stage: &Stage, id: &str) -> Option<State> {
    Some(stage.tree(id)).filter(State::is_over)
}

/// Every attempt has one end, an attempt has a successor only if it was lost, and what
/// was settled is what was used, all the way up.
fn check(state: &State, seed: u64) {
    let mut used = BTreeMap::new();
    for (_, attempt) in state.attempts.iter() {
        let end = attempt.end.as_ref().unwrap_or_else(|| panic!("{} has no end", attempt.id));
        let subtask = &state.subtasks[attempt.subtask];
        let last = subtask.attempts.last() == Some(&attempt.no);
        let lost = end.receipt.stop_reason == StopReason::Lost;
        assert!(last || lost, "seed {seed}: {} was followed though it was not lost", attempt.id);
        assert!(attempt.children.len() <= 1, "seed {seed}: {} asked twice", attempt.id);
        // It counts for its own delegation and for each above.
        let mut above = Some(subtask.delegation);
        while let Some(delegation) = above {
            let sum: &mut (u64, Usd) = used.entry(delegation).or_default();
            sum.0 += attempt.tokens.unwrap_or_default().counted();
            sum.1 += attempt.cost.unwrap_or_default();
            let parent = state.delegations[delegation].parent;
            above = parent.map(|parent| state.subtasks[state.attempts[parent].subtask].delegation);
        }
    }
    for (no, delegation) in state.delegations.iter() {
        let sum = used.get(&no).copied().unwrap_or_default();
        let told = (delegation.used.tokens, delegation.used.cost);
        assert_eq!(told, sum, "seed {seed}: {}", delegation.id);
        let parts = if delegation.parent.is_none() { PARTS.len() } else { 1 };
        assert_eq!(delegation.subtasks.len(), parts, "seed {seed}: {}", delegation.id);
        assert_eq!(delegation.left_behind, Vec::<String>::new(), "seed {seed}");
    }
    let open: Vec<_> = state.ledger.accounts().iter().skip(1).filter(|it| it.open).collect();
    assert!(open.is_empty(), "seed {seed}: money is still set aside: {open:?}");
}

/// The attempts whose work is part of what a delegation came to: the last of each subtask,
/// and those of what it handed on.
fn sessions(state: &State, delegation: DelegationNo) -> Vec<String> {
    let mut found = Vec::new();
    for subtask in &state.delegations[delegation].subtasks {
        let attempt = &state.attempts[*state.subtasks[*subtask].attempts.last().unwrap()];
        found.push(attempt.session.to_string());
        found.extend(attempt.children.iter().flat_map(|child| sessions(state, *child)));
    }
    found
}

/// What the result should hold: the file of each part, written once, and what was there.
fn expected(state: &State) -> BTreeSet<String> {
    let parts = sessions(state, DelegationNo(0));
    assert_eq!(parts.len(), PARTS.len() + 1, "each part and what one of them handed on");
    let parts = parts.iter().map(|session| format!("{} part-{session}.txt", "once\n".len()));
    let before = ["11 .gitignore", "6 README.md"].map(str::to_owned);
    parts.chain(before).collect()
}

/// The files of a result, with their sizes.
fn files(stage: &Stage, id: &str) -> BTreeSet<String> {
    let line = format!("git ls-tree -r --format='%(objectsize) %(path)' legation/{id}/result");
    let listed = stage.shell(&line);
    assert!(listed.status.success(), "{}", shown(&listed));
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

/// Nobody started twice, nobody started whom the journal does not know, and whose work
/// is called completed has started.
fn check_starts(told: &str, states: &[State], seed: u64) {
    let mut starts = BTreeMap::new();
    for session in told.lines() {
        *starts.entry(session.to_owned()).or_insert(0) += 1;
    }
    assert!(starts.values().all(|count| *count == 1), "seed {seed}: ran twice: {starts:?}");
    for attempt in states.iter().flat_map(|state| state.attempts.iter()).map(|(_, it)| it) {
        let started = starts.remove(attempt.session.as_str()).is_some();
        let end = attempt.end.as_ref().unwrap();
        let completed = end.status == ReturnStatus::Completed;
        assert!(started || !completed, "seed {seed}: {} ended and never began", attempt.id);
    }
    assert!(starts.is_empty(), "seed {seed}: nobody knows of {starts:?}");
}

fn attempts(states: &[State]) -> usize {
    states.iter().map(|state| state.attempts.len()).sum()
}

/// How many ends of attempts the journal holds.
fn ends_on_record(stage: &Stage) -> usize {
    let journal = rusqlite::Connection::open(stage.paths().journal).unwrap();
    let mut all = journal.prepare("SELECT texts FROM events").unwrap();
    let rows = all.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|texts| texts.unwrap().matches("\"attempt_ended\":").count()).sum()
}

/// What there is of workspaces, of what they are known by, of what is thrown away, and of what
/// programs wrote beside their workspaces.
fn left(stage: &Stage) -> Vec<PathBuf> {
    let state = stage.paths().state;
    let folders = ["workspaces", "layers", "repos", "trash", "callers", "../leases"];
    let entries = folders.iter().flat_map(|name| std::fs::read_dir(state.join(name)));
    let known = entries.flatten().map(|entry| entry.unwrap().path());
    known.chain(leavings(&state.join("attempts"))).collect()
}

//! The modes of the workload. Each one checks that exactly as many children ran as
//! were asked for.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use legation_core::agent::{Definition, Roster};
use legation_core::call::{self, Asker, Call, House};
use legation_core::config::Config;
use legation_core::ids::AgentId;
use legation_core::money::Usd;
use legation_core::tree::event::Caller;
use legation_core::tree::plan::{Plan, PlanSubtask};
use legation_engine::{Engine, Follow, Options};
use legation_store::{Append, Delegation, Journal, Memory, Page, Past, Row, Sqlite};
use serde_json::{Map, Value, json};

use crate::figures::{self, Stretch, rounded};
use crate::scripted::Scripted;

/// Delegations before the measurement begins.
const WARM_UP: u32 = 20;
/// Milliseconds each child of a fan takes.
const FAN_WAIT_MS: u64 = 100;
/// Trees that are written at once.
const TREES: u32 = 64;
/// Writes by which the cost of a promise is measured.
const BARE_COMMITS: u32 = 100;
/// Milliseconds between the ends in a past that was made: a million take twelve days,
/// which is less than is kept.
const PAST_EVERY_MS: i64 = 1_000;
/// Events that are read at once when they are counted.
const READ: usize = 16_384;

type Figures = Map<String, Value>;
type Outcome<T> = Result<T, String>;

/// Runs a mode and says what it took.
pub(crate) async fn run(
    (mode, variant): (String, String),
    n: u32,
    start: Instant,
) -> Outcome<Figures> {
    match mode.as_str() {
        "fill" => fill(n, Path::new(&variant)).await,
        "hello" => hello(start).await,
        "seq" => seq(n).await,
        "fan" => fan(n).await,
        "durable" => durable(n).await,
        "trees" => trees(n).await,
        other => Err(format!("`{other}` is none of hello, seq, fan, durable, trees, fill")),
    }
}

/// An engine, and what a caller needs to use it.
struct Bench<J> {
    engine: Engine<J, Scripted>,
    world: Arc<Scripted>,
    config: Config,
    roster: Roster,
    asker: Asker,
}

impl<J: Journal + 'static> Bench<J> {
    fn new(journal: J) -> Self {
        let world = Arc::new(Scripted::default());
        let mut config = Config::default();
        let limits = &mut config.limits;
        limits.max_concurrent_agents = 100_000;
        limits.max_concurrent_total = 100_000;
        limits.max_delegations_per_task = 1_000_000;
        limits.max_agents_per_tree = 1_000_000;
        limits.max_total_tokens = 1_000_000_000_000;
        limits.max_cost_usd = Usd::from_nanos(1_000_000_000_000_000);
        let child = Definition { id: Some(AgentId::new("child")), ..Definition::default() };
        let roster = Roster::new([child], &config);
        let options = Options { width: config.limits.max_concurrent_total, logs: None };
        let engine = Engine::new(journal, world.clone(), options);
        let caller = Caller::Root { name: AgentId::new("user"), depth: 0 };
        Self { engine, world, config, roster, asker: Asker { caller, path: Vec::new() } }
    }

    /// One delegation, from the call to the answer.
    async fn delegate(&self, call: &Call) -> Outcome<()> {
        let house = House { config: &self.config, roster: &self.roster };
        let planned = call::plan(call, house, &self.asker, self.engine.new_id());
        let delegate = planned.map_err(|refusal| refusal.message)?.delegate;
        let accepted = self.engine.delegate(delegate, None, Follow::Nothing).await;
        let accepted = accepted.map_err(|error| format!("{error:?}"))?;
        let answer = self.engine.answer(&accepted.id, &accepted.id).await;
        let answer = answer.map_err(|error| format!("{error:?}"))?;
        match answer.status {
            "completed" => Ok(()),
            other => Err(format!("a delegation ended as {other}: {:?}", answer.view)),
        }
    }

    async fn one(&self, i: u32) -> Outcome<()> {
        let agents = vec![AgentId::new("child")];
        self.delegate(&Call { task: format!("task {i}"), agents, ..Call::default() }).await
    }

    async fn fan(&self, n: u32) -> Outcome<()> {
        let subtask = |i: u32| PlanSubtask {
            id: format!("s{i}"),
            task: Some("do the subtask".to_owned()),
            agent: Some("child".to_owned()),
            required: true,
            ..PlanSubtask::default()
        };
        let plan = Plan { subtasks: (0..n).map(subtask).collect(), ..Plan::default() };
        self.delegate(&Call { task: "task".to_owned(), plan: Some(plan), ..Call::default() }).await
    }

    fn expect(&self, children: u32) -> Outcome<()> {
        match self.world.started() {
            ran if ran == u64::from(children) => Ok(()),
            ran => Err(format!("{ran} children ran, and {children} were asked for")),
        }
    }

    /// Events in the journal.
    async fn events(&self) -> Outcome<u64> {
        let (mut after, mut count) = (0, 0);
        loop {
            let read = self.engine.journal().read_all(after, READ).await;
            let read = read.map_err(|error| error.to_string())?;
            let Some((_, last)) = read.last() else { return Ok(count) };
            after = last.position;
            count += read.len() as u64;
        }
    }
}

async fn hello(start: Instant) -> Outcome<Figures> {
    let bench = Bench::new(Memory::new());
    bench.one(0).await?;
    bench.expect(1)?;
    Ok(object(json!({
        "wall_s": rounded(start.elapsed().as_secs_f64(), 4),
        "cpu_s": rounded(figures::cpu().as_secs_f64(), 4),
        "peak_rss_mb": megabytes(figures::peak()),
    })))
}

async fn seq(n: u32) -> Outcome<Figures> {
    let bench = Bench::new(Memory::new());
    for i in 0..WARM_UP {
        bench.one(i).await?;
    }
    bench.expect(WARM_UP)?;
    let before = figures::rss();
    let stretch = Stretch::begin();
    for i in 0..n {
        bench.one(i).await?;
    }
    let (wall, cpu) = stretch.end();
    bench.expect(n)?;
    let mut figures = per_delegation(n, wall, cpu);
    figures.insert("llm_calls".into(), n.into());
    figures.insert("peak_rss_mb".into(), megabytes(figures::peak()));
    let growth = figures::rss() as f64 - before as f64;
    figures.insert("rss_growth_mb".into(), rounded(growth / 1e6, 1).into());
    Ok(figures)
}

async fn fan(n: u32) -> Outcome<Figures> {
    let bench = Bench::new(Memory::new());
    for i in 0..2 {
        bench.one(i).await?;
    }
    bench.expect(2)?;
    bench.world.wait(FAN_WAIT_MS);
    figures::forget_peak();
    let before = figures::rss();
    let stretch = Stretch::begin();
    bench.fan(n).await?;
    let (wall, cpu) = stretch.end();
    bench.expect(n)?;
    let peak = figures::peak();
    Ok(object(json!({
        "wall_s": rounded(wall, 3),
        "cpu_s": rounded(cpu, 3),
        "cpu_ms_per_child": rounded(cpu * 1e3 / f64::from(n), 4),
        "rss_before_mb": megabytes(before),
        "peak_rss_mb": megabytes(peak),
        "rss_kb_per_child": rounded(peak.saturating_sub(before) as f64 / 1e3 / f64::from(n), 1),
    })))
}

async fn durable(n: u32) -> Outcome<Figures> {
    let (folder, bench) = on_disk()?;
    bench.one(0).await?;
    bench.expect(1)?;
    let before = bench.events().await?;
    let bare = bare_commit(folder.path()).map_err(|error| error.to_string())?;
    let stretch = Stretch::begin();
    for i in 0..n {
        bench.one(i).await?;
    }
    let (wall, cpu) = stretch.end();
    bench.expect(n)?;
    let events = bench.events().await? - before;
    let mut figures = per_delegation(n, wall, cpu);
    figures.insert("deleg_per_s".into(), rounded(f64::from(n) / wall, 1).into());
    figures.append(&mut rates(events, wall, cpu));
    figures.insert("bare_commit_cpu_ms".into(), rounded(bare * 1e3, 4).into());
    Ok(figures)
}

/// Seconds on the processors for one small write that is on the disk when it returns:
/// what nobody who keeps a promise can do without.
fn bare_commit(folder: &Path) -> std::io::Result<f64> {
    let mut file = std::fs::File::create(folder.join("bare"))?;
    let stretch = Stretch::begin();
    for _ in 0..BARE_COMMITS {
        file.write_all(&[b'x'; 4096])?;
        file.sync_data()?;
    }
    Ok(stretch.end().1 / f64::from(BARE_COMMITS))
}

/// So many trees at once, each one delegation after another, for `seconds`.
async fn trees(seconds: u32) -> Outcome<Figures> {
    let (_folder, bench) = on_disk()?;
    bench.one(0).await?;
    bench.expect(1)?;
    let before = bench.events().await?;
    let bench = Arc::new(bench);
    let stretch = Stretch::begin();
    let end = Instant::now() + Duration::from_secs(u64::from(seconds));
    let callers = (0..TREES).map(|_| {
        let bench = bench.clone();
        tokio::spawn(async move {
            let mut done = 0;
            while Instant::now() < end {
                bench.one(done).await?;
                done += 1;
            }
            Outcome::Ok(done)
        })
    });
    let mut n = 0;
    for caller in callers.collect::<Vec<_>>() {
        n += caller.await.map_err(|error| error.to_string())??;
    }
    let (wall, cpu) = stretch.end();
    bench.expect(n)?;
    let events = bench.events().await? - before;
    let mut figures = per_delegation(n, wall, cpu);
    figures.insert("delegations".into(), n.into());
    figures.insert("deleg_per_s".into(), rounded(f64::from(n) / wall, 1).into());
    figures.append(&mut rates(events, wall, cpu));
    Ok(figures)
}

/// So many ended delegations in the journal of a project, for measuring what else is
/// done there. One is really made, and the others are like it but for their names and
/// times. What is lost if the machine fails now is made again.
async fn fill(n: u32, file: &Path) -> Outcome<Figures> {
    let sample = Arc::new(Sample::made().await?);
    let options = legation_store::Options {
        durability: legation_store::Durability::Off,
        ..legation_store::Options::default()
    };
    let journal = Arc::new(Sqlite::open(file, &options).map_err(|error| error.to_string())?);
    let next = Arc::new(AtomicU32::new(0));
    let stretch = Stretch::begin();
    let writers = (0..TREES).map(|_| {
        let (journal, sample, next) = (journal.clone(), sample.clone(), next.clone());
        tokio::spawn(async move {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    i if i < n => journal.append(sample.like(i)).await,
                    _ => return Ok(()),
                }
                .map_err(|error| error.to_string())?;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.map_err(|error| error.to_string()).flatten()?;
    }
    let (wall, cpu) = stretch.end();
    let mut figures = per_delegation(n, wall, cpu);
    figures.insert("rss_mb".into(), megabytes(figures::rss()));
    Ok(figures)
}

/// A tree that came to its end.
struct Sample {
    delegation: Delegation,
    events: Vec<String>,
}

impl Sample {
    async fn made() -> Outcome<Self> {
        let bench = Bench::new(Memory::new());
        bench.one(0).await?;
        let journal = bench.engine.journal();
        let past = Past { status: None, since: None, page: Page::first(1) };
        let past = journal.history(past).await.map_err(|error| error.to_string())?;
        let delegation = past.delegations.into_iter().next().ok_or("nothing ended")?;
        let entries = journal.read(&delegation.id, 0, READ).await;
        let entries = entries.map_err(|error| error.to_string())?;
        let events = entries.into_iter().map(|entry| entry.event).collect();
        Ok(Self { delegation, events })
    }

    /// Another one like it, which ended earlier.
    fn like(&self, i: u32) -> Append {
        // In order, or filling would take longer than everything else: every name would go
        // into another page. Those that follow come in no order, as the engine's do.
        let scattered = u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let id = format!("del-{i:08x}{scattered:08x}");
        let earlier = i64::from(i) * PAST_EVERY_MS;
        let delegation = Delegation {
            id: id.clone(),
            tree: id.clone(),
            accepted_at: self.delegation.accepted_at - earlier,
            started_at: self.delegation.started_at.map(|at| at - earlier),
            ended_at: self.delegation.ended_at.map(|at| at - earlier),
            ..self.delegation.clone()
        };
        let ended_at = delegation.ended_at;
        Append {
            expected_seq: 0,
            events: self
                .events
                .iter()
                .map(|event| event.replace(&self.delegation.id, &id))
                .collect(),
            tree: id,
            rows: vec![Row::Delegation(delegation), Row::Tree { ended_at }],
        }
    }
}

/// A journal at full durability, on the disk that holds the workspace: a temporary
/// folder of the system may be in memory.
fn on_disk() -> Outcome<(tempfile::TempDir, Bench<Sqlite>)> {
    let folder = tempfile::TempDir::new_in(".").map_err(|error| error.to_string())?;
    let options = legation_store::Options::default();
    let journal = Sqlite::open(&folder.path().join("legation.db"), &options);
    Ok((folder, Bench::new(journal.map_err(|error| error.to_string())?)))
}

fn per_delegation(n: u32, wall: f64, cpu: f64) -> Figures {
    let n = f64::from(n);
    object(json!({
        "wall_s": rounded(wall, 3),
        "cpu_s": rounded(cpu, 3),
        "cpu_ms_per_deleg": rounded(cpu * 1e3 / n, 4),
        "wall_ms_per_deleg": rounded(wall * 1e3 / n, 4),
    }))
}

fn rates(events: u64, wall: f64, cpu: f64) -> Figures {
    object(json!({
        "events": events,
        "events_per_s_wall": (events as f64 / wall).round(),
        "events_per_cpu_s": (events as f64 / cpu).round(),
        "store": "SQLite, synchronous=FULL",
    }))
}

fn megabytes(bytes: u64) -> Value {
    rounded(bytes as f64 / 1e6, 1).into()
}

fn object(value: Value) -> Figures {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

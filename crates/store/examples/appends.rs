//! How many events a second the journal takes, and what an append costs.
//!
//! `cargo run --release --example appends -p legation-store -- [full|normal|off|memory]`
//! writes to a folder of its own and prints one line. With `bare N` it is not our
//! journal but SQLite alone, with one table and one row for each of two commits: what
//! N delegations cost at least in any program that keeps their bytes this way.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use legation_store::{Append, Durability, Journal, Memory, Options, Sqlite};
use rusqlite::Connection;

/// How many trees are written at once.
const TREES: u32 = 64;
/// How many appends each tree gets.
const APPENDS: u32 = 1000;
/// About as long as events are.
const EVENT_BYTES: usize = 300;
/// Bytes of the events with which a small delegation begins, and of those with which it
/// ends.
const ACCEPTED_AND_ENDED: [usize; 2] = [1600, 1100];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::TempDir::new_in(".")?;
    let path = folder.path().join("legation.db");
    let open = |durability| Sqlite::open(&path, &Options { durability, ..Options::default() });
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "full".into());
    let line = match wanted.as_str() {
        "full" => measure(open(Durability::Full)?).await?,
        "normal" => measure(open(Durability::Normal)?).await?,
        "off" => measure(open(Durability::Off)?).await?,
        "memory" => measure(Memory::new()).await?,
        "bare" => {
            let n = std::env::args().nth(2).map_or(Ok(200), |n| n.parse())?;
            return Ok(writeln!(std::io::stdout(), "{}", bare(&path, n)?)?);
        }
        other => return Err(format!("`{other}` is none of full, normal, off, memory, bare").into()),
    };
    Ok(writeln!(std::io::stdout(), "{wanted}: {line}")?)
}

async fn measure(journal: impl Journal + 'static) -> Result<String, Box<dyn std::error::Error>> {
    let journal = Arc::new(journal);
    let (begin, cpu) = (Instant::now(), cpu_time());
    let mut trees = Vec::new();
    for tree in 0..TREES {
        trees.push(tokio::spawn(fill(Arc::clone(&journal), tree)));
    }
    let mut events = 0;
    for tree in trees {
        events += tree.await??;
    }
    let (wall, cpu) = (begin.elapsed(), cpu_time().saturating_sub(cpu));
    let rate = f64::from(events) / wall.as_secs_f64();
    let each = cpu.as_secs_f64() * 1000.0 / f64::from(TREES * APPENDS);
    let ms = wall.as_millis();
    Ok(format!("{events} events in {ms} ms, {rate:.0} events/s, {each:.4} ms CPU per append"))
}

/// Two to five events at a time, each append after the one before.
async fn fill(journal: Arc<impl Journal>, tree: u32) -> Result<u32, legation_store::Error> {
    let (mut seq, mut events) = (0, 0);
    for round in 0..APPENDS {
        let count = 2 + (round + tree) % 4;
        let append = Append {
            tree: format!("del-{tree}"),
            expected_seq: seq,
            events: (0..count).map(|_| "x".repeat(EVENT_BYTES)).collect(),
            rows: Vec::new(),
        };
        seq = journal.append(append).await?.seq;
        events += count;
    }
    Ok(events)
}

/// Commits the bytes of so many delegations, two commits each, with SQLite as it is.
fn bare(path: &Path, n: u32) -> rusqlite::Result<String> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute("CREATE TABLE texts (no INTEGER PRIMARY KEY, text TEXT)", [])?;
    let mut insert = connection.prepare("INSERT INTO texts (text) VALUES (?1)")?;
    let texts = ACCEPTED_AND_ENDED.map(|bytes| "x".repeat(bytes));
    let (begin, cpu) = (Instant::now(), cpu_time());
    for _ in 0..n {
        for text in &texts {
            insert.execute([text])?;
        }
    }
    let (wall, cpu) = (begin.elapsed(), cpu_time().saturating_sub(cpu));
    let each = |time: Duration| time.as_secs_f64() * 1000.0 / f64::from(n);
    let (wall, cpu) = (each(wall), each(cpu));
    Ok(format!(r#"{{"cpu_ms_per_deleg":{cpu:.4},"wall_ms_per_deleg":{wall:.4}}}"#))
}

/// What this process used of the processors so far. The system counts it for each
/// thread, in nanoseconds; none of ours ends while something is measured.
fn cpu_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts = threads.flat_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")));
    let nanos = texts.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanos.sum())
}

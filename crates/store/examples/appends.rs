//! How many events a second the journal takes, and what an append costs.
//!
//! `cargo run --release --example appends -p legation-store -- [full|normal|off|memory]`
//! writes to a folder of its own and prints one line.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use legation_store::{Append, Durability, Journal, Memory, Options, Sqlite};

/// How many trees are written at once.
const TREES: u32 = 64;
/// How many appends each tree gets.
const APPENDS: u32 = 1000;
/// About as long as events are.
const EVENT_BYTES: usize = 300;

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
        other => return Err(format!("`{other}` is none of full, normal, off, memory").into()),
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

/// What this process used of the processor so far, in ticks of 10 ms.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold blanks.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).flat_map(str::parse::<u64>).sum();
    Duration::from_millis(ticks * 10)
}

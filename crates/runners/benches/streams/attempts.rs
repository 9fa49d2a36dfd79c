//! What a keeper and an envoy use of the processor for one attempt of a vendor's program,
//! without what the program uses itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use legation_core::agent::Runner;
use legation_runners::envoy;
use tokio::runtime::Builder;

use super::charge::{KEEPER, charge, keeper, order};
use super::{Figures, Result, labelled};

/// Attempts that are made.
const ATTEMPTS: usize = 100;
/// What the system counts time in.
const TICK_MS: f64 = 10.0;
/// A program that reads what it is told and says what was recorded.
const PROGRAM: &str = "cat > /dev/null; cat said";

pub(super) fn measure() -> Result<Figures> {
    let folder = tempfile::tempdir()?;
    let said = include_str!("../../tests/it/opencode/fixtures/turn-1.jsonl");
    fs::write(
        folder.path().join("said"),
        said.replace("first answer", &good_return(folder.path())?),
    )?;
    let alone = used_ms(|_| alone(folder.path()))?;
    let kept = used_ms(|no| kept(no, folder.path()))?;
    let ours = (kept - alone) / ATTEMPTS as f64;
    let program = alone / ATTEMPTS as f64;
    Ok(labelled("attempt", ATTEMPTS, &[("cpu_ms", ours), ("program_cpu_ms", program)]))
}

/// A return as it stands inside a text of JSON.
fn good_return(folder: &Path) -> Result<String> {
    let known = charge(Runner::OpenCode, folder).known;
    let returned = serde_json::json!({
        "status": "completed", "summary": "Done.", "artifacts": [], "errors": [], "metadata": known,
    });
    let quoted = serde_json::to_string(&returned.to_string())?;
    Ok(quoted.trim_matches('"').to_owned())
}

fn used_ms(mut run: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let before = children_ms()?;
    (0..ATTEMPTS).try_for_each(&mut run)?;
    Ok(children_ms()? - before)
}

/// What everybody used whose end was waited for.
fn children_ms() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(") ").ok_or("no state in /proc")?;
    let ticks = rest.split(' ').skip(13).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<std::result::Result<f64, _>>()? * TICK_MS)
}

fn alone(folder: &Path) -> Result<()> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", PROGRAM]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    Ok(())
}

fn kept(no: usize, folder: &Path) -> Result<()> {
    let mut order = order(no, folder, &[KEEPER, envoy::VERB]);
    fs::create_dir(&order.dir)?;
    let mut charge = charge(Runner::OpenCode, folder);
    charge.program = ["/bin/sh", "-c", PROGRAM].map(str::to_owned).to_vec();
    order.stdin = serde_json::to_string(&charge)?;
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut running = keeper().spawn(&order).await?;
        let mut heard = String::new();
        while let Some(piece) = running.read().await {
            heard.push_str(&String::from_utf8_lossy(&piece));
        }
        running.wait().await;
        match heard.contains("asked_again") || !heard.contains("completed") {
            true => Err(format!("the attempt went wrong: {heard}").into()),
            false => Ok(()),
        }
    })
}

//! What is played with the real programs, and what has to come of it.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::model::{Scripts, Step};
use super::stage::Stage;

/// Something that is played.
pub(crate) struct Scenario {
    /// What it shows.
    pub(crate) name: &'static str,
    /// What the model does.
    pub(crate) scripts: fn() -> Scripts,
    /// Plays it, and says in a few words what was seen.
    pub(crate) play: fn(&Stage) -> Result<String>,
}

impl Scenario {
    const fn new(
        name: &'static str,
        scripts: fn() -> Scripts,
        play: fn(&Stage) -> Result<String>,
    ) -> Self {
        Self { name, scripts, play }
    }
}

/// All of them.
pub(crate) const SCENARIOS: &[Scenario] = &[
    alone("claude writes a file and returns", |stage| works_alone(stage, "claude")),
    alone("codex writes a file and returns", |stage| works_alone(stage, "codex")),
    alone("opencode writes a file and returns", |stage| works_alone(stage, "opencode")),
    alone("gemini writes a file and returns", |stage| works_alone(stage, "gemini")),
    alone("llm writes a file and returns", |stage| works_alone(stage, "anthropic-llm")),
    alone("llm with chat writes a file and returns", |stage| works_alone(stage, "openai-llm")),
    alone("opencode over ACP writes a file", |stage| works_over_acp(stage, "opencode-acp")),
    alone("gemini over ACP writes a file", |stage| works_over_acp(stage, "gemini-acp")),
    asked_again("claude is asked again", |stage| is_asked_again(stage, "claude")),
    asked_again("codex is asked again", |stage| is_asked_again(stage, "codex")),
    asked_again("opencode is asked again", |stage| is_asked_again(stage, "opencode")),
    asked_again("gemini is asked again", |stage| is_asked_again(stage, "gemini")),
    Scenario::new(
        "claude delegates to codex",
        || pair("codex"),
        |stage| hands_on(stage, "claude", "codex"),
    ),
    Scenario::new(
        "codex delegates to gemini",
        || pair("gemini"),
        |stage| hands_on(stage, "codex", "gemini"),
    ),
    Scenario::new(
        "gemini delegates to opencode",
        || pair("opencode"),
        |stage| hands_on(stage, "gemini", "opencode"),
    ),
    Scenario::new(
        "opencode delegates to claude",
        || pair("claude"),
        |stage| hands_on(stage, "opencode", "claude"),
    ),
    Scenario::new(
        "llm delegates to codex",
        || pair("codex"),
        |stage| hands_on(stage, "anthropic-llm", "codex"),
    ),
    Scenario::new(
        "claude delegates to llm",
        || pair("openai-llm"),
        |stage| hands_on(stage, "claude", "openai-llm"),
    ),
    Scenario::new("the depth limit is refused inside", || pair("codex"), refused_inside),
    stopped("claude is cancelled in a shell call", |stage| leaves_nothing(stage, "claude")),
    stopped("codex is cancelled in a shell call", |stage| leaves_nothing(stage, "codex")),
    stopped("opencode is cancelled in a shell call", |stage| leaves_nothing(stage, "opencode")),
    stopped("gemini is cancelled in a shell call", |stage| leaves_nothing(stage, "gemini")),
    stopped("llm is cancelled in a shell call", |stage| leaves_nothing(stage, "openai-llm")),
    stopped("opencode over ACP is cancelled", |stage| leaves_nothing(stage, "opencode-acp")),
    stopped("gemini over ACP is cancelled", |stage| leaves_nothing(stage, "gemini-acp")),
];

const fn alone(name: &'static str, play: fn(&Stage) -> Result<String>) -> Scenario {
    let scripts = || {
        let steps = vec![Step::Web, Step::Write("made.txt", "made"), Step::Return(&["made.txt"])];
        Scripts::default().with("alone", steps)
    };
    Scenario::new(name, scripts, play)
}

const fn asked_again(name: &'static str, play: fn(&Stage) -> Result<String>) -> Scenario {
    let scripts = || {
        let steps = vec![
            Step::Write("made.txt", "made"),
            Step::Say("I am done, and forgot the return."),
            Step::Return(&["made.txt"]),
        ];
        Scripts::default().with("forgetful", steps)
    };
    Scenario::new(name, scripts, play)
}

const fn stopped(name: &'static str, play: fn(&Stage) -> Result<String>) -> Scenario {
    let scripts = || {
        Scripts::default()
            .with("long", vec![Step::Shell(format!("echo begun; {SLEEP}; echo over"))])
    };
    Scenario::new(name, scripts, play)
}

/// What the programs call the tools that start agents of their own.
const OWN_AGENTS: &[&str] = &["Task", "Agent", "Workflow", "task", "invoke_agent", "spawn_agent"];

/// A command that ends by itself long after everything else. It is not given alone: one of
/// the programs refuses to do nothing but sleep.
const SLEEP: &str = "sleep 86399";

/// A parent that hands its work to a child, which writes a file.
fn pair(child: &'static str) -> Scripts {
    let task = "Write the file. (script child)";
    let call = Step::Call("delegate", json!({"agent": child, "task": task}));
    Scripts::default()
        .with("parent", vec![call, Step::Return(&[])])
        .with("child", vec![Step::Write("made.txt", "made"), Step::Return(&["made.txt"])])
}

/// The only subtask of a delegation.
fn subtask(delegation: &Value) -> Result<&Value> {
    delegation.pointer("/subtasks/0").with_context(|| format!("no subtask in {delegation}"))
}

fn is_completed(value: &Value) -> Result<()> {
    let status = value.get("status").and_then(Value::as_str).unwrap_or("none");
    ensure!(status == "completed", "it ended {status}: {value}");
    Ok(())
}

fn tokens(subtask: &Value, kind: &str) -> u64 {
    subtask.pointer(&format!("/receipt/tokens/{kind}")).and_then(Value::as_u64).unwrap_or(0)
}

/// Tokens and cost as a receipt has them.
fn figures(subtask: &Value) -> String {
    let cost = subtask.pointer("/receipt/costUsd").unwrap_or(&Value::Null);
    format!("{} in, {} out, cost {cost}", tokens(subtask, "input"), tokens(subtask, "output"))
}

/// Whether a subtask cost what so many calls of its model do, by whose word it should.
fn costs(subtask: &Value, agent: &str, calls: u64) -> Result<()> {
    let (cost, basis) = price(agent);
    let receipt = subtask.get("receipt").unwrap_or(&Value::Null);
    let said = receipt.get("costUsd").and_then(Value::as_f64);
    is_about(said, cost * calls as f64).with_context(|| format!("{agent}: {receipt}"))?;
    let said = receipt.get("costBasis").and_then(Value::as_str);
    ensure!(said == Some(basis), "{agent}: the cost is by {said:?}, not by {basis}");
    Ok(())
}

fn is_about(said: Option<f64>, dollars: f64) -> Result<()> {
    let is_so = said.is_some_and(|said| (said - dollars).abs() < 1e-9);
    ensure!(is_so, "the cost is {said:?} and should be {dollars}");
    Ok(())
}

/// What one call of its model costs, in dollars, and who says so: its program or the table
/// of prices. A call takes 1,000 tokens and answers with 50.
fn price(agent: &str) -> (f64, &'static str) {
    match agent {
        "claude" | "opencode" | "opencode-acp" => (0.00375, "runner"),
        "anthropic-llm" => (0.00375, "table"),
        "gemini" => (0.000425, "table"),
        // gpt-5, whoever asks it.
        _ => (0.00175, "table"),
    }
}

fn works_alone(stage: &Stage, agent: &str) -> Result<String> {
    let task = "Write the file. (script alone)";
    let delegation = stage.json(&["delegate", "--agent", agent, task])?;
    is_completed(&delegation)?;
    let subtask = subtask(&delegation)?;
    let changed = subtask.pointer("/receipt/filesChanged");
    ensure!(changed == Some(&json!(["made.txt"])), "it changed {changed:?}");
    ensure!(
        tokens(subtask, "input") == 3000,
        "three calls of 1,000 were counted as {}",
        figures(subtask)
    );
    ensure!(
        tokens(subtask, "output") == 150,
        "three answers of 50 were counted as {}",
        figures(subtask)
    );
    costs(subtask, agent, 3)?;
    let denied = subtask.pointer("/receipt/denied").cloned().unwrap_or_default();
    ensure!(
        denied.get("web").or_else(|| denied.get("web_fetch")).is_some(),
        "it wanted the web, which it may not have, and denied is {denied}"
    );
    // The others have no way to be told one.
    let is_told = !["claude", "codex"].contains(&agent);
    let is_asked = stage.seen().iter().any(|seen| seen.temperature == Some(0.5));
    ensure!(is_asked == is_told, "its file wants a temperature of 0.5: {is_asked}");
    let used = subtask.pointer("/receipt/toolCalls").cloned().unwrap_or_default();
    ensure!(used.as_object().is_some_and(|used| !used.is_empty()), "no tool call was seen");
    let own = |tool: &String| OWN_AGENTS.contains(&tool.as_str());
    let offered = stage.seen().into_iter().flat_map(|seen| seen.tools).find(own);
    ensure!(offered.is_none(), "the program offers agents of its own: {offered:?}");
    Ok(format!("{}, tools {used}", figures(subtask)))
}

/// Over the protocol: what tokens are told differs from program to program, and only one of
/// them says what it cost. Where nobody knows, nothing is made up.
fn works_over_acp(stage: &Stage, agent: &str) -> Result<String> {
    let task = "Write the file. (script alone)";
    let delegation = stage.json(&["delegate", "--agent", agent, task])?;
    is_completed(&delegation)?;
    let subtask = subtask(&delegation)?;
    let changed = subtask.pointer("/receipt/filesChanged");
    ensure!(changed == Some(&json!(["made.txt"])), "it changed {changed:?}");
    let used = subtask.pointer("/receipt/toolCalls").cloned().unwrap_or_default();
    ensure!(used.as_object().is_some_and(|used| !used.is_empty()), "no tool call was seen");
    let cost = subtask.pointer("/receipt/costUsd").unwrap_or(&Value::Null);
    if agent == "opencode-acp" {
        costs(subtask, agent, 3)?;
    } else {
        ensure!(cost.is_null(), "nobody knows what it cost, and it says {cost}");
    }
    Ok(format!("{}, tools {used}", figures(subtask)))
}

fn is_asked_again(stage: &Stage, agent: &str) -> Result<String> {
    let task = "Write the file. (script forgetful)";
    let delegation = stage.json(&["delegate", "--agent", agent, task])?;
    is_completed(&delegation)?;
    let subtask = subtask(&delegation)?;
    ensure!(subtask.get("attempts") == Some(&json!(1)), "it took more than one attempt");
    // Three calls of the model, counted once each although the second run goes on with
    // the first one's conversation.
    ensure!(tokens(subtask, "input") == 3000, "three calls were counted as {}", figures(subtask));
    costs(subtask, agent, 3)?;
    let asked = stage.seen().iter().filter(|seen| seen.said.contains("was not accepted")).count();
    ensure!(asked > 0, "the model was not asked again");
    Ok(figures(subtask))
}

fn hands_on(stage: &Stage, parent: &str, child: &str) -> Result<String> {
    let task = "Have the file written. (script parent)";
    let delegation = stage.json(&["delegate", "--agent", parent, task])?;
    is_completed(&delegation)?;
    let above = subtask(&delegation)?;
    let nested = above.pointer("/delegations/0").context("nothing was handed on")?;
    is_completed(nested)?;
    let below = subtask(nested)?;
    ensure!(below.get("agent") == Some(&json!(child)), "another agent did it: {below}");
    let path = json!(["user", parent, child]);
    ensure!(below.get("path") == Some(&path), "it stands at {:?}", below.get("path"));
    let id = delegation.get("delegationId").and_then(Value::as_str).unwrap_or_default();
    let diff = stage.legation(&["diff", id])?;
    let diff = String::from_utf8_lossy(&diff.stdout).into_owned();
    ensure!(diff.contains("made.txt"), "the child's file did not come up: {diff}");
    let used = delegation.pointer("/metrics/tokensUsed").and_then(Value::as_u64);
    // Two calls of the parent and two of the child, 1,050 tokens each.
    ensure!(used == Some(4200), "the tree used {used:?} tokens");
    costs(above, parent, 2)?;
    costs(below, child, 2)?;
    let sum = 2.0 * (price(parent).0 + price(child).0);
    let cost = stage.json(&["cost", id])?;
    is_about(cost.get("totalUsd").and_then(Value::as_f64), sum)?;
    is_about(delegation.pointer("/metrics/estimatedCost").and_then(Value::as_f64), sum)?;
    // What is nested is below the attempt that asked for it, not beside it.
    let nested = cost.pointer("/tree/children/0/children/0/totalUsd").and_then(Value::as_f64);
    is_about(nested, 2.0 * price(child).0)?;
    Ok(format!(
        "{} tokens, cost {sum} of which nested {}",
        used.unwrap_or_default(),
        2.0 * price(child).0
    ))
}

fn refused_inside(stage: &Stage) -> Result<String> {
    stage.write("project/.legation/config.toml", "[limits]\nmaxDepth = 1\n")?;
    let task = "Have the file written. (script parent)";
    let delegation = stage.json(&["delegate", "--agent", "claude", task])?;
    is_completed(&delegation)?;
    let nested = subtask(&delegation)?.pointer("/delegations/0");
    ensure!(nested.is_none(), "it was handed on all the same: {nested:?}");
    let log = std::fs::read_to_string(stage.project().join(".legation/logs/errors.jsonl"))?;
    ensure!(log.contains("MAX_DEPTH_EXCEEDED"), "nothing was refused: {log}");
    Ok("MAX_DEPTH_EXCEEDED".to_owned())
}

fn leaves_nothing(stage: &Stage, agent: &str) -> Result<String> {
    let task = "Wait. (script long)";
    let begun = stage.json(&["delegate", "--agent", agent, "--detach", task])?;
    let id = begun.get("delegationId").and_then(Value::as_str).context("no id")?.to_owned();
    Stage::wait_until("the command runs", || Stage::is_running(SLEEP))?;
    let cancel = stage.legation(&["cancel", &id])?;
    ensure!(cancel.status.success(), "the cancel: {}", String::from_utf8_lossy(&cancel.stderr));
    Stage::wait_until("the delegation is cancelled", || {
        let now = stage.json(&["status", &id]);
        now.is_ok_and(|now| now.get("status") == Some(&json!("cancelled")))
    })?;
    ensure!(!Stage::is_running(SLEEP), "the command still runs");
    let state = stage.project().to_string_lossy().into_owned();
    ensure!(!Stage::is_running(&format!("{state}/")), "something of the program still runs");
    let now = stage.json(&["status", &id])?;
    Ok(figures(subtask(&now)?))
}

//! Any agent that speaks the Agent Client Protocol, version 1.
//!
//! The program is started once and stays for the whole conversation. It asks before it
//! uses tools, and is answered by our levels; where a level says to ask, a human is.

mod files;
mod model;
mod parse;
mod permissions;
mod wire;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use legation_core::agent::Level;
use legation_core::text::shown::{clip, visible};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use self::parse::Listener;
use self::permissions::{Use, choose};
use self::wire::{Ended, File, Hello, Permission, Session, Told as Happened};
use crate::door::SERVER;
use crate::envoy::{Charge, Dialogue, Ear, Event, Fault, FaultKind, Outcome, Told, Word, ask};
use crate::llm::gate;
use crate::procfs::Busy;
use crate::rpc::{Incoming, Peer, Start, Wrong};
use crate::{claude_code, opencode};

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;
/// How long an agent may take to be ready.
const READY_IN: Duration = Duration::from_secs(60);
/// How long one that was asked to stop may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long it may take to end. Some never do, and are left to the keeper.
const END_IN: Duration = Duration::from_millis(500);
/// How often silence is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long it may say nothing outside a tool call.
const SILENCE: Duration = Duration::from_secs(600);
/// "Method not found" and "invalid parameters" in JSON-RPC.
const NO_METHOD: i64 = -32601;
const BAD_PARAMS: i64 = -32602;
/// The protocol's own number for a file that is not there: agents go on from it.
const NO_FILE: i64 = -32002;
/// The protocol's own number for somebody who is not logged in.
const NO_LOGIN: i64 = -32000;
/// Things that a human has said yes to which are remembered.
const MAX_APPROVED: usize = 1_000;
/// Characters of a failure that are told.
const TOLD_CHARS: usize = 300;

/// A conversation with such an agent.
#[derive(Default)]
pub struct Acp {
    open: Option<Open>,
}

struct Open {
    peer: Peer,
    session: String,
    root: PathBuf,
    listener: Listener,
    /// What a human has said yes to, and was not done through us yet.
    approved: BTreeSet<String>,
    is_told: bool,
}

impl Dialogue for Acp {
    async fn turn(&mut self, charge: &Charge, text: &str, ear: &mut Ear) -> Outcome {
        let mut text = text.to_owned();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                if !charge.instructions.is_empty() {
                    // The protocol has no place for instructions that all agents know.
                    text = format!("{}\n\n{text}", charge.instructions);
                }
                match timeout(READY_IN, begin(charge)).await {
                    Ok(Ok(open)) => open,
                    Ok(Err(fault)) => return Outcome::Broken(fault),
                    Err(_) => {
                        let why = "The agent did not get ready in time.";
                        return Outcome::Broken(Fault::new(FaultKind::NotStarted, why));
                    }
                }
            }
        };
        ear.hear(Event::Conversation(open.session.clone()));
        match open.turn(charge, &text, ear).await {
            Ok(outcome) => {
                if ear.is_stopped() {
                    open.peer.bury(END_IN).await;
                } else {
                    self.open = Some(open);
                }
                outcome
            }
            Err(Gone) => {
                let words = open.peer.bury(END_IN).await;
                let words = clip(&visible(words.trim()), TOLD_CHARS).into_owned();
                Outcome::Broken(Fault::new(FaultKind::Cut, format!("The agent has ended. {words}")))
            }
        }
    }
}

/// The program says nothing more.
struct Gone;

/// Starts the program and makes a session.
async fn begin(charge: &Charge) -> Result<Open, Fault> {
    let cannot = |why: String| Fault::new(FaultKind::NotStarted, why);
    let env = [
        ("OPENCODE_PERMISSION".to_owned(), for_opencode().to_string()),
        // Our tools are to be seen at once, and not searched for.
        ("ENABLE_TOOL_SEARCH".to_owned(), "false".to_owned()),
    ];
    let start = Start { command: &charge.program, env: &env, cwd: &charge.workspace };
    let program = charge.program.first().map_or("the agent", String::as_str);
    let root = std::fs::canonicalize(&charge.workspace)
        .map_err(|problem| cannot(format!("The workspace cannot be used: {problem}")))?;
    let mut peer = Peer::start(&start)
        .map_err(|problem| cannot(format!("{program} cannot be started: {problem}")))?;
    match shake_hands(&mut peer, charge).await {
        Ok(session) => {
            let (listener, approved) = (Listener::default(), BTreeSet::new());
            Ok(Open { peer, session, root, listener, approved, is_told: false })
        }
        Err(mut fault) => {
            let words = peer.bury(END_IN).await;
            if fault.kind == FaultKind::NotStarted && !words.trim().is_empty() {
                let words = clip(&visible(words.trim()), TOLD_CHARS).into_owned();
                fault.message = format!("{} {words}", fault.message);
            }
            Err(fault)
        }
    }
}

/// An agent that would use tools unasked is made to ask; those by which it would spend
/// what nobody counts it does not get.
fn for_opencode() -> Value {
    let mut told =
        json!({"edit": "ask", "bash": "ask", "webfetch": "ask", "external_directory": "deny"});
    if let Some(told) = told.as_object_mut() {
        told.extend(opencode::NEVER.iter().map(|name| ((*name).to_owned(), json!("deny"))));
    }
    told
}

/// Everything up to the session in which the conversation is held.
async fn shake_hands(peer: &mut Peer, charge: &Charge) -> Result<String, Fault> {
    let about = json!({"name": "legation", "version": env!("CARGO_PKG_VERSION")});
    // Reading is granted too, but not offered: one agent takes a file that is not there for
    // a failure when it has to ask us, and could not make a new one.
    let abilities =
        json!({"fs": {"readTextFile": false, "writeTextFile": true}, "terminal": false});
    let hello =
        json!({"protocolVersion": VERSION, "clientCapabilities": abilities, "clientInfo": about});
    let hello: Hello = request(peer, "initialize", &hello).await?;
    if hello.protocol_version != VERSION {
        let why = format!("The agent speaks version {} of the protocol.", hello.protocol_version);
        return Err(Fault::new(FaultKind::NotStarted, why));
    }
    let name = hello.agent_info.map(|about| about.name).unwrap_or_default();
    let session: Session = request(peer, "session/new", &new_session(charge, &name)).await?;
    if let Some(model) = &charge.model {
        let chosen =
            model::choose(&session, model).map_err(|why| Fault::new(FaultKind::NotStarted, why))?;
        if let Some((method, params)) = chosen {
            let _: Value = request(peer, method, &params).await?;
        }
    }
    Ok(session.session_id)
}

fn new_session(charge: &Charge, name: &str) -> Value {
    let env: Vec<Value> =
        charge.door.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let door = json!({"name": SERVER, "command": charge.door.exe, "args": ["mcp"], "env": env});
    let options = json!({
        // As root Claude would not begin otherwise, and it is never to skip a question.
        "allowDangerouslySkipPermissions": false,
        "disallowedTools": claude_code::NEVER,
    });
    let meta = json!({"claudeCode": {"options": options}});
    let meta = if name.contains("claude") { meta } else { json!({}) };
    json!({"cwd": charge.workspace, "mcpServers": [door], "_meta": meta})
}

/// Asks something before there is anything to listen to.
async fn request<T: DeserializeOwned>(
    peer: &mut Peer,
    method: &str,
    params: &Value,
) -> Result<T, Fault> {
    let asked = peer.ask(method, params);
    while let Some(incoming) = peer.next().await {
        match incoming {
            Incoming::Reply { id, outcome } if id == asked => {
                let result = outcome.map_err(|wrong| fault(&wrong))?;
                let result = if result.get() == "null" { "{}" } else { result.get() };
                return serde_json::from_str(result).map_err(|problem| {
                    let why = format!("The answer to `{method}` makes no sense: {problem}");
                    Fault::new(FaultKind::NotStarted, why)
                });
            }
            Incoming::Request { id, .. } => peer.refuse(&id, NO_METHOD, "not now"),
            Incoming::Reply { .. } | Incoming::Notice { .. } | Incoming::TooLong => {}
        }
    }
    Err(Fault::new(
        FaultKind::NotStarted,
        format!("The agent ended before it answered `{method}`."),
    ))
}

/// What is wrong, in our words.
fn fault(wrong: &Wrong) -> Fault {
    let more = wrong.data.as_ref().and_then(|data| {
        let text = data.as_str().or_else(|| data.get("details")?.as_str());
        text.or_else(|| data.get("message")?.as_str())
    });
    let words =
        [Some(wrong.message.as_str()), more].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let lower = words.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let kind =
        if wrong.code == NO_LOGIN || has(&["authentication", "api key", "unauthorized", "login"]) {
            FaultKind::Login
        } else if has(&["rate limit", "overloaded", "429", "529", "quota"]) {
            FaultKind::RateLimit
        } else {
            FaultKind::Provider
        };
    Fault::new(kind, clip(&visible(&words), TOLD_CHARS).into_owned())
}

impl Open {
    /// Says something and listens until the turn is over.
    async fn turn(&mut self, charge: &Charge, text: &str, ear: &mut Ear) -> Result<Outcome, Gone> {
        let prompt = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        let asked = self.peer.ask("session/prompt", &prompt);
        let mut busy = Busy::below(self.peer.id());
        let mut next_look = Instant::now() + LOOK_EVERY;
        let mut give_up_at = None;
        let mut heard = Vec::new();
        loop {
            tokio::select! {
                incoming = self.peer.next() => {
                    let Some(incoming) = incoming else {
                        // What it had begun to say is all that there will be.
                        self.listener.flush(&mut heard);
                        heard.drain(..).for_each(|event| ear.hear(event));
                        return Err(Gone);
                    };
                    match incoming {
                        Incoming::Reply { id, outcome } if id == asked => {
                            return Ok(self.ended(outcome, ear));
                        }
                        Incoming::Request { id, method, params } => {
                            self.grant((&id, &method, &params), charge, ear).await;
                        }
                        Incoming::Notice { method, params } if method == "session/update" => {
                            self.take_note(&params, &mut heard);
                        }
                        Incoming::Reply { .. } | Incoming::Notice { .. } | Incoming::TooLong => {
                            heard.push(Event::Alive);
                        }
                    }
                    heard.drain(..).for_each(|event| ear.hear(event));
                }
                () = ear.stopped(), if give_up_at.is_none() => {
                    self.call_off();
                    give_up_at = Some(Instant::now() + PATIENCE);
                }
                () = sleep_until(give_up_at.unwrap_or(next_look)), if give_up_at.is_some() => {
                    self.listener.flush(&mut heard);
                    heard.drain(..).for_each(|event| ear.hear(event));
                    return Ok(Outcome::Over);
                }
                () = sleep_until(next_look), if give_up_at.is_none() => {
                    next_look = Instant::now() + LOOK_EVERY;
                    if busy.changed() {
                        ear.stay_calm();
                    }
                    if ear.silent_for() >= SILENCE {
                        let after_ms = u64::try_from(ear.silent_for().as_millis()).unwrap_or(u64::MAX);
                        ear.tell(&Told::Stalled { after_ms });
                        ear.stay_calm();
                    }
                }
            }
        }
    }

    /// Takes note of what happens in the session; what happens in another is nobody's.
    fn take_note(&mut self, params: &RawValue, heard: &mut Vec<Event>) {
        let Ok(happened) = serde_json::from_str::<Happened>(params.get()) else { return };
        if happened.session_id.is_none_or(|session| session == self.session) {
            self.listener.take(happened.update, heard);
        }
    }

    /// Asks the agent to stop, once.
    fn call_off(&mut self) {
        if !std::mem::replace(&mut self.is_told, true) {
            self.peer.tell("session/cancel", &json!({"sessionId": self.session}));
        }
    }

    fn ended(&mut self, outcome: Result<Box<RawValue>, Wrong>, ear: &mut Ear) -> Outcome {
        let mut heard = Vec::new();
        let ended: Ended = match &outcome {
            Ok(result) => serde_json::from_str(result.get()).unwrap_or_default(),
            Err(_) => Ended::default(),
        };
        self.listener.end(&ended, &mut heard);
        heard.into_iter().for_each(|event| ear.hear(event));
        if let Err(wrong) = outcome {
            return Outcome::Broken(fault(&wrong));
        }
        let broken = |kind, why: &str| Outcome::Broken(Fault::new(kind, why));
        match ended.stop_reason.as_str() {
            "end_turn" => Outcome::Over,
            "cancelled" if ear.is_stopped() => Outcome::Over,
            "max_tokens" => {
                broken(FaultKind::Cut, "The answer was cut off where it became too long.")
            }
            "max_turn_requests" => broken(FaultKind::Turns, "The agent has used all of its turns."),
            "refusal" => broken(FaultKind::Provider, "The model would not go on."),
            "cancelled" => broken(FaultKind::Provider, "The agent called its turn off by itself."),
            _ => broken(FaultKind::Cut, "The agent did not say how its turn ended."),
        }
    }

    /// Answers what the agent wants of us.
    async fn grant(
        &mut self,
        (id, method, params): (&Value, &str, &RawValue),
        charge: &Charge,
        ear: &mut Ear,
    ) {
        match method {
            "session/request_permission" => match serde_json::from_str(params.get()) {
                Ok(wanted) => self.permit(id, wanted, charge, ear).await,
                Err(problem) => self.peer.refuse(id, BAD_PARAMS, &problem.to_string()),
            },
            "fs/read_text_file" | "fs/write_text_file" => {
                ear.hear(Event::Alive);
                let tool = if method == "fs/read_text_file" { "read" } else { "edit" };
                match serde_json::from_str(params.get()) {
                    Ok(file) => self.hand_over(id, (tool, &file), charge, ear).await,
                    Err(problem) => self.peer.refuse(id, BAD_PARAMS, &problem.to_string()),
                }
            }
            _ => self.peer.refuse(id, NO_METHOD, "this is not offered"),
        }
    }

    /// Answers whether a tool may be used.
    async fn permit(&mut self, id: &Value, wanted: Permission, charge: &Charge, ear: &mut Ear) {
        let Permission { tool_call, options } = wanted;
        let tool_call = self.listener.known(&tool_call);
        let used = Use::of(&tool_call).below(&self.root);
        let what = used.what.join(", ");
        let level = used.level(&charge.tools);
        let verdict = self.verdict(level, &format!("{}: {what}", used.tool), charge, ear).await;
        if verdict.is_ok() && level == Level::Ask && self.approved.len() < MAX_APPROVED {
            self.approved.extend(used.what.iter().map(|what| format!("{}: {what}", used.tool)));
        }
        let choice = choose(&options, verdict.is_ok() && !self.is_told);
        let outcome = match choice {
            Some(choice) => json!({"outcome": "selected", "optionId": choice}),
            None => json!({"outcome": "cancelled"}),
        };
        self.peer.answer(id, &json!({ "outcome": outcome }));
        let mut heard = Vec::new();
        match verdict {
            // Some agents say nothing more of it until it is over.
            Ok(()) => self.listener.tool(&tool_call, &mut heard),
            Err(why) => heard.push(Event::Denied { tool: used.tool, why: why.to_owned() }),
        }
        heard.into_iter().for_each(|event| ear.hear(event));
    }

    /// Reads or writes a file for the agent, if that may be.
    async fn hand_over(
        &mut self,
        id: &Value,
        (tool, file): (&str, &File),
        charge: &Charge,
        ear: &mut Ear,
    ) {
        let found = files::find(&self.root, file);
        let permitted = match &found {
            Ok((_, below)) => {
                let level = gate::level(&charge.tools, tool, below);
                let what = format!("{tool}: {below}");
                // Many ask first whether they may, and then have it done by us.
                let is_approved = level == Level::Ask && self.approved.remove(&what);
                let level = if is_approved { Level::Allow } else { level };
                self.verdict(level, &what, charge, ear).await.map_err(str::to_owned)
            }
            Err(why) => Err(why.clone()),
        };
        if let Err(why) = permitted {
            self.peer.refuse(id, BAD_PARAMS, &format!("`{tool}` was denied: {why}"));
            return ear.hear(Event::Denied { tool: tool.to_owned(), why });
        }
        // While somebody was asked it may have become another file.
        let done = match files::find(&self.root, file) {
            Ok(again) if Ok(&again) == found.as_ref() && tool == "read" => {
                files::read(&again.0, file)
            }
            Ok(again) if Ok(&again) == found.as_ref() => files::write(&again.0, file),
            Ok(_) | Err(_) => Err("it is another file by now".to_owned().into()),
        };
        match done {
            Ok(result) => self.peer.answer(id, &result),
            Err(files::Refused::Missing) => self.peer.refuse(id, NO_FILE, "Resource not found"),
            Err(files::Refused::Broken(why)) => self.peer.refuse(id, BAD_PARAMS, &why),
        }
    }

    /// Whether something may be done, or why not; a human is asked where that is for one
    /// to say.
    async fn verdict(
        &mut self,
        level: Level,
        what: &str,
        charge: &Charge,
        ear: &mut Ear,
    ) -> Result<(), &'static str> {
        match level {
            Level::Allow => Ok(()),
            Level::Deny => Err("the agent may not use it for this"),
            Level::Ask => match self.ask(charge, what, ear).await {
                Some(Word::Yes) => Ok(()),
                Some(Word::No) => Err("a human said no"),
                Some(Word::Nobody) => Err("it would have to be asked for, and nobody can be asked"),
                None => Err("all shall stop"),
            },
        }
    }

    /// Asks a human; nothing means that all shall stop.
    async fn ask(&mut self, charge: &Charge, what: &str, ear: &mut Ear) -> Option<Word> {
        let mut asking = std::pin::pin!(ask(&charge.env, what));
        loop {
            tokio::select! {
                word = &mut asking => return Some(word),
                () = ear.stopped() => {
                    self.call_off();
                    return None;
                }
                () = sleep_until(Instant::now() + LOOK_EVERY) => ear.stay_calm(),
            }
        }
    }
}

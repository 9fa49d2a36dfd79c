//! The conversation: say the brief, hear it out, and ask again where no valid return
//! came of it.

use std::path::Path;

use legation_core::returns::{
    self, ArtifactFacts, CompiledSchema, Expectation, Fact, Return, ReturnError, ReturnStatus,
    Violation,
};
use serde_json::json;

use super::charge::Charge;
use super::dialogue::Dialogue;
use super::ear::Ear;
use super::event::{Event, Fault, FaultKind, Outcome};
use super::told::Told;
use crate::artifacts::WorkspaceFiles;
use crate::command::{ATTEMPT_DIR, RETURN_FILE};

/// How often it is asked again at most.
const ASKS: u32 = 2;

/// Holds a conversation from the brief to the return.
pub(crate) async fn through(charge: &Charge, mut with: impl Dialogue, ear: &mut Ear) {
    converse(charge, &mut with, ear).await;
    with.close().await;
}

async fn converse(charge: &Charge, with: &mut impl Dialogue, ear: &mut Ear) {
    let mut text = charge.prompt.clone();
    for asks_left in (0..=ASKS).rev() {
        ear.begin();
        match with.turn(charge, &text, ear).await {
            Outcome::Over => {}
            Outcome::Broken(fault) => {
                // Who was asked to stop has not failed.
                if ear.is_stopped() {
                    return;
                }
                if fault.kind == FaultKind::Cut {
                    ear.tell(&Told::CutOff);
                }
                // What was handed in before it broke off counts; so does a return that
                // was said, if it is whole.
                if !is_handed_in(charge) && violation(charge, &ear.text()).is_some() {
                    ear.hear(Event::Text(on_behalf(charge, &fault)));
                }
                return;
            }
        }
        if ear.is_stopped() || is_handed_in(charge) {
            return;
        }
        let Some(violation) = violation(charge, &ear.text()) else { return };
        if asks_left > 0 {
            ear.tell(&Told::AskedAgain { why: violation.message.clone() });
            text = returns::ask_again(&violation, &charge.known, asks_left - 1);
        }
    }
}

/// What is wrong with the return in what was said; nothing means it is valid.
pub(crate) fn violation(charge: &Charge, text: &str) -> Option<Violation> {
    // A schema that cannot be used is told by the engine, and nobody's to mend here.
    let schema = charge.schema.as_ref().and_then(|schema| CompiledSchema::compile(schema).ok());
    let expect = Expectation { session_id: &charge.known.session_id, schema: schema.as_ref() };
    let files = WorkspaceFiles::new(&charge.workspace).ok();
    let facts = |path: &str| match &files {
        Some(files) => ArtifactFacts::look(files, path),
        None => Fact::Missing,
    };
    returns::check_text(text, &expect, &facts).err()
}

/// Whether a return was handed in; what it is worth is for the engine to say.
fn is_handed_in(charge: &Charge) -> bool {
    let folder = charge.env.get(ATTEMPT_DIR).map(Path::new);
    folder.is_some_and(|folder| folder.join(RETURN_FILE).exists())
}

/// The return of a program that broke off.
fn on_behalf(charge: &Charge, fault: &Fault) -> String {
    let message = if fault.message.trim().is_empty() {
        "The program gave no reason.".to_owned()
    } else {
        legation_core::text::shown::clip(fault.message.trim(), 400).into_owned()
    };
    let returned = Return {
        status: ReturnStatus::Failed,
        summary: message.clone(),
        artifacts: Vec::new(),
        metadata: charge.known.clone(),
        errors: vec![ReturnError {
            kind: fault.kind.as_str().to_owned(),
            message,
            code: None,
            recoverable: fault.kind.is_recoverable(),
            recommendation: fault.kind.recommendation().to_owned(),
        }],
        next_steps: None,
        data: fault.retry_after.map(|seconds| json!({ "retryAfter": seconds })),
    };
    serde_json::to_string(&returned).unwrap_or_default()
}

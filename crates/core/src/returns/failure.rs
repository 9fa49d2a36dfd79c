//! What a user is told when a task failed.

use super::model::ReturnError;
use super::neutralise::neutralise;

/// One sentence: what to do if every error can be recovered from, else what
/// stands in the way.
pub fn failure_sentence(errors: &[ReturnError]) -> String {
    let blocking = errors.iter().find(|error| !error.recoverable);
    let text = match (blocking, errors) {
        (Some(error), _) => manual(&error.message),
        (None, []) => manual("no reason was given"),
        (None, errors) => {
            let advice = errors.iter().map(|error| error.recommendation.trim());
            let advice = advice.clone().find(|text| !text.is_empty());
            format!("Task failed but is recoverable. {}", advice.unwrap_or("Try again."))
        }
    };
    // One sentence is one line, whatever the child's words are.
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    neutralise(&line).into_owned()
}

fn manual(message: &str) -> String {
    format!("Task failed. Manual intervention required: {}", message.trim())
}

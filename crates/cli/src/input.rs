//! Reading what a command is given: a file or stdin, as text, within a limit.

use std::fs::File;
use std::io::{self, BufRead as _, Read};
use std::path::Path;

use legation_core::Code;
use legation_core::text::shown;
use serde_json::json;

use crate::error::CommandError;

/// Whether whoever sits at the terminal says yes to what was asked; no answer is a no.
pub(crate) fn is_yes() -> bool {
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// The whole text of a file, or of stdin for `-`, if it has at most `max_bytes`.
pub(crate) fn read_text(source: &Path, max_bytes: usize) -> Result<String, CommandError> {
    let bytes = read_bytes(source, max_bytes)?;
    let name = name(source);
    if bytes.len() > max_bytes {
        return Err(CommandError::failed(
            Code::ValidationFailed,
            format!("{name} has more than {max_bytes} bytes"),
        )
        .hint("split it, or pass only the part that matters")
        .details(json!({"maxBytes": max_bytes})));
    }
    utf8(bytes, &name)
}

/// The bytes of a file, or of stdin for `-`: one more than `max_bytes` where there are too many.
pub(crate) fn read_bytes(source: &Path, max_bytes: usize) -> Result<Vec<u8>, CommandError> {
    let bytes = if source == Path::new("-") {
        read_within(io::stdin().lock(), max_bytes)
    } else {
        File::open(source).and_then(|file| read_within(file, max_bytes))
    };
    bytes.map_err(|problem| unreadable(&name(source), &problem))
}

/// The bytes as text; the error names the first byte that is not UTF-8.
pub(crate) fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, CommandError> {
    String::from_utf8(bytes).map_err(|problem| {
        let byte = problem.utf8_error().valid_up_to();
        CommandError::failed(
            Code::ValidationFailed,
            format!("{name} is not UTF-8 text: byte {byte} does not belong there"),
        )
        .hint("convert it to UTF-8, for example with iconv")
        .details(json!({"byte": byte}))
    })
}

/// Reads one byte more than allowed, so that the caller can tell.
fn read_within(source: impl Read, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take((max_bytes as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a source is called in messages.
pub(crate) fn name(source: &Path) -> String {
    match source.to_string_lossy() {
        name if name == "-" => "stdin".to_owned(),
        name => shown::visible(&name).into_owned(),
    }
}

fn unreadable(name: &str, problem: &io::Error) -> CommandError {
    let (code, hint) = if problem.kind() == io::ErrorKind::NotFound {
        (Code::FileNotFound, "check the path, or write - to read from stdin")
    } else {
        (Code::ValidationFailed, "pass a file that you may read, or - for stdin")
    };
    CommandError::failed(code, format!("cannot read {name}: {problem}"))
        .hint(hint)
        .details(json!({"file": name}))
}

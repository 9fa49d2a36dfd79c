//! `legation check-return`: the checks of a return, without running anything.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use legation_core::Code;
use legation_core::ids::SessionId;
use legation_core::returns::{
    Check, CompiledSchema, Expectation, Return, Violation, check_text, neutralise,
};
use legation_runners::artifacts::WorkspaceFiles;
use serde::Serialize;

use crate::error::CommandError;
use crate::output::Output;

/// Bytes of an output or a schema that are read.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// Checks an agent's return: what it says, and whether the disk bears it out.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The session that the return must answer.
    #[arg(long, value_name = "S")]
    session_id: String,
    /// The folder that the artifacts are relative to.
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// A JSON Schema that `data` must match.
    #[arg(long, value_name = "F")]
    schema: Option<PathBuf>,
    /// What the agent printed; `-` reads it from stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct Answer {
    valid: bool,
    check: Option<Check>,
    code: Option<Code>,
    message: Option<String>,
    hint: Option<String>,
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    returned: Option<Return>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let session_id = args.session_id.trim();
    if session_id.is_empty() {
        return Err(CommandError::usage("--session-id is empty")
            .hint("give the session id of the brief, such as sess_1735460684_a1b2c3"));
    }
    let schema = args.schema.as_deref().map(compile).transpose()?;
    let workspace = open(&args.workspace)?;
    let expect = Expectation { session_id: &SessionId::new(session_id), schema: schema.as_ref() };
    let bytes = read(&args.file).map_err(|error| unreadable("return", &args.file, &error))?;
    let checked = text(&bytes).and_then(|text| check_text(text, &expect, &workspace));
    let exit = if checked.is_ok() { 0 } else { 1 };
    let answer = Answer::from(checked);
    output.answer(&answer, || answer.to_text());
    Ok(ExitCode::from(exit))
}

fn open(folder: &Path) -> Result<WorkspaceFiles, CommandError> {
    WorkspaceFiles::new(folder).map_err(|error| {
        if error.kind() == io::ErrorKind::NotADirectory {
            let path = folder.display();
            return CommandError::usage(format!("The workspace {path} is not a folder"))
                .hint("name the folder in which the agent worked");
        }
        unreadable("workspace", folder, &error)
    })
}

/// At most one byte more than may be read, so that too much can be told from enough.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<&str, Violation> {
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("The output has more than {MAX_INPUT_BYTES} bytes");
        return Err(Violation::new(Check::Json, message).hint("check the end of it alone"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Violation::new(Check::Json, "Return is not valid JSON")
            .hint(format!("byte {at} is not UTF-8; write the return in UTF-8"))
    })
}

fn compile(path: &Path) -> Result<CompiledSchema, CommandError> {
    let bytes = read(path).map_err(|error| unreadable("schema", path, &error))?;
    let bad = |problem: String| {
        CommandError::usage(format!("{} is not a usable JSON Schema: {problem}", path.display()))
            .hint("mend the file; references to other documents are not followed")
    };
    let value = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    CompiledSchema::compile(&value).map_err(|error| bad(error.to_string()))
}

fn unreadable(what: &str, path: &Path, error: &io::Error) -> CommandError {
    let path = path.display();
    if error.kind() == io::ErrorKind::NotFound {
        let message = format!("The {what} {path} does not exist");
        return CommandError::failed(Code::FileNotFound, message)
            .hint("check the path; it is relative to the current folder");
    }
    let message = format!("Cannot read the {what} {path}: {error}");
    CommandError::failed(Code::UnknownError, message)
        .hint("check what it is, and that you may read it")
}

impl From<Result<Return, Violation>> for Answer {
    fn from(checked: Result<Return, Violation>) -> Self {
        match checked {
            Ok(returned) => Self {
                valid: true,
                check: None,
                code: None,
                message: None,
                hint: None,
                returned: Some(returned),
            },
            Err(violation) => Self {
                valid: false,
                check: Some(violation.check),
                code: Some(violation.code),
                message: Some(violation.message),
                hint: violation.hint,
                returned: None,
            },
        }
    }
}

impl Answer {
    fn to_text(&self) -> String {
        let mut text = match self.check {
            None => "valid".to_owned(),
            Some(check) => format!("invalid: the check `{check}` failed"),
        };
        for line in self.message.iter().chain(&self.hint) {
            text.push_str("\n  ");
            // It may repeat words of the agent, which have no business with the terminal.
            text.push_str(&neutralise(line));
        }
        text
    }
}

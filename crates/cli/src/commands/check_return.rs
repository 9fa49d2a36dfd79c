//! `legation check-return`: the checks of a return, without running anything.

use std::io;
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
use crate::input;
use crate::output::Output;

/// Bytes of an output or a schema that are read.
const MAX_INPUT_BYTES: usize = 16 << 20;

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
    let stdin = Some(Path::new("-"));
    if args.schema.as_deref() == stdin && Some(args.file.as_path()) == stdin {
        return Err(CommandError::usage("--schema and FILE cannot both read stdin")
            .hint("put one of the two into a file"));
    }
    let schema = args.schema.as_deref().map(compile).transpose()?;
    let workspace = open(&args.workspace)?;
    let expect = Expectation { session_id: &SessionId::new(session_id), schema: schema.as_ref() };
    let bytes = input::read_bytes(&args.file, MAX_INPUT_BYTES)?;
    let checked = text(&bytes).and_then(|text| check_text(text, &expect, &workspace));
    let exit = if checked.is_ok() { 0 } else { 1 };
    let answer = Answer::from(checked);
    output.answer(&answer, || answer.to_text());
    Ok(ExitCode::from(exit))
}

fn open(folder: &Path) -> Result<WorkspaceFiles, CommandError> {
    WorkspaceFiles::new(folder).map_err(|problem| {
        let path = input::name(folder);
        let kind = problem.kind();
        if kind == io::ErrorKind::NotADirectory {
            return CommandError::usage(format!("the workspace {path} is not a folder"))
                .hint("name the folder in which the agent worked");
        }
        let missing = kind == io::ErrorKind::NotFound;
        let code = if missing { Code::FileNotFound } else { Code::UnknownError };
        CommandError::failed(code, format!("cannot use the workspace {path}: {problem}"))
            .hint("check the path; it is relative to the current folder")
    })
}

fn text(bytes: &[u8]) -> Result<&str, Violation> {
    if bytes.len() > MAX_INPUT_BYTES {
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
    let bytes = input::read_bytes(path, MAX_INPUT_BYTES)?;
    let bad = |problem: String| {
        CommandError::usage(format!("{} is not a usable JSON Schema: {problem}", path.display()))
            .hint("mend the file; references to other documents are not followed")
    };
    let value = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    CompiledSchema::compile(&value).map_err(|error| bad(error.to_string()))
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

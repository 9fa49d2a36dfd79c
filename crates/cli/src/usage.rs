//! A command line that cannot be meant: what is wrong with it, in the words of all other
//! errors. Nothing was started for it.

use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;

use crate::error::CommandError;
use crate::output::Output;

/// Help and version are answers; everything else is a usage error.
pub(crate) fn end(problem: &clap::Error, program: &Command) -> ExitCode {
    let mut output = Output::new(std::env::args_os().any(|arg| arg == "--json"));
    if !problem.use_stderr() {
        output.wrote(problem.print());
        return output.end(ExitCode::SUCCESS);
    }
    let given = Given::of(program);
    if is_verb_missing(problem) && !output.wants_json() {
        // What there is to choose from says more than that something is missing.
        output.note(problem.to_string().trim_end());
        return output.end(ExitCode::from(2));
    }
    let error = given.error(problem);
    output.error(&error);
    output.end(error.exit_code())
}

fn is_verb_missing(problem: &clap::Error) -> bool {
    matches!(
        problem.kind(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The verbs that were given, as far as they are known.
struct Given {
    /// What was typed, such as `legation agents`.
    words: Vec<String>,
    /// What could follow.
    verbs: Vec<String>,
}

impl Given {
    fn of(program: &Command) -> Self {
        let mut command = program;
        let mut words = vec![program.get_name().to_owned()];
        for arg in std::env::args_os().skip(1) {
            if let Some(verb) = command.find_subcommand(arg) {
                words.push(verb.get_name().to_owned());
                command = verb;
            }
        }
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        Self { words, verbs: shown.map(|verb| verb.get_name().to_owned()).collect() }
    }

    /// What clap says in paragraphs, as a message and a hint.
    fn error(&self, problem: &clap::Error) -> CommandError {
        if is_verb_missing(problem) {
            return CommandError::usage("a subcommand is needed")
                .hint(format!("use one of: {}", self.verbs.join(", ")));
        }
        let text = problem.to_string();
        let lines = || text.lines().map(|line| line.trim_start_matches("error: ").trim());
        // The first paragraph names the arguments it is about on lines of their own.
        let message: Vec<&str> = lines().take_while(|line| !line.is_empty()).collect();
        let tips = lines().filter_map(|line| line.strip_prefix("tip: "));
        // Where something is missing, the whole line shows what and in which order.
        let form = lines().find_map(|line| line.strip_prefix("Usage: "));
        let form = form.filter(|_| problem.kind() == ErrorKind::MissingRequiredArgument);
        let form = form.map(|form| format!("write `{form}`"));
        let tips = tips.chain(form.as_deref());
        let help = format!("`{} --help` tells what it takes", self.words.join(" "));
        let hints: Vec<&str> = tips.chain([help.as_str()]).collect();
        CommandError::usage(message.join(" ")).hint(hints.join("; "))
    }
}

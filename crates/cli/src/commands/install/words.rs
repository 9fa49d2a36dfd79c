//! The commands that a program's user can type, as that program wants them written.

use super::program::Program;

/// A command.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// What it is for, in a line.
    about: &'static str,
    /// What it takes.
    takes: &'static str,
    /// What the agent is told to do; the user's words follow.
    does: &'static str,
}

/// All of them.
pub(super) const COMMANDS: [Command; 3] = [
    Command {
        name: "delegate",
        about: "Hand a task to other agents through Legation",
        takes: "[--agent NAME] [--timeout 30m] [--budget TOKENS] TASK",
        does: "The user wants this done by other agents, within the bounds of Legation. Do not do \
the work yourself.\n\n\
1. Call the tool `delegate` of the MCP server `legation` with the task. If it clearly has parts \
that can be worked on side by side or one after another, call `delegate_batch` instead. Pass on \
`--agent`, `--timeout` and `--budget` as the arguments of the same names if the user has given \
them; `list_agents` says which agents there are.\n\
2. If it is refused, tell the user the code, the message and what remains, and stop.\n\
3. When it has ended, tell the user how, what was done, which files were changed and what it \
cost. Nothing of it is in the user's files yet: say that `legation diff ID` shows it and \
`legation apply ID` brings it in.",
    },
    Command {
        name: "direct",
        about: "Do a task here, without handing it to other agents",
        takes: "TASK",
        does: "The user wants this done by you, here. Use none of the tools of the MCP server \
`legation` for it.",
    },
    Command {
        name: "delegation",
        about: "Look at delegations of Legation, or cancel one",
        takes: "[list | status ID | wait ID | cancel ID [REASON] | agents | permissions AGENT]",
        does: "Answer with the tools of the MCP server `legation` and with nothing else: \
`delegate_list` for `list` or if nothing is said, `delegate_status` for `status`, `delegate_wait` \
for `wait`, `delegate_cancel` for `cancel`, `list_agents` for `agents`, `explain_permissions` for \
`permissions`. Show ids, states, summaries and costs as they are told.",
    },
];

/// The file of a command.
pub(super) fn file(program: Program, command: &Command) -> String {
    let Command { name, about, takes, does } = command;
    match program {
        Program::ClaudeCode => format!(
            "---\ndescription: {about}\nargument-hint: \"{takes}\"\n---\n\n{does}\n\n\
             The user's words: $ARGUMENTS\n"
        ),
        Program::Opencode => {
            format!("---\ndescription: {about}\n---\n\n{does}\n\nThe user's words: $ARGUMENTS\n")
        }
        Program::Codex => format!(
            "---\nname: {name}\ndescription: {about}. Only if the user writes ${name}.\n---\n\n\
             {does}\n\nThe user's words are those after ${name}: {takes}\n"
        ),
        Program::Gemini => format!(
            "description = \"{about}\"\nprompt = '''\n{does}\n\nThe user's words: {{{{args}}}}\n'''\n"
        ),
    }
}

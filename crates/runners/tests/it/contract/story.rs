//! What an agent does, whoever it is: turn by turn.

/// One turn of an agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    /// What it prints before anything that makes sense.
    pub(super) before: Vec<u8>,
    pub(super) parts: Vec<Part>,
    pub(super) end: End,
    /// Whether nobody says what it used.
    pub(super) is_unused: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Says(String),
    /// A command that it runs.
    Runs(String),
    /// A command that it wants to run, and may not.
    IsDenied(String),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Over,
    /// All streams end, with a good exit code.
    Breaks,
    /// Nothing more comes.
    Hangs,
    /// The provider has no room.
    Limited,
}

/// A turn in which something is said.
pub(super) fn says(text: &str) -> Turn {
    Turn { parts: vec![Part::Says(text.to_owned())], ..Turn::default() }
}

impl Turn {
    /// The commands it runs, one after another.
    pub(super) fn commands(&self) -> Vec<&str> {
        let commands = self.parts.iter().filter_map(|part| match part {
            Part::Runs(command) => Some(command.as_str()),
            Part::Says(_) | Part::IsDenied(_) => None,
        });
        commands.collect()
    }
}

//! Reaching the engine: the one that is there, or one that is started for it.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};

use legation_core::Code;
use legation_core::config::{RESERVED_NAMES, SHORT_NAMES};
use legation_engine::client::{
    Client, Conversation, Lost, Paths, StartError, launch, owner_of_workspace, passed_on,
    reach_from_attempt,
};
use legation_engine::protocol::{Reply, Request, VERSION, Wish};
use legation_engine::read::Reader;
use serde_json::Value;

use crate::error::CommandError;
use crate::project::Project;

/// What the settings of a caller begin with.
const SETTINGS: &str = "LEGATION_";
/// What else of the caller's environment matters to the rules.
const OTHERS: &[&str] = &["DELEGATION_DEPTH", "XDG_CONFIG_HOME"];

/// Where a command is run, and how the engine is reached from there.
#[derive(Clone)]
pub(crate) struct Reach {
    pub(crate) project: Project,
    pub(crate) paths: Paths,
    /// The socket, where a command is run by an attempt: it never starts an engine.
    attempt: Option<PathBuf>,
    token: Option<String>,
    /// What was set for this session, as variables that say the same.
    session: BTreeMap<String, String>,
}

/// Runs what has to wait, on this thread.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| {
        CommandError::failed(Code::UnknownError, format!("cannot wait for anything: {problem}"))
    })?;
    runtime.block_on(work)
}

impl Reach {
    /// From where this process was started.
    pub(crate) fn current() -> Result<Self, CommandError> {
        let project = Project::current()?;
        let paths = Paths::of(&project.dir);
        let told = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let token = told("LEGATION_TOKEN");
        let socket = told("LEGATION_SOCKET").map(PathBuf::from);
        let in_workspace =
            std::env::current_dir().is_ok_and(|folder| owner_of_workspace(&folder).is_some());
        // Who is in an attempt's place without its environment is still no new root.
        let is_attempt = socket.is_some() || token.is_some() || in_workspace;
        let attempt = is_attempt.then(|| socket.unwrap_or_else(|| paths.socket.clone()));
        Ok(Self { project, paths, attempt, token, session: BTreeMap::new() })
    }

    /// The same, for what is the user's alone: an attempt is refused.
    pub(crate) fn from_outside(denied: &str, hint: &str) -> Result<Self, CommandError> {
        let reach = Self::current()?;
        match reach.is_attempt() {
            true => Err(CommandError::refused(Code::PermissionDenied, denied).hint(hint)),
            false => Ok(reach),
        }
    }

    /// The same, with what was set for this session.
    pub(crate) fn with_session(mut self, session: &BTreeMap<String, String>) -> Self {
        self.session.clone_from(session);
        self
    }

    /// Whether the command is run by an attempt.
    pub(crate) fn is_attempt(&self) -> bool {
        self.attempt.is_some()
    }

    /// Whether the engine knows who runs the command, and shows it what is its own.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether the project's folder is not there any more.
    pub(crate) fn is_gone(&self) -> bool {
        !self.project.dir.is_dir()
    }

    /// Connects, and starts an engine where there is none and we may.
    pub(crate) async fn connect(&self) -> Result<Client, CommandError> {
        if let Some(socket) = &self.attempt {
            return reach_from_attempt(socket).await.map_err(|problem| {
                CommandError::failed(Code::UnknownError, problem.to_string())
                    .hint("nothing was started; the engine is started again from outside")
            });
        }
        if let Some(client) = Client::connect(&self.paths).await {
            return Ok(client);
        }
        if self.is_gone() {
            let dir = self.project.dir.display();
            let message = format!("the project's folder {dir} is not there any more");
            return Err(CommandError::failed(Code::FileNotFound, message)
                .hint("nothing was started; move it back to go on with what was begun"));
        }
        let program = std::env::current_exe().map_err(|problem| {
            CommandError::failed(
                Code::UnknownError,
                format!("cannot find my own program: {problem}"),
            )
        })?;
        launch(&self.paths, &program).await.map_err(|problem| self.not_started(problem))
    }

    /// Connects to the engine that is there, if one is, without waiting for it.
    pub(crate) async fn connect_if_there(&self) -> Option<Client> {
        match &self.attempt {
            Some(socket) => Client::connect_to(socket).await.ok(),
            None => Client::connect(&self.paths).await,
        }
    }

    /// Asks for something; the engine is started if need be.
    pub(crate) async fn ask(&self, wish: Wish) -> Result<Conversation, CommandError> {
        self.ask_for(None, wish).await
    }

    /// Asks for something that is answered at once.
    pub(crate) async fn told(&self, wish: Wish) -> Result<Value, CommandError> {
        answered(self.ask(wish).await?).await
    }

    /// Asks for something in the name of a program that speaks through us.
    pub(crate) async fn ask_for(
        &self,
        client: Option<String>,
        wish: Wish,
    ) -> Result<Conversation, CommandError> {
        let request = Request { client, ..self.request(wish) };
        // An engine that is just dying takes a connection and hears nothing any more.
        if let Ok(conversation) = self.connect().await?.request(&request).await {
            return Ok(conversation);
        }
        self.connect().await?.request(&request).await.map_err(|problem| lost(&problem))
    }

    /// Asks in the name of an attempt that speaks through us. Of its environment nothing is
    /// known, and no engine is started for it.
    pub(crate) async fn ask_as(
        &self,
        token: &str,
        client: Option<String>,
        wish: Wish,
    ) -> Result<Conversation, CommandError> {
        let connection = match Client::connect(&self.paths).await {
            Some(connection) => connection,
            None => reach_from_attempt(&self.paths.socket).await.map_err(|problem| {
                CommandError::failed(Code::UnknownError, problem.to_string())
                    .hint("try again when an engine runs")
            })?,
        };
        let (token, env) = (Some(token.to_owned()), BTreeMap::new());
        let passed_on = BTreeMap::new();
        let request = Request { v: VERSION, token, env, passed_on, client, wish };
        connection.request(&request).await.map_err(|problem| lost(&problem))
    }

    /// A request in our name.
    pub(crate) fn request(&self, wish: Wish) -> Request {
        let mut env = environment();
        env.extend(self.session.clone());
        let (token, passed_on) = (self.token.clone(), passed_on());
        Request { v: VERSION, token, env, passed_on, client: None, wish }
    }

    /// The journal, for reading; none if nothing was delegated here yet.
    pub(crate) fn reader(&self) -> Result<Option<Reader>, CommandError> {
        Reader::open(&self.paths.journal).map_err(|error| match self.has_token() {
            true => not_for_attempts(),
            false => unreadable(&error),
        })
    }

    fn not_started(&self, problem: StartError) -> CommandError {
        match problem {
            StartError::Refused(refused) => CommandError::from(*refused),
            StartError::Place(problem) => {
                no_place(&problem.path, &self.paths.state, &problem.to_string())
            }
            StartError::Spawn(_)
            | StartError::Died(_)
            | StartError::Slow(_)
            | StartError::Deaf { .. } => {
                let log = self.shown(&self.paths.engine_log());
                CommandError::failed(Code::UnknownError, problem.to_string())
                    .hint(format!("{log} may say more"))
            }
        }
    }

    fn shown(&self, path: &Path) -> String {
        self.project.shown(path)
    }
}

/// A file or folder that the engine needs cannot be used. Workspaces lie in the state folder.
pub(crate) fn no_place(path: &Path, state: &Path, why: &str) -> CommandError {
    let error = match path.starts_with(state) {
        true => CommandError::no_workspace(why),
        false => CommandError::failed(Code::UnknownError, why),
    };
    error.hint("make room and give this user the right to write there")
}

/// The part of our environment that speaks of delegation.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let ours = |name: &str| {
        let setting = name.starts_with(SETTINGS) && !RESERVED_NAMES.contains(&name);
        let short = SHORT_NAMES.iter().any(|(short, _)| *short == name);
        setting || short || OTHERS.contains(&name)
    };
    let all = std::env::vars_os();
    let text = all.map(|(name, value)| {
        (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
    });
    text.filter(|(name, _)| ours(name)).collect()
}

/// Nothing more is heard of the engine.
pub(crate) fn lost(lost: &Lost) -> CommandError {
    let hint = match lost {
        Lost::Gone | Lost::Failed(_) => "`legation status` shows what is recorded; try again",
        Lost::Garbled(_) => "end the engine of another release, then try again",
    };
    CommandError::failed(Code::UnknownError, lost.to_string()).hint(hint)
}

/// What the engine answers at once.
pub(crate) async fn answered(mut talk: Conversation) -> Result<Value, CommandError> {
    match talk.next().await.map_err(|problem| lost(&problem))? {
        Reply::Done(value) => Ok(value),
        Reply::Refused(refused) => Err(refused.into()),
        Reply::Accepted { .. } | Reply::News(_) | Reply::Note(_) | Reply::Answer { .. } => {
            Err(CommandError::failed(Code::UnknownError, "the engine answered something else"))
        }
    }
}

/// An attempt wants to know more than is shown to it.
fn not_for_attempts() -> CommandError {
    CommandError::refused(
        Code::PermissionDenied,
        "this reads the journal, which an attempt may not",
    )
    .hint("status, tree, trace, cost and history show what the attempt delegated itself")
}

/// The journal cannot be read.
pub(crate) fn unreadable(error: &legation_engine::Error) -> CommandError {
    CommandError::failed(Code::UnknownError, error.to_string())
        .hint("nothing was changed; mend what is named, then try again")
}

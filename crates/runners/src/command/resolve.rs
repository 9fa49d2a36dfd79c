//! Finding the program of an agent.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The attempt's workspace.
    pub workspace: &'a Path,
    /// The folder of the agent's file.
    pub beside: Option<&'a Path>,
    /// The value of `PATH`.
    pub search: Option<&'a str>,
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The agent names none.
    #[error("the agent's `command` is empty; give it a program")]
    Empty,
    /// There is nothing of that name.
    #[error("there is no program `{program}` in {places}")]
    NotFound {
        /// The name.
        program: String,
        /// Where it was looked for.
        places: String,
    },
    /// There is something, but it cannot be executed.
    #[error("{} is not executable; `chmod +x` it", .0.display())]
    NotExecutable(PathBuf),
}

/// The command with the whole path of its program. `./` stands for the workspace, then
/// for the folder of the agent's file; a bare name is looked for in `PATH`.
pub fn resolve(command: &[String], folders: &Folders<'_>) -> Result<Vec<String>, Unresolved> {
    let Some((program, arguments)) = command.split_first() else { return Err(Unresolved::Empty) };
    if program.is_empty() {
        return Err(Unresolved::Empty);
    }
    let candidates = candidates(program, folders);
    let files: Vec<&PathBuf> = candidates.iter().filter(|path| path.is_file()).collect();
    // Among the folders of `PATH` it is usual to pass over what cannot be executed; a file
    // that was asked for by its place is meant, and whatever is wrong with it is told.
    let executable = files.iter().find(|path| is_executable(path));
    let found = if program.contains('/') { files.first() } else { executable.or(files.first()) };
    let found = found.ok_or_else(|| not_found(program, folders))?;
    if !is_executable(found) {
        return Err(Unresolved::NotExecutable((*found).clone()));
    }
    let found = found.to_string_lossy().into_owned();
    Ok(std::iter::once(found).chain(arguments.iter().cloned()).collect())
}

fn candidates(program: &str, folders: &Folders<'_>) -> Vec<PathBuf> {
    if Path::new(program).is_absolute() {
        return vec![PathBuf::from(program)];
    }
    if program.contains('/') {
        let relative = program.strip_prefix("./").unwrap_or(program);
        let both = std::iter::once(folders.workspace).chain(folders.beside);
        return both.map(|folder| folder.join(relative)).collect();
    }
    // An empty entry means the working directory to a shell; to us it means nothing,
    // since whatever lies in a workspace must be asked for by `./`.
    let search = folders.search.unwrap_or_default().split(':');
    search
        .filter(|entry| Path::new(entry).is_absolute())
        .map(|entry| Path::new(entry).join(program))
        .collect()
}

fn not_found(program: &str, folders: &Folders<'_>) -> Unresolved {
    let places = if Path::new(program).is_absolute() {
        "the file system".to_owned()
    } else if program.contains('/') {
        let both = std::iter::once(folders.workspace).chain(folders.beside);
        both.map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ")
    } else {
        "PATH".to_owned()
    };
    Unresolved::NotFound { program: program.to_owned(), places }
}

/// Whether there is a file of that name that can be executed.
pub fn is_executable_file(path: &Path) -> bool {
    path.is_file() && is_executable(path)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

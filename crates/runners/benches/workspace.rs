//! How long workspaces take. Run by `cargo xtask bench workspace`.
//!
//! `workspace FILES [WAY]` makes a repository of that many files where it runs, measures
//! every way of making workspaces that can be had, or only the one that is named, and plain
//! worktrees of git, and prints a list of figures as JSON.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use legation_runners::workspace::{From, New, Note, Options, Place, Spaces, Start, Wanted};
use serde_json::{Map, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Figures = Map<String, Value>;

/// How often each thing is done; the median counts.
const ROUNDS: usize = 5;
/// Workspaces that are made at once, and on how many files.
const CROWD: (usize, usize) = (50, 10_000);
/// How long somebody is away who comes back to workspaces that were made ready meanwhile.
const AWAY: Duration = Duration::from_secs(2);
/// Files in one folder.
const PER_FOLDER: usize = 100;

fn main() -> Result<()> {
    // `cargo bench` adds a word of its own.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let files: usize = words.next().unwrap_or_default().parse()?;
    let only = words.next();
    let scratch = tempfile::tempdir_in(std::env::current_dir()?)?;
    let found = measure(scratch.path(), (files, only.as_deref()))?;
    writeln!(std::io::stdout(), "{}", Value::from_iter(found))?;
    Ok(())
}

fn measure(scratch: &Path, (files, only): (usize, Option<&str>)) -> Result<Vec<Figures>> {
    let project = scratch.join("project");
    fill(&project, files)?;
    let mut found = Vec::new();
    let is_crowded = files == CROWD.1 && only.is_none_or(|only| only == "crowd");
    if is_crowded {
        // First of all: a file system is slow to make files right after many were deleted.
        settle();
        found.push(labelled(("legation", "crowd", files), crowd(scratch, &project)?));
    }
    let ways =
        [("overlay", Wanted::Overlay), ("pool", Wanted::Pool), ("worktree", Wanted::Worktree)];
    for (name, wanted) in ways.into_iter().filter(|way| only.is_none_or(|only| only == way.0)) {
        settle();
        let state = scratch.join(name);
        let options = Options { mechanism: wanted, ..Options::default() };
        let spaces = Spaces::open_with(&project, &state, &options)?;
        if spaces.mechanism().obstacle.is_some() {
            continue;
        }
        let mut bare = Bare::default();
        let ours = one_by_one(&spaces, &project, &mut bare)?;
        found.push(labelled(("legation", name, files), ours));
        found.push(labelled(("git worktree", name, files), bare.remove(&project)?));
        drop(spaces);
        fs::remove_dir_all(&state)?;
    }
    if is_crowded {
        settle();
        found.push(labelled(("git worktree", "crowd", files), bare_crowd(scratch, &project)?));
    }
    Ok(found)
}

/// Has the disk take what was written before: whoever writes next would wait for it.
fn settle() {
    rustix::fs::sync();
}

fn labelled((peer, mode, n): (&str, &str, usize), figures: Figures) -> Figures {
    let mut all = Figures::new();
    all.extend([("peer".into(), peer.into()), ("mode".into(), mode.into())]);
    all.insert("n".into(), n.into());
    all.extend(figures);
    all
}

/// Makes a repository with one commit of many small files.
fn fill(project: &Path, files: usize) -> Result<()> {
    fs::create_dir_all(project)?;
    git(project, &["init", "-q", "-b", "main", "."])?;
    let mut child = Command::new("git")
        .current_dir(project)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut text = String::from("commit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 1\nx\n");
    for number in 0..files {
        let content = format!("file {number}\n{}", "line\n".repeat(number % 50));
        let folder = number / PER_FOLDER;
        text.push_str(&format!("M 644 inline f{folder}/{number}.txt\ndata {}\n", content.len()));
        text.push_str(&content);
    }
    child.stdin.take().ok_or("no input")?.write_all(text.as_bytes())?;
    if !child.wait()?.success() {
        return Err("git fast-import failed".into());
    }
    git(project, &["reset", "-q", "--hard"])
}

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(args);
    let done = command.stdout(Stdio::null()).status()?;
    if done.success() { Ok(()) } else { Err(format!("git {args:?} failed").into()) }
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Worktrees of git alone, each looked at once: how much of one git reads again at its first
/// look depends on when in a second its checkout ended.
#[derive(Default)]
struct Bare {
    trees: Vec<String>,
    creates: Vec<f64>,
    statuses: Vec<f64>,
}

impl Bare {
    /// Makes one more, and has git look at it for the first time.
    fn add(&mut self, project: &Path) -> Result<()> {
        let tree = format!("{}-tree-{}", project.display(), self.trees.len());
        let start = Instant::now();
        git(project, &["worktree", "add", "-q", "--detach", &tree])?;
        self.creates.push(ms(start));
        let start = Instant::now();
        git(Path::new(&tree), &["status", "--porcelain"])?;
        self.statuses.push(ms(start));
        self.trees.push(tree);
        Ok(())
    }

    fn remove(self, project: &Path) -> Result<Figures> {
        let mut removes = Vec::new();
        for tree in &self.trees {
            let start = Instant::now();
            git(project, &["worktree", "remove", "--force", tree])?;
            removes.push(ms(start));
        }
        let mut figures = Figures::new();
        figures.insert("create_ms".into(), median(self.creates).into());
        figures.insert("status_ms".into(), median(self.statuses).into());
        figures.insert("remove_ms".into(), median(removes).into());
        Ok(figures)
    }
}

fn begin(spaces: &Spaces, delegation: &str) -> Result<String> {
    let (tree, delegation) = ("del-1".to_owned(), delegation.to_owned());
    Ok(spaces.begin(&Start { tree, delegation, from: From::User, include_dirty: false })?)
}

fn create(spaces: &Spaces, delegation: &str, attempt: &str) -> Result<(Place, f64)> {
    let (tree, delegation) = ("del-1".to_owned(), delegation.to_owned());
    let (subtask, attempt) = ("one".to_owned(), attempt.to_owned());
    let new = New { tree, delegation, subtask, attempt, with: Vec::new() };
    let start = Instant::now();
    let place = spaces.create(&new)?;
    Ok((place, ms(start)))
}

/// Works a little, looks, keeps and removes; how long looking and removing took.
fn end(spaces: &Spaces, place: &Place) -> Result<(f64, f64)> {
    fs::write(place.root.join("f0/0.txt"), "changed\n")?;
    fs::write(place.root.join("new.txt"), "new\n")?;
    let start = Instant::now();
    spaces.look(place)?;
    let look = ms(start);
    spaces.keep(place, &Note::default())?;
    let start = Instant::now();
    spaces.remove(place)?;
    Ok((look, ms(start)))
}

fn one_by_one(spaces: &Spaces, project: &Path, bare: &mut Bare) -> Result<Figures> {
    let start = Instant::now();
    begin(spaces, "del-1")?;
    let begun = ms(start);
    let (place, first) = create(spaces, "del-1", "exec-first")?;
    let (_, mut removes) = (end(spaces, &place)?, Vec::new());
    let (mut creates, mut looks, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (place, took) = create(spaces, "del-1", &format!("exec-{round}"))?;
        creates.push(took);
        let start = Instant::now();
        git(&place.root, &["status", "--porcelain"])?;
        statuses.push(ms(start));
        // Right beside it, since times on the clock are worth something only then.
        bare.add(project)?;
        let (look, remove) = end(spaces, &place)?;
        looks.push(look);
        removes.push(remove);
    }
    std::thread::sleep(AWAY);
    let (place, idle) = create(spaces, "del-1", "exec-idle")?;
    end(spaces, &place)?;
    fs::write(project.join("moved.txt"), "x\n")?;
    git(project, &["add", "-A"])?;
    git(project, &["commit", "-q", "-m", "moved"])?;
    begin(spaces, "del-2")?;
    let (place, moved) = create(spaces, "del-2", "exec-moved")?;
    end(spaces, &place)?;
    git(project, &["reset", "-q", "--hard", "HEAD~1"])?;
    let status = median(statuses);
    let mut figures = Figures::new();
    figures.extend([("first_create_ms".into(), first.into()), ("status_ms".into(), status.into())]);
    figures.insert("begin_ms".into(), begun.into());
    figures.insert("create_ms".into(), median(creates).into());
    figures.insert("idle_create_ms".into(), idle.into());
    figures.insert("moved_create_ms".into(), moved.into());
    let plain = median(bare.statuses.clone());
    figures.insert("status_ratio".into(), (status / plain).into());
    figures.insert("look_ms".into(), median(looks).into());
    figures.insert("remove_ms".into(), median(removes).into());
    Ok(figures)
}

/// Many at once, the first checkout included; and many more when it is there.
fn crowd(scratch: &Path, project: &Path) -> Result<Figures> {
    let state = scratch.join("crowd");
    let options = Options { mechanism: Wanted::Overlay, ..Options::default() };
    let spaces = Spaces::open_with(project, &state, &options)?;
    begin(&spaces, "del-1")?;
    let base = head(project)?;
    let mut figures = Figures::new();
    let (mut failed, mut wrong) = (0_u32, 0_u32);
    for key in ["wall_s", "warm_wall_s"] {
        let start = Instant::now();
        let made = at_once(&spaces, key);
        figures.insert(key.into(), (ms(start) / 1000.0).into());
        for place in made {
            let Some(place) = place else {
                failed = failed.saturating_add(1);
                continue;
            };
            wrong = wrong.saturating_add(u32::from(head(&place.root)? != base));
            spaces.keep(&place, &Note::default())?;
            spaces.remove(&place)?;
        }
    }
    figures.insert("failed".into(), f64::from(failed).into());
    figures.insert("wrong_base".into(), f64::from(wrong).into());
    Ok(figures)
}

/// The commit that git has checked out.
fn head(folder: &Path) -> Result<String> {
    let said = Command::new("git").current_dir(folder).args(["rev-parse", "HEAD"]).output()?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// The same with worktrees of git alone.
fn bare_crowd(scratch: &Path, project: &Path) -> Result<Figures> {
    let base = head(project)?;
    let trees: Vec<_> = (0..CROWD.0).map(|number| scratch.join(format!("bare-{number}"))).collect();
    let add = |tree: &Path| {
        let words = ["worktree", "add", "-q", "--detach", tree.to_str().unwrap_or_default()];
        git(project, &words).is_ok()
    };
    let start = Instant::now();
    let made: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = trees.iter().map(|tree| scope.spawn(move || add(tree))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let mut figures = Figures::new();
    figures.insert("wall_s".into(), (ms(start) / 1000.0).into());
    let failed: u32 = made.iter().map(|made| u32::from(!made)).sum();
    figures.insert("failed".into(), f64::from(failed).into());
    let mut wrong = 0_u32;
    for tree in trees.iter().zip(made).filter_map(|(tree, made)| made.then_some(tree)) {
        wrong = wrong.saturating_add(u32::from(head(tree)? != base));
    }
    figures.insert("wrong_base".into(), f64::from(wrong).into());
    for tree in trees {
        // One that was not made need not go.
        drop(fs::remove_dir_all(&tree));
    }
    git(project, &["worktree", "prune"])?;
    Ok(figures)
}

fn at_once(spaces: &Spaces, name: &str) -> Vec<Option<Place>> {
    let one = |number| create(spaces, "del-1", &format!("exec-{name}-{number}"));
    std::thread::scope(|scope| {
        let start = |number| scope.spawn(move || one(number).ok().map(|(place, _)| place));
        let threads: Vec<_> = (0..CROWD.0).map(start).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    })
}

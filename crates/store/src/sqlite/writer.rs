//! The one thread that writes, and group commit.
//!
//! Waiting for the disk is what an append costs. Whatever was asked for during that
//! wait is taken together next time, in one transaction with one wait. A job that is
//! refused has written nothing, so the others in its group do not mind.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::log::Log;
use super::{Stopped, fault, file, purge, write};
use crate::append::{Append, Appended};
use crate::error::Error;

/// How many jobs may wait for the writer; whoever comes after waits for a place.
const QUEUE: usize = 1024;
/// How many jobs are committed together.
const GROUP: usize = 256;
/// After how many bytes of events no further job is taken into a group.
const GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Where the answer to a job goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// Something to be written.
pub(super) enum Job {
    Append(Append, Reply<Appended>),
    /// Hides a tree, with what is known of it, and says whether there was one.
    Forget(String, Reply<bool>),
    /// Hides some trees that ended before a time, and says how many.
    ForgetBefore(i64, Reply<u64>),
    /// Removes some of what is hidden, and says whether there is more.
    Sweep(Reply<bool>),
}

/// Why a job was not done.
pub(super) enum Failure {
    /// The answer is no, and the others in the group do not mind.
    Refused(Error),
    /// The transaction cannot go on.
    Broken(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(error)
    }
}

/// Tells the caller, once it is known whether the transaction was committed.
type Answer = Box<dyn FnOnce(Result<(), &Error>)>;

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        mut connection: Connection,
        path: &Arc<Path>,
        stopped: Stopped,
    ) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let fault = |error: rusqlite::Error| fault::of(path, &error);
        let log = Log::of(&mut connection, path).map_err(fault)?;
        // A file that is damaged there is found out by whoever looks through it.
        let unfiled = Cell::new(file::unfiled(&connection).unwrap_or(0));
        let service = Service { connection, path: Arc::clone(path), stopped, unfiled };
        let thread = std::thread::Builder::new().name("journal-writer".into());
        let thread = thread.spawn(move || service.run(queue, log));
        let thread = thread.map_err(|error| fault::of_system(path, &error))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a job over and waits until it is committed.
    pub(super) async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(Error::Closed)?;
        jobs.send(job(reply)).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has nothing left to say.
            drop(thread.join());
        }
    }
}

/// What the thread owns.
struct Service {
    connection: Connection,
    path: Arc<Path>,
    stopped: Stopped,
    /// Rows that have ended and are not filed.
    unfiled: Cell<usize>,
}

impl Service {
    fn run(self, mut queue: mpsc::Receiver<Job>, mut log: Log) {
        while let Some(first) = queue.blocking_recv() {
            let mut bytes = first.bytes();
            let mut group = vec![first];
            while group.len() < GROUP && bytes < GROUP_BYTES {
                let Ok(job) = queue.try_recv() else { break };
                bytes += job.bytes();
                group.push(job);
            }
            self.commit(group);
            log.tend(&self.connection, !queue.is_empty());
        }
    }

    /// Does the jobs of a group in one transaction and tells everybody.
    fn commit(&self, group: Vec<Job>) {
        if let Some(reason) = self.stopped.get() {
            let error = Error::Stopped { reason: Box::new(reason.clone()) };
            group.into_iter().for_each(|job| job.refuse(&error));
            return;
        }
        let mut jobs = group.into_iter();
        let mut answers = Vec::with_capacity(jobs.len());
        let outcome = self.transact(&mut jobs, &mut answers);
        let outcome = outcome.map_err(|error| self.give_up(&error));
        for answer in answers {
            answer(outcome.as_ref().copied());
        }
        if let Err(error) = &outcome {
            jobs.for_each(|job| job.refuse(error));
        }
    }

    fn transact(
        &self,
        jobs: &mut impl Iterator<Item = Job>,
        answers: &mut Vec<Answer>,
    ) -> rusqlite::Result<()> {
        self.execute("BEGIN IMMEDIATE")?;
        let last = "SELECT max(position, (SELECT coalesce(max(position), 0) FROM events)) \
            FROM last_place";
        let mut last = self.connection.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        for job in jobs {
            let (answer, outcome) = job.run(self, &mut last);
            answers.push(answer);
            outcome?;
        }
        if self.unfiled.get() >= file::FILED_AT_ONCE {
            file::all(&self.connection)?;
            self.unfiled.set(0);
        }
        self.execute("COMMIT")
    }

    /// Takes a failed transaction back. A file that another program holds will be
    /// free again; after anything else no further write is tried, since nobody
    /// knows what the disk still does.
    fn give_up(&self, error: &rusqlite::Error) -> Error {
        let error = fault::of(&self.path, error);
        let is_open = !self.connection.is_autocommit();
        let is_clean = !is_open || self.execute("ROLLBACK").is_ok();
        let is_passing = matches!(error, Error::Locked { .. });
        if !(is_passing && is_clean) {
            // Only the first reason is of interest.
            drop(self.stopped.set(error.clone()));
        }
        error
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(|_| ())
    }

    /// Does one job. One that is refused has changed nothing.
    fn step<T: 'static>(
        &self,
        reply: Reply<T>,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> (Answer, rusqlite::Result<()>) {
        let (result, outcome) = match work(&self.connection) {
            Ok(value) => (Ok(value), Ok(())),
            Err(Failure::Refused(error)) => (Err(error), Ok(())),
            Err(Failure::Broken(error)) => (Err(Error::Closed), Err(error)),
        };
        let answer = move |committed: Result<(), &Error>| {
            let result = match committed {
                Ok(()) => result,
                // What was refused stays refused, whatever became of the others.
                Err(error) => match result {
                    Err(refusal) if refusal.is_answer() => Err(refusal),
                    Ok(_) | Err(_) => Err(error.clone()),
                },
            };
            // Whoever asked may have gone.
            drop(reply.send(result));
        };
        (Box::new(answer), outcome)
    }

    fn append(&self, append: &Append, last: &mut i64) -> Result<Appended, Failure> {
        let done = write::append(&self.connection, append, *last)?;
        *last = i64::try_from(done.position).unwrap_or(i64::MAX);
        let ended = append.rows.iter().filter(|row| row.has_ended()).count();
        self.unfiled.set(self.unfiled.get() + ended);
        Ok(done)
    }
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Self::Append(append, _) => append.bytes(),
            Self::Forget(..) | Self::ForgetBefore(..) | Self::Sweep(_) => 0,
        }
    }

    fn run(self, service: &Service, last: &mut i64) -> (Answer, rusqlite::Result<()>) {
        match self {
            Self::Append(append, reply) => service.step(reply, |_| service.append(&append, last)),
            Self::Forget(tree, reply) => service.step(reply, |c| purge::forget(c, &tree)),
            Self::ForgetBefore(time, reply) => {
                service.step(reply, |c| purge::forget_before(c, time))
            }
            Self::Sweep(reply) => service.step(reply, purge::sweep),
        }
    }

    fn refuse(self, error: &Error) {
        // Whoever asked may have gone.
        match self {
            Self::Append(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::Forget(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::ForgetBefore(_, reply) => drop(reply.send(Err(error.clone()))),
            Self::Sweep(reply) => drop(reply.send(Err(error.clone()))),
        }
    }
}

//! The one connection that writes, who holds it, and group commit.
//!
//! Waiting for the disk is what an append costs. Whatever was asked for during that
//! wait is taken together next time, in one transaction with one wait. A job that is
//! refused has written nothing, so the others in its group do not mind.
//!
//! A thread does this for everybody. But handing a job over and getting its answer back
//! takes about as long as the work itself; so who is alone, with a disk that is quick,
//! writes by itself, and nobody else is kept waiting for it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::file::Due;
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

/// Up to which time a commit is quick enough to be waited for on any thread.
const QUICK: Duration = Duration::from_millis(20);

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

/// The handle of whoever writes.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    pen: Arc<Pen>,
    thread: Option<JoinHandle<()>>,
}

/// What only one can hold at a time.
struct Pen {
    service: Mutex<Service>,
    /// Whether the last commit took so long that nobody should wait for one on a thread
    /// that has other things to do.
    is_slow: AtomicBool,
    is_closing: AtomicBool,
}

impl Writer {
    pub(super) fn start(
        mut connection: Connection,
        path: &Arc<Path>,
        (stopped, patience): (Stopped, Duration),
    ) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let fault = |error: rusqlite::Error| fault::of(path, &error);
        let log = Log::of(&mut connection, path).map_err(fault)?;
        // A file that is damaged there is found out by whoever looks through it.
        let due = Due::of(&connection).unwrap_or_default();
        let service = Service {
            connection,
            path: Arc::clone(path),
            queue,
            log,
            stopped,
            due,
            patience,
            is_patient: true,
            put_back: Vec::new(),
        };
        let pen = Arc::new(Pen {
            service: Mutex::new(service),
            is_slow: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
        });
        let thread = std::thread::Builder::new().name("journal-writer".into());
        let held = Arc::clone(&pen);
        let thread = thread.spawn(move || held.run());
        let thread = thread.map_err(|error| fault::of_system(path, &error))?;
        Ok(Self { jobs, pen, thread: Some(thread) })
    }

    /// Hands a job over and waits until it is committed.
    pub(super) async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| Error::Closed)?;
        let mut call = Call(Some(self));
        // Others on this thread who are about to ask for something may do so first.
        step_aside().await;
        if self.is_alone() && self.pen.write_at_once() {
            call.0 = None;
        }
        drop(call);
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Whether one job is waiting, which is the caller's own, and the disk is quick.
    fn is_alone(&self) -> bool {
        let waiting = self.jobs.max_capacity() - self.jobs.capacity();
        waiting == 1 && !self.pen.is_slow.load(Ordering::Relaxed)
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

/// Calls the thread when it is dropped, even if whoever asked goes away before.
struct Call<'a>(Option<&'a Writer>);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(Writer::wake);
    }
}

/// Lets everybody else on this thread who can go on do so, once.
async fn step_aside() {
    let mut has_waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pen.is_closing.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has nothing left to say.
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for Pen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pen").field("is_slow", &self.is_slow).finish_non_exhaustive()
    }
}

impl Pen {
    /// Writes what is asked for, whenever somebody calls.
    fn run(&self) {
        loop {
            // Asked before the work, so that whatever came before the end is done.
            let is_closing = self.is_closing.load(Ordering::SeqCst);
            self.hold().work(&self.is_slow);
            if is_closing {
                return;
            }
            std::thread::park();
        }
    }

    fn hold(&self) -> MutexGuard<'_, Service> {
        // Whoever broke off left a transaction open: the next one fails, and all writing
        // ends.
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, if nobody else is about to. False if the thread is to be called,
    /// because it is not done or because there is something else to do.
    fn write_at_once(&self) -> bool {
        let Ok(mut service) = self.service.try_lock() else { return false };
        let group = service.next_group();
        service.commit(group, Waiting::No, &self.is_slow) && !service.log.is_due()
    }
}

/// Whether to wait for another program that holds the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Yes,
    No,
}

/// What whoever writes has in hand.
struct Service {
    connection: Connection,
    path: Arc<Path>,
    queue: mpsc::Receiver<Job>,
    log: Log,
    stopped: Stopped,
    due: Due,
    /// How long another program that holds the file is waited for.
    patience: Duration,
    is_patient: bool,
    /// Jobs that were taken from the queue and not begun.
    put_back: Vec<Job>,
}

impl Service {
    /// Does everything there is to do.
    fn work(&mut self, is_slow: &AtomicBool) {
        loop {
            let group = self.next_group();
            if group.is_empty() {
                self.log.tend(&self.connection, false);
                return;
            }
            self.commit(group, Waiting::Yes, is_slow);
            self.log.tend(&self.connection, !self.queue.is_empty());
        }
    }

    /// The jobs that are committed together next.
    fn next_group(&mut self) -> Vec<Job> {
        let mut group = std::mem::take(&mut self.put_back);
        let mut bytes: usize = group.iter().map(Job::bytes).sum();
        while group.len() < GROUP && bytes < GROUP_BYTES {
            let Ok(job) = self.queue.try_recv() else { break };
            bytes += job.bytes();
            group.push(job);
        }
        group
    }

    /// Does the jobs of a group in one transaction and tells everybody. False if they had
    /// to be put back.
    fn commit(&mut self, group: Vec<Job>, waiting: Waiting, is_slow: &AtomicBool) -> bool {
        if group.is_empty() {
            return true;
        }
        if let Some(reason) = self.stopped.get() {
            let error = Error::Stopped { reason: Box::new(reason.clone()) };
            group.into_iter().for_each(|job| job.refuse(&error));
            return true;
        }
        let began = Instant::now();
        if let Err(error) = self.begin(waiting) {
            if waiting == Waiting::No
                && matches!(fault::of(&self.path, &error), Error::Locked { .. })
            {
                self.put_back = group;
                return false;
            }
            let error = self.give_up(&error);
            group.into_iter().for_each(|job| job.refuse(&error));
            return true;
        }
        let mut jobs = group.into_iter();
        let mut answers = Vec::with_capacity(jobs.len());
        let outcome = self.transact(&mut jobs, &mut answers);
        let outcome = outcome.map_err(|error| self.give_up(&error));
        is_slow.store(began.elapsed() > QUICK, Ordering::Relaxed);
        for answer in answers {
            answer(outcome.as_ref().copied());
        }
        if let Err(error) = &outcome {
            jobs.for_each(|job| job.refuse(error));
        }
        true
    }

    fn begin(&mut self, waiting: Waiting) -> rusqlite::Result<()> {
        let is_patient = waiting == Waiting::Yes;
        if is_patient != self.is_patient {
            let patience = if is_patient { self.patience } else { Duration::ZERO };
            self.connection.busy_timeout(patience)?;
            self.is_patient = is_patient;
        }
        self.execute("BEGIN IMMEDIATE")
    }

    fn transact(
        &mut self,
        jobs: &mut impl Iterator<Item = Job>,
        answers: &mut Vec<Answer>,
    ) -> rusqlite::Result<()> {
        let last = "SELECT max(position, (SELECT coalesce(max(position), 0) FROM events)) \
            FROM last_place";
        let last = self.connection.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        let statements = write::Statements::of(&self.connection)?;
        let mut turn = Turn { connection: &self.connection, statements, last, due: self.due };
        for job in jobs {
            let (answer, outcome) = job.run(&mut turn);
            answers.push(answer);
            outcome?;
        }
        self.due = turn.due;
        drop(turn);
        if self.due.is_enough() {
            file::all(&self.connection)?;
            self.due = Due::default();
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
}

/// One transaction.
struct Turn<'c> {
    connection: &'c Connection,
    statements: write::Statements<'c>,
    /// The last position that was given.
    last: i64,
    due: Due,
}

impl Turn<'_> {
    /// Does one job. One that is refused has changed nothing.
    fn step<T: 'static>(
        &mut self,
        reply: Reply<T>,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> (Answer, rusqlite::Result<()>) {
        let (result, outcome) = match work(self) {
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

    fn append(&mut self, append: &Append) -> Result<Appended, Failure> {
        let done = write::append(&mut self.statements, append, self.last)?;
        self.last = i64::try_from(done.position).unwrap_or(i64::MAX);
        let ended = append.rows.iter().filter(|row| row.has_ended()).count();
        self.due.ended += ended;
        self.due.events += 1;
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

    fn run(self, turn: &mut Turn<'_>) -> (Answer, rusqlite::Result<()>) {
        match self {
            Self::Append(append, reply) => turn.step(reply, |turn| turn.append(&append)),
            Self::Forget(tree, reply) => {
                turn.step(reply, |turn| purge::forget(turn.connection, &tree))
            }
            Self::ForgetBefore(time, reply) => {
                turn.step(reply, |turn| purge::forget_before(turn.connection, time))
            }
            Self::Sweep(reply) => turn.step(reply, |turn| purge::sweep(turn.connection)),
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

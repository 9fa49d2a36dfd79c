//! The threads that read. Each has a connection of its own, opened when the first
//! question comes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use super::{Options, Stopped, connect, fault};
use crate::error::Error;

/// How many questions are answered at once.
const THREADS: usize = 2;
/// How many questions may wait; whoever comes after waits for a place.
const QUEUE: usize = 256;

/// A question, which tells its caller the answer itself.
type Question = Box<dyn FnOnce(Result<&Connection, Error>) + Send>;

/// The handle of the threads.
#[derive(Debug)]
pub(super) struct Readers {
    path: Arc<Path>,
    questions: Option<mpsc::Sender<Question>>,
    threads: Vec<JoinHandle<()>>,
    closing: Arc<Closing>,
}

/// How the threads learn that nobody waits for their answers any more.
#[derive(Default)]
struct Closing {
    is_closing: AtomicBool,
    running: Mutex<Vec<InterruptHandle>>,
}

impl std::fmt::Debug for Closing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Closing({:?})", self.is_closing)
    }
}

impl Readers {
    pub(super) fn start(path: Arc<Path>, options: &Options) -> Result<Self, Error> {
        let (questions, queue) = mpsc::channel::<Question>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let closing = Arc::new(Closing::default());
        let mut threads = Vec::with_capacity(THREADS);
        for _ in 0..THREADS {
            let service = Service {
                path: Arc::clone(&path),
                options: options.clone(),
                queue: Arc::clone(&queue),
                closing: Arc::clone(&closing),
            };
            let thread = std::thread::Builder::new().name("journal-reader".into());
            let thread = thread.spawn(move || service.run());
            threads.push(thread.map_err(|error| fault::of_system(&path, &error))?);
        }
        Ok(Self { path, questions: Some(questions), threads, closing })
    }

    /// Asks one of the threads.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let path = Arc::clone(&self.path);
        let question = move |connection: Result<&Connection, Error>| {
            let answer = connection.and_then(|connection| {
                question(connection).map_err(|error| fault::of(&path, &error))
            });
            // Whoever asked may have gone.
            drop(reply.send(answer));
        };
        let questions = self.questions.as_ref().ok_or(Error::Closed)?;
        questions.send(Box::new(question)).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Looks for damage while work goes on, and ends all writing if there is any.
    pub(super) fn check_in_background(&self, stopped: Stopped) {
        let path = Arc::clone(&self.path);
        let question = move |connection: Result<&Connection, Error>| {
            let found = connection.and_then(|connection| connect::check(connection, &path));
            if let Err(error @ Error::Corrupt { .. }) = found {
                // Only the first reason is of interest.
                drop(stopped.set(error));
            }
        };
        if let Some(questions) = &self.questions {
            // Nothing was asked before, so there is room.
            drop(questions.try_send(Box::new(question)));
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.questions = None;
        self.closing.is_closing.store(true, Ordering::SeqCst);
        let running = self.closing.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().for_each(InterruptHandle::interrupt);
        drop(running);
        for thread in self.threads.drain(..) {
            // A reader that panicked has nothing left to say.
            drop(thread.join());
        }
    }
}

/// What a thread owns.
struct Service {
    path: Arc<Path>,
    options: Options,
    queue: Arc<Mutex<mpsc::Receiver<Question>>>,
    closing: Arc<Closing>,
}

impl Service {
    fn run(self) {
        let mut connection = None;
        while let Some(question) = self.next() {
            if self.closing.is_closing.load(Ordering::SeqCst) {
                return;
            }
            match self.open(&mut connection) {
                Ok(connection) => question(Ok(connection)),
                Err(error) => question(Err(error)),
            }
        }
    }

    /// One thread waits for a question, and the others wait for their turn to wait.
    fn next(&self) -> Option<Question> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
    }

    fn open<'a>(&self, connection: &'a mut Option<Connection>) -> Result<&'a Connection, Error> {
        match connection {
            Some(connection) => Ok(connection),
            None => {
                let new = connect::reader(&self.path, &self.options)?;
                let running = self.closing.running.lock();
                running.unwrap_or_else(PoisonError::into_inner).push(new.get_interrupt_handle());
                Ok(connection.insert(new))
            }
        }
    }
}

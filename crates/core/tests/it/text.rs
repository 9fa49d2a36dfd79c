//! Small languages: text in, values or complaints out.

mod delegate;
mod delegate_hostile;
mod nearest;
mod shown;
mod span;
mod story;
mod words;

//! Small languages: text in, values or complaints out.

mod nearest;
mod shown;
mod span;
mod story;
mod words;

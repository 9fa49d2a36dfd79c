//! Small languages: text in, values or complaints out.

mod delegate;
mod delegate_hostile;
mod nearest;
mod shown;
mod slash;
mod slash_control;
mod slash_render;
mod span;
mod story;
mod words;

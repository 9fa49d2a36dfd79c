//! What is asked of every vendor's program alike. A vendor is a column: what stands in
//! `columns.rs` about it, and recorded output in a folder of its own.

mod columns;
mod heard;
mod hostile;
mod pieces;
pub(crate) mod stage;
mod talk;

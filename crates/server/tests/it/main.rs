//! What the server offers, without an engine behind it.

mod tools;

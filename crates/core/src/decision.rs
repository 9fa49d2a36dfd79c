//! Whether a task should be delegated, how, and why.

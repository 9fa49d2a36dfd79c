//! How large a return and its parts may be. Every limit has an error of its own.

/// Bytes of the JSON text of one return.
pub const MAX_RETURN_BYTES: usize = 1 << 20;
/// Characters of a summary; shorter than one is not a summary either.
pub const MAX_SUMMARY_CHARS: usize = 500;
/// Artifacts in one return.
pub const MAX_ARTIFACTS: usize = 1_000;
/// Errors in one return.
pub const MAX_ERRORS: usize = 100;
/// Characters of a free text: a message, a recommendation, next steps, an artifact's summary.
pub const MAX_TEXT_CHARS: usize = 10_000;
/// Characters of a name: a type, a code, an agent.
pub const MAX_NAME_CHARS: usize = 200;
/// Steps of a claimed path of agents.
pub const MAX_PATH_STEPS: usize = 100;
/// Bytes of an artifact's path.
pub const MAX_PATH_BYTES: usize = 4_096;
/// Bytes of an agent's schema.
pub const MAX_SCHEMA_BYTES: usize = 256 << 10;
/// Levels of an agent's schema, references followed.
pub const MAX_SCHEMA_DEPTH: usize = 128;
/// Parts of an agent's schema, references followed.
pub const MAX_SCHEMA_PARTS: usize = 20_000;

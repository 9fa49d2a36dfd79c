//! How SQLite goes about each question, so that a test can see that none of them
//! looks at everything there is.

use rusqlite::{Connection, params_from_iter};

use super::queries::QUESTIONS;

/// The name of each question, with the steps that answer it.
pub(super) fn of_all(connection: &Connection) -> rusqlite::Result<String> {
    let mut text = String::new();
    for (name, question) in QUESTIONS {
        text.push_str(name);
        text.push('\n');
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {question}"))?;
        let nothing = std::iter::repeat_n(0, statement.parameter_count());
        let steps =
            statement.query_map(params_from_iter(nothing), |row| row.get::<_, String>(3))?;
        for step in steps {
            text.push_str("  ");
            text.push_str(&step?);
            text.push('\n');
        }
    }
    Ok(text)
}

//! A tree that is drawn again and again in the same place of a terminal.
//!
//! Everything is written at once, so that nothing flickers, and never more than the
//! screen holds, so that the place can be found again.

use std::io::{self, Write as _};

use super::model::Line;

/// Columns and rows of a terminal that does not tell.
const USUAL: (usize, usize) = (80, 24);

/// A part of the screen.
pub(crate) struct Live {
    colour: bool,
    drawn: usize,
}

impl Live {
    /// The screen, if stdout is one on which something can be drawn again.
    pub(crate) fn screen() -> Option<Self> {
        let told = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_dumb = told("TERM").is_none_or(|term| term == "dumb");
        let is_screen = io::IsTerminal::is_terminal(&io::stdout()) && !is_dumb;
        is_screen.then(|| Self { colour: told("NO_COLOR").is_none(), drawn: 0 })
    }

    /// Columns and rows.
    pub(crate) fn size() -> (usize, usize) {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 1 => {
                (usize::from(size.ws_col), usize::from(size.ws_row) - 1)
            }
            Ok(_) | Err(_) => USUAL,
        }
    }

    /// Draws over what was drawn before.
    pub(crate) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() && self.drawn == 0 {
            return Ok(());
        }
        let mut text = self.back();
        // A line that is too long after all is cut by the terminal and does not wrap.
        text.push_str("\x1b[?7l");
        for line in lines {
            text.push_str(&format!("\x1b[2K{}\n", self.row(line)));
        }
        text.push_str("\x1b[J\x1b[?7h");
        self.drawn = lines.len();
        write(&text)
    }

    /// Takes away what was drawn.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.drawn == 0 {
            return Ok(());
        }
        let text = self.back() + "\x1b[J";
        self.drawn = 0;
        write(&text)
    }

    fn back(&self) -> String {
        match self.drawn {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\r"),
        }
    }

    fn row(&self, line: &Line) -> String {
        let status = format!("{:<10}", line.status);
        match colour(&line.status).filter(|_| self.colour) {
            Some(colour) => format!("\x1b[{colour}m{status}\x1b[0m {}", line.text),
            None => format!("{status} {}", line.text),
        }
    }
}

/// A colour for a status, beside the word that says it.
fn colour(status: &str) -> Option<u8> {
    match status {
        "completed" => Some(32),
        "running" | "merging" => Some(36),
        "partial" | "blocked" | "paused" | "asks" | "cancelling" => Some(33),
        "failed" | "cancelled" => Some(31),
        _ => None,
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

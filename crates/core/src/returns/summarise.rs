//! Putting results into few enough tokens to enter a parent's context.
//!
//! What matters most goes in first: how each child ended, then what it says,
//! what it made, what went wrong, what comes next, and its data. What does not
//! fit is cut at a line or a word, and the text says how much is missing and
//! under which handle all of it is kept. The child's words are neutralised and
//! indented, so that none of them can pass for a line of ours.

use serde_json::Value;

use super::model::{Artifact, Return, ReturnError, ReturnStatus};
use super::neutralise::neutralise;

/// Tokens that results may take in a parent's context.
pub const SUMMARY_TOKENS: usize = 2_000;

/// Characters in a token, generously: more than that many can hardly fit.
const CHARS_PER_TOKEN: usize = 16;
/// Blanks in what [`entry`] puts before the first word.
const BLANKS_BEFORE_WORDS: usize = 3;

/// Bytes of JSON beyond which data is mentioned instead of told.
const MAX_DATA_BYTES: usize = 8_000;

/// A result to be told.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What the parent knows it by.
    pub label: &'a str,
    /// What came back.
    pub returned: &'a Return,
    /// Under which name the full text is kept.
    pub handle: &'a str,
}

/// Tells results in at most `limit` tokens, as `count` counts them.
///
/// `count` is called a number of times that grows with the logarithm of the
/// text, and only on texts about as long as the answer. The answer has always
/// been counted itself, so it fits even if `count` is not monotone.
pub fn summarise(results: &[Told<'_>], limit: usize, count: &dyn Fn(&str) -> usize) -> String {
    let draft = Draft::new(results);
    let mut best = String::new();
    if limit == 0 {
        return best;
    }
    let mut fits = |text: String| {
        let fits = count(&text) <= limit;
        if fits {
            best = text;
        }
        fits
    };
    fits(draft.render(0, None));
    // The last line about what is missing goes when nothing is, so all of it may
    // fit where almost all of it does not.
    let may_fit = draft.chars.iter().sum::<usize>() / CHARS_PER_TOKEN <= limit;
    if may_fit && fits(draft.render(draft.pieces.len(), None)) {
        return best;
    }
    let whole = largest(draft.pieces.len(), |pieces| fits(draft.render(pieces, None)));
    let next = draft.pieces.get(whole).map(|piece| &piece.line);
    if let Some(next) = next.filter(|line| line.may_be_cut) {
        let blanks = next.text.match_indices([' ', '\n']).skip(BLANKS_BEFORE_WORDS);
        let cuts: Vec<_> = blanks.filter_map(|(at, _)| next.text.get(..at)).collect();
        largest(cuts.len(), |words| {
            let start = words.checked_sub(1).and_then(|last| cuts.get(last));
            start.is_some_and(|start| fits(draft.render(whole, Some(start))))
        });
    }
    best
}

/// The largest number up to `max` for which `fits` holds, if it holds up to some
/// number and not beyond; 0 is not asked. Starts small, so that little is tried
/// that is much too large.
fn largest(max: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let (mut good, mut bad) = (0, max + 1);
    let mut step = 1;
    while good < max {
        let next = max.min(good + step);
        if !fits(next) {
            bad = next;
            break;
        }
        good = next;
        step *= 2;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// One thing to tell about a result.
struct Line {
    text: String,
    may_be_cut: bool,
}

impl Line {
    /// It may be told in part.
    fn words(text: String) -> Self {
        Self { text, may_be_cut: true }
    }

    /// It is told whole or not at all.
    fn block(text: String) -> Self {
        Self { text, may_be_cut: false }
    }
}

/// A line and whose it is.
struct Piece {
    result: usize,
    line: Line,
}

/// Everything of one kind that there is to tell about a result.
type Level = fn(&Told<'_>) -> Vec<Line>;

/// Everything there is to tell, the most important first.
struct Draft<'a> {
    results: &'a [Told<'a>],
    pieces: Vec<Piece>,
    /// Characters to tell about each result.
    chars: Vec<usize>,
}

impl<'a> Draft<'a> {
    fn new(results: &'a [Told<'a>]) -> Self {
        let levels: [Level; 6] = [head, summary, artifacts, errors, next_steps, data];
        let mut pieces = Vec::new();
        let mut chars = vec![0; results.len()];
        for level in levels {
            for (result, (told, chars)) in results.iter().zip(&mut chars).enumerate() {
                for line in level(told) {
                    *chars += line.text.chars().count();
                    pieces.push(Piece { result, line });
                }
            }
        }
        Self { results, pieces, chars }
    }

    /// The first so many pieces, and the start of the next one, result by result.
    fn render(&self, whole: usize, start: Option<&str>) -> String {
        let mut blocks = vec![String::new(); self.results.len()];
        let mut left = self.chars.clone();
        let mut add = |piece: &Piece, text: &str, end: &str| {
            if let (Some(block), Some(left)) =
                (blocks.get_mut(piece.result), left.get_mut(piece.result))
            {
                block.push_str(text);
                block.push_str(end);
                *left = left.saturating_sub(text.chars().count());
            }
        };
        for piece in self.pieces.iter().take(whole) {
            add(piece, &piece.line.text, "\n");
        }
        if let (Some(piece), Some(start)) = (self.pieces.get(whole), start) {
            add(piece, start.trim_end(), " …\n");
        }
        let mut text = String::new();
        let mut untold = 0;
        for ((block, left), told) in blocks.iter().zip(&left).zip(self.results) {
            if block.is_empty() {
                untold += 1;
                continue;
            }
            text.push_str(block);
            if *left > 0 {
                let handle = told.handle;
                text.push_str(&format!("  [{left} characters left out; all of it: {handle}]\n"));
            }
        }
        match untold {
            0 => {}
            1 => text.push_str("[1 result left out]\n"),
            more => text.push_str(&format!("[{more} results left out]\n")),
        }
        text
    }
}

fn head(told: &Told<'_>) -> Vec<Line> {
    let status = match told.returned.status {
        ReturnStatus::Completed => "completed",
        ReturnStatus::Partial => "partial",
        ReturnStatus::Failed => "failed",
        ReturnStatus::Blocked => "blocked",
    };
    let label = told.label.split_whitespace().collect::<Vec<_>>().join(" ");
    vec![Line::block(format!("{}: {status}", neutralise(&label)))]
}

fn summary(told: &Told<'_>) -> Vec<Line> {
    vec![Line::words(entry("summary", &told.returned.summary))]
}

fn artifacts(told: &Told<'_>) -> Vec<Line> {
    let line = |artifact: &Artifact| {
        let about = artifact.summary.as_ref().map(|summary| format!(": {summary}"));
        let about = about.unwrap_or_default();
        let text = format!("{} ({}){about}", artifact.path, artifact.kind);
        Line::words(entry("artifact", &text))
    };
    told.returned.artifacts.iter().map(line).collect()
}

fn errors(told: &Told<'_>) -> Vec<Line> {
    let line = |error: &ReturnError| {
        let recoverable = if error.recoverable { ", recoverable" } else { "" };
        let advice = Some(error.recommendation.trim()).filter(|advice| !advice.is_empty());
        let advice = advice.map(|advice| format!(" → {advice}")).unwrap_or_default();
        let text = format!("{} ({}{recoverable}){advice}", error.message, error.kind);
        Line::words(entry("error", &text))
    };
    told.returned.errors.iter().map(line).collect()
}

fn next_steps(told: &Told<'_>) -> Vec<Line> {
    let steps = told.returned.next_steps.iter();
    steps.map(|steps| Line::words(entry("next", steps))).collect()
}

/// Half of a JSON value is worse than none, so this one is told whole or not at
/// all; a long one would leave no room for anything else and is only mentioned.
fn data(told: &Told<'_>) -> Vec<Line> {
    let data = told.returned.data.iter().map(|data: &Value| {
        let text = data.to_string();
        if text.len() > MAX_DATA_BYTES {
            let (bytes, handle) = (text.len(), told.handle);
            return Line::words(format!("  data: {bytes} bytes of JSON, kept under {handle}"));
        }
        Line::block(entry("data", &text))
    });
    data.collect()
}

/// A child's words under a name of ours; further lines are indented below it.
fn entry(name: &str, words: &str) -> String {
    let words = neutralise(words.trim());
    let mut lines = words.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut text = format!("  {name}: {}", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str("\n    ");
        text.push_str(line);
    }
    text
}

//! Verbs that open a sentence which asks for something to be done.

use crate::agent::Operation;

/// Whether a word asks for something to be done, in any capitals.
pub(super) fn is_action(word: &str) -> bool {
    let letter = word.bytes().next().unwrap_or_default();
    is_among(word, actions(letter.to_ascii_lowercase()))
}

fn is_among(word: &str, verbs: &str) -> bool {
    let mut verbs = verbs.split_ascii_whitespace();
    verbs.any(|verb| verb.eq_ignore_ascii_case(word))
}

/// The verbs that begin with a letter.
fn actions(letter: u8) -> &'static str {
    match letter {
        b'a' => "adapt add adjust align analyse analyze apply assess audit automate",
        b'b' => "backfill benchmark build bump",
        b'c' => {
            "change check choose clean collect compare compile compute configure connect \
             consolidate convert copy create critique"
        }
        b'd' => {
            "debug decide define delete deploy deprecate design develop disable document \
             download draft drop"
        }
        b'e' => {
            "enable ensure estimate evaluate examine explain explore export expose extend \
             extract"
        }
        b'f' => "fetch finalise finalize find finish fix format",
        b'g' => "gather generate",
        b'h' => "handle harden",
        b'i' => {
            "identify implement import improve inspect install integrate introduce \
             investigate"
        }
        b'l' => "launch lint list load",
        b'm' => "make measure merge migrate model monitor move",
        b'n' => "normalise normalize",
        b'o' => "optimise optimize organise organize outline",
        b'p' => "package parse patch plan port prepare profile prototype prove provide publish",
        b'r' => {
            "read rebuild record redesign reduce refactor release remove rename reorganise \
             reorganize replace report reproduce research resolve restore restructure review \
             revise rewrite roll rotate run"
        }
        b's' => {
            "scan schedule ship simplify sketch specify split store summarise summarize \
             support"
        }
        b't' => "test tidy track train translate triage tune",
        b'u' => "unify update upgrade upload",
        b'v' => "validate verify",
        b'w' => "wire wrap write",
        _ => "",
    }
}

/// The time class of work that opens with this word; making is the usual case.
pub(super) fn operation(word: &str) -> Operation {
    let classes = [
        (
            Operation::Research,
            "analyse analyze compare evaluate explore investigate research",
        ),
        (Operation::Plan, "design outline plan sketch specify"),
        (
            Operation::Review,
            "assess audit critique examine inspect review",
        ),
        (Operation::Revise, "adjust fix patch revise tidy"),
    ];
    let mut classes = classes.into_iter();
    let class = classes.find(|(_, verbs)| is_among(word, verbs));
    class.map_or(Operation::Implement, |(operation, _)| operation)
}

//! Verbs that open a sentence which asks for something to be done.

use crate::agent::Operation;

/// A list of words, written without quotes and commas.
macro_rules! verbs {
    ($($verb:ident)*) => { &[$(stringify!($verb)),*] };
}

/// Whether a word asks for something to be done, in any capitals.
pub(super) fn is_action(word: &str) -> bool {
    let letter = word.bytes().next().unwrap_or_default();
    is_among(word, actions(letter.to_ascii_lowercase()))
}

fn is_among(word: &str, verbs: &[&str]) -> bool {
    verbs.iter().any(|verb| verb.eq_ignore_ascii_case(word))
}

/// The verbs that begin with a letter.
fn actions(letter: u8) -> &'static [&'static str] {
    match letter {
        b'a' => verbs![adapt add adjust align analyse analyze apply assess audit automate],
        b'b' => verbs![backfill benchmark build bump],
        b'c' => verbs![
            change check choose clean collect compare compile compute configure connect
            consolidate convert copy create critique
        ],
        b'd' => verbs![
            debug decide define delete deploy deprecate design develop disable document download
            draft drop
        ],
        b'e' => verbs![
            enable ensure estimate evaluate examine explain explore export expose extend extract
        ],
        b'f' => verbs![fetch finalise finalize find finish fix format],
        b'g' => verbs![gather generate],
        b'h' => verbs![handle harden],
        b'i' => verbs![
            identify implement import improve inspect install integrate introduce investigate
        ],
        b'l' => verbs![launch lint list load],
        b'm' => verbs![make measure merge migrate model monitor move],
        b'n' => verbs![normalise normalize],
        b'o' => verbs![optimise optimize organise organize outline],
        b'p' => verbs![
            package parse patch plan port prepare profile prototype prove provide publish
        ],
        b'r' => verbs![
            read rebuild record redesign reduce refactor release remove rename reorganise
            reorganize replace report reproduce research resolve restore restructure review
            revise rewrite roll rotate run
        ],
        b's' => verbs![
            scan schedule ship simplify sketch specify split store summarise summarize support
        ],
        b't' => verbs![test tidy track train translate triage tune],
        b'u' => verbs![unify update upgrade upload],
        b'v' => verbs![validate verify],
        b'w' => verbs![wire wrap write],
        _ => &[],
    }
}

/// The time class of work that opens with this word; making is the usual case.
pub(super) fn operation(word: &str) -> Operation {
    let classes: [(Operation, &[&str]); 4] = [
        (
            Operation::Research,
            verbs![analyse analyze compare evaluate explore investigate research],
        ),
        (Operation::Plan, verbs![design outline plan sketch specify]),
        (Operation::Review, verbs![assess audit critique examine inspect review]),
        (Operation::Revise, verbs![adjust fix patch revise tidy]),
    ];
    let mut classes = classes.into_iter();
    let class = classes.find(|(_, verbs)| is_among(word, verbs));
    class.map_or(Operation::Implement, |(operation, _)| operation)
}

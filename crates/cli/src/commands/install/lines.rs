//! Two texts side by side: the lines that differ, with a few around them.

use legation_core::text::shown;

/// Lines that are shown around those that differ.
const AROUND: usize = 3;

/// What differs, as one piece.
pub(super) fn diff(path: &str, (before, after): (Option<&str>, Option<&str>)) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let mut page = format!("--- {}\n+++ {}\n", name(before), name(after));
    let old: Vec<&str> = before.unwrap_or_default().lines().collect();
    let new: Vec<&str> = after.unwrap_or_default().lines().collect();
    let both = old.iter().zip(&new);
    let above = both.take_while(|(old, new)| old == new).count();
    let both = old.iter().skip(above).rev().zip(new.iter().skip(above).rev());
    let below = both.take_while(|(old, new)| old == new).count();
    let from = above.saturating_sub(AROUND);
    let (gone, come) = (old.len() - above - below, new.len() - above - below);
    let around = above - from + below.min(AROUND);
    // Of a text that has no lines, there is no first.
    let hunk = |lines: usize| format!("{},{lines}", if lines == 0 { 0 } else { from + 1 });
    page.push_str(&format!("@@ -{} +{} @@\n", hunk(gone + around), hunk(come + around)));
    let mut put = |sign: char, lines: &mut dyn Iterator<Item = &&str>| {
        for line in lines {
            page.push_str(&format!("{sign}{}\n", shown::visible(line)));
        }
    };
    put(' ', &mut old.iter().take(above).skip(from));
    put('-', &mut old.iter().skip(above).take(gone));
    put('+', &mut new.iter().skip(above).take(come));
    put(' ', &mut old.iter().skip(above + gone).take(AROUND));
    page
}

//! Words and the text made of them.

/// The text lower-cased, with runs of white space folded to one blank: what
/// two ways of writing the same task have in common.
pub fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase));
    }
    normal
}

//! Rust source as a flat list of tokens with their lines.
//!
//! Comments and the insides of strings are not tokens, so a rule about words
//! never trips over a text that merely talks about them.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A word, a sign, a literal or one half of a pair of brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token as it is written.
    pub text: String,
    /// The line it begins on, counted from 1.
    pub line: usize,
    /// The line it ends on.
    pub last_line: usize,
}

/// The tokens of a source text; the error is the line where it stops making sense.
pub fn tokens(text: &str) -> Result<Vec<Token>, usize> {
    // A file may open with `#!/usr/bin/env …`, which is no Rust.
    let stream: TokenStream =
        text.parse().map_err(|error: proc_macro2::LexError| error.span().start().line)?;
    let mut found = Vec::new();
    flatten(stream, &mut found);
    Ok(found)
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>) {
    let mut trees = stream.into_iter();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                found.push(token(open, group.span_open()));
                flatten(group.stream(), found);
                found.push(token(close, group.span_close()));
            }
            TokenTree::Punct(sign) if is_doc_comment(&sign) => skip_doc_comment(&mut trees),
            TokenTree::Punct(sign) => found.push(token(&sign.as_char().to_string(), sign.span())),
            TokenTree::Ident(word) => found.push(token(&word.to_string(), word.span())),
            TokenTree::Literal(literal) => {
                found.push(token(&literal.to_string(), literal.span()));
            }
        }
    }
}

/// A doc comment comes as `#[doc = "…"]` whose `#` is as long as the comment.
fn is_doc_comment(sign: &proc_macro2::Punct) -> bool {
    let (start, end) = (sign.span().start(), sign.span().end());
    sign.as_char() == '#' && (start.line != end.line || end.column > start.column + 1)
}

fn skip_doc_comment(trees: &mut impl Iterator<Item = TokenTree>) {
    // An inner comment has a `!` before the brackets.
    for tree in trees.by_ref() {
        if matches!(tree, TokenTree::Group(_)) {
            break;
        }
    }
}

fn token(text: &str, span: Span) -> Token {
    Token { text: text.to_owned(), line: span.start().line, last_line: span.end().line }
}

/// The lines on which this row of tokens occurs.
pub fn occurrences<'a>(tokens: &'a [Token], row: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let windows = tokens.windows(row.len());
    let hits = windows.filter(|window| {
        let texts = window.iter().map(|token| token.text.as_str());
        texts.eq(row.iter().copied())
    });
    hits.filter_map(|window| window.first().map(|token| token.line))
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line its name stands on.
    pub line: usize,
    /// Lines of its body that hold code.
    pub code_lines: usize,
}

/// Every function of a file, those inside macros and other functions included.
pub fn functions(tokens: &[Token]) -> Vec<Function> {
    let starts = tokens.windows(2).enumerate();
    let starts = starts.filter_map(|(at, window)| match window {
        [keyword, name] if keyword.text == "fn" && is_word(&name.text) => Some((at + 2, name)),
        _ => None,
    });
    starts
        .filter_map(|(after, name)| {
            let body = body(tokens.get(after..)?)?;
            Some(Function {
                name: name.text.clone(),
                line: name.line,
                code_lines: code_lines(body),
            })
        })
        .collect()
}

/// The tokens between the braces that follow a signature; none if it ends at a `;`.
fn body(after_name: &[Token]) -> Option<&[Token]> {
    let mut depth = 0_usize;
    let mut open = None;
    for (at, token) in after_name.iter().enumerate() {
        match token.text.as_str() {
            ";" if depth == 0 => return None,
            "{" if depth == 0 => {
                open = Some(at + 1);
                depth += 1;
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if let (0, Some(open)) = (depth, open) {
                    return after_name.get(open..at);
                }
            }
            _ => {}
        }
    }
    None
}

fn code_lines(body: &[Token]) -> usize {
    let mut count = 0;
    let mut counted_to = 0;
    for token in body {
        let first_new = token.line.max(counted_to + 1);
        count += (token.last_line + 1).saturating_sub(first_new);
        counted_to = counted_to.max(token.last_line);
    }
    count
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

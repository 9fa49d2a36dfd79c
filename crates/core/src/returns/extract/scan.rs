//! Walking over one JSON list or object, byte by byte, without building it.

/// Where something that began like JSON stopped being it.
#[derive(Clone, Copy)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) problem: &'static str,
}

/// What may come next inside a list or an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Walks over lists and objects. Nesting is unlimited here, because the walk
/// does not recurse; the parser that follows has the limit.
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    /// How far it has come; behind the last byte in the end.
    pub(super) at: usize,
    /// The closing brackets still owed.
    owed: Vec<u8>,
    /// Whether the outermost object has a `status`.
    pub(super) has_status: bool,
    /// Whether it has come to a key at all. A brace in code has none.
    pub(super) has_key: bool,
    /// Whether it has got beyond one first word. A quoted bracket in prose does not.
    pub(super) is_under_way: bool,
}

impl<'a> Scan<'a> {
    /// Nothing walked over yet.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            owed: Vec::new(),
            has_status: false,
            has_key: false,
            is_under_way: false,
        }
    }

    /// Walks from an opening bracket to behind the closing one, or to where it breaks off.
    pub(super) fn walk(&mut self, from: usize) -> Result<(), Broken> {
        self.at = from;
        self.owed.clear();
        self.has_status = false;
        self.has_key = false;
        self.is_under_way = false;
        let mut next = Next::Value;
        loop {
            self.skip_blanks();
            let Some(&byte) = self.bytes.get(self.at) else {
                return self.broken("the output ends inside the object");
            };
            next = match (next, byte) {
                (Next::Value | Next::ValueOrEnd, b'{') => self.open(b'}'),
                (Next::Value | Next::ValueOrEnd, b'[') => self.open(b']'),
                (Next::ValueOrEnd, b']') | (Next::KeyOrEnd, b'}') => self.close(),
                (Next::Value | Next::ValueOrEnd, _) => self.scalar(byte)?,
                (Next::Key | Next::KeyOrEnd, b'"') => self.key()?,
                (Next::Key | Next::KeyOrEnd, _) => return self.broken("expected a key in quotes"),
                (Next::Colon, b':') => {
                    self.is_under_way = true;
                    self.step(Next::Value)
                }
                (Next::Colon, _) => return self.broken("expected `:` after the key"),
                (Next::CommaOrEnd, b',') => {
                    self.is_under_way = true;
                    let in_object = self.owed.last() == Some(&b'}');
                    self.step(if in_object { Next::Key } else { Next::Value })
                }
                (Next::CommaOrEnd, _) if self.owed.last() == Some(&byte) => self.close(),
                (Next::CommaOrEnd, _) => {
                    return self.broken("expected `,` or the closing bracket");
                }
            };
            if self.owed.is_empty() {
                return Ok(());
            }
        }
    }

    fn step(&mut self, next: Next) -> Next {
        self.at += 1;
        next
    }

    fn open(&mut self, closing: u8) -> Next {
        self.is_under_way |= !self.owed.is_empty();
        self.owed.push(closing);
        self.step(if closing == b'}' { Next::KeyOrEnd } else { Next::ValueOrEnd })
    }

    fn close(&mut self) -> Next {
        self.owed.pop();
        self.step(Next::CommaOrEnd)
    }

    fn key(&mut self) -> Result<Next, Broken> {
        let start = self.at;
        self.has_key = true;
        self.string()?;
        let is_status = self.bytes.get(start..self.at) == Some(b"\"status\"".as_slice());
        self.has_status |= is_status && self.owed.len() == 1;
        Ok(Next::Colon)
    }

    /// A string, a number or a word. Whether a number or an escape is well
    /// formed is left to the parser.
    fn scalar(&mut self, byte: u8) -> Result<Next, Broken> {
        match byte {
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                self.at += rest.iter().take_while(|b| is_part(b)).count();
            }
            _ => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let words: [&[u8]; 3] = [b"true", b"false", b"null"];
                match words.into_iter().find(|word| rest.starts_with(word)) {
                    Some(word) => self.at += word.len(),
                    None => return self.broken("expected a value"),
                }
            }
        }
        Ok(Next::CommaOrEnd)
    }

    fn string(&mut self) -> Result<(), Broken> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let is_special = |b: &u8| matches!(b, b'"' | b'\\' | 0..=0x1f);
            let Some(plain) = rest.iter().position(is_special) else {
                self.at = self.bytes.len();
                return self.broken("the output ends inside a string");
            };
            self.at += plain;
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.at = self.bytes.len().min(self.at + 2),
                _ => return self.broken("a string holds a raw line break or control character"),
            }
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn broken<T>(&self, problem: &'static str) -> Result<T, Broken> {
        Err(Broken { at: self.at, problem })
    }
}

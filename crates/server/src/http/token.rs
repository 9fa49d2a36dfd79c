//! The owner's token: made once, kept where only its owner reads.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use subtle::ConstantTimeEq as _;

/// Random bytes of a token.
const BYTES: usize = 32;
/// Bits of a mode by which others may read or write.
const OTHERS: u32 = 0o077;

/// A token. It is never shown by accident, and compared in a time that says nothing.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// The token in a file; a new one is made where there is none. One that others could
    /// have read is not used.
    pub fn at(path: &Path) -> io::Result<Self> {
        loop {
            match Self::read(path) {
                Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
                read => return read,
            }
            match Self::make(path) {
                // Whoever was faster has made one that is just as good.
                Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
    }

    /// Whether this is what was sent.
    pub fn is(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).into()
    }

    /// The token itself, for whoever owns it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn read(path: &Path) -> io::Result<Self> {
        let facts = fs::symlink_metadata(path)?;
        let wrong = |reason: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        if !facts.is_file() {
            return wrong("is not a file");
        }
        if facts.mode() & OTHERS != 0 {
            return wrong("can be read by others; remove it, and a new one is made");
        }
        let text = fs::read_to_string(path)?;
        let text = text.trim();
        if text.len() < BYTES * 2 {
            return wrong("holds no whole token; remove it, and a new one is made");
        }
        Ok(Self(text.to_owned()))
    }

    /// Makes one beside its place and moves it there whole.
    fn make(path: &Path) -> io::Result<Self> {
        let mut bytes = [0_u8; BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
        let placed = file
            .and_then(|mut file| {
                file.write_all(format!("{text}\n").as_bytes())?;
                file.sync_all()
            })
            // A link, unlike a rename, does not replace what somebody else has made meanwhile.
            .and_then(|()| fs::hard_link(&beside, path));
        let _ = fs::remove_file(&beside);
        placed.map(|()| Self(text))
    }
}

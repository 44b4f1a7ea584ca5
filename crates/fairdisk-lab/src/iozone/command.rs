//! The words of an iozone command, with their lines.

use crate::jobfile::{Error, ErrorKind, Place, Problems};
use std::sync::Arc;

/// A word of a command.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Place,
}

impl Word {
    /// An error about the word: what is wrong, and what to do.
    pub(super) fn wrong(&self, remedy: impl Into<String>) -> Error {
        let kind = ErrorKind::OddLine { line: self.text.clone(), remedy: remedy.into() };
        Error { place: self.place.clone(), kind }
    }
}

/// Where the command begins, and the words behind `iozone`.
///
/// A backslash at the end of a line continues it, and a word that begins
/// with `#` begins a comment.
pub(super) fn words(name: &str, text: &str) -> Result<(Place, Vec<Word>), Problems> {
    let file: Arc<str> = name.into();
    let mut words: Vec<Word> = Vec::new();
    let mut continues = false;
    for (line, text) in (1..).zip(text.lines()) {
        let place = Place { file: Arc::clone(&file), line };
        let code = text.split_whitespace().take_while(|word| !word.starts_with('#'));
        let mut code: Vec<&str> = code.collect();
        let goes_on = code.last() == Some(&"\\");
        if goes_on {
            code.pop();
        } else if let Some(last) = code.last_mut().filter(|last| last.ends_with('\\')) {
            *last = last.trim_end_matches('\\');
        }
        let is_next = !words.is_empty() && !continues && !code.is_empty();
        let of_line = code.iter().map(|text| Word { text: (*text).into(), place: place.clone() });
        words.extend(of_line);
        if is_next {
            let first = words.iter().find(|word| word.place == place).unwrap_or(&words[0]);
            let remedy = "a file holds one command; end the line before with a backslash to \
                          continue it, or make another file";
            return Err(first.wrong(remedy).into());
        }
        continues = text.trim_end().ends_with('\\') && (goes_on || !code.is_empty());
    }
    let is_iozone = |word: &&Word| word.text.rsplit('/').next() == Some("iozone");
    match words.first() {
        Some(first) if is_iozone(&first) => Ok((first.place.clone(), words.split_off(1))),
        Some(first) => Err(first.wrong("a command begins with `iozone`").into()),
        None => {
            let place = Place { file, line: 1 };
            let text = "no command in this file; add one such as `iozone -i 0 -i 1 -t 2 -F a b`";
            Err(Error { place, kind: ErrorKind::Conflict { text: text.into() } }.into())
        }
    }
}

//! Checks of text that is printed to terminals and into reports.

use super::allowed::{Wrong, key_of};
use crate::letter::is_unseen;

/// The longest line in characters; names become columns of tables.
const LETTERS_MAX: usize = 1000;

/// Checks that the text is one non-empty line without characters that move the cursor or change a
/// colour. The error is the key and what is wrong.
pub(super) fn check_line(key: &str, text: &str) -> Result<(), Wrong> {
    if text.trim().is_empty() {
        let name = key_of(key);
        return Err((key.to_owned(), format!("`{name}` is empty; allowed: a line of text").into()));
    }
    let letters = text.chars().count();
    if letters > LETTERS_MAX {
        let name = key_of(key);
        let message = format!("`{name}` has {letters} letters; allowed: up to {LETTERS_MAX}");
        return Err((key.to_owned(), message.into()));
    }
    check(key, text, is_unseen)
}

/// Like [`check_line`], for text that may be empty or have several lines.
pub(super) fn check_text(key: &str, text: &str) -> Result<(), Wrong> {
    check(key, text, |letter| is_unseen(letter) && !matches!(letter, '\n' | '\t'))
}

fn check(key: &str, text: &str, bad: impl Fn(char) -> bool) -> Result<(), Wrong> {
    if text.contains(bad) {
        let allowed = "allowed: text without control characters and others that are not seen";
        return Err((key.to_owned(), format!("`{}` is {text:?}; {allowed}", key_of(key)).into()));
    }
    Ok(())
}

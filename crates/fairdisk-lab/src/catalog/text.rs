//! Text of a file that goes to terminals and into reports.

/// Demands a line: something, and nothing that moves a cursor or changes a colour. The error is the
/// key and what is wrong.
pub(super) fn check_line(key: &str, text: &str) -> Result<(), (String, String)> {
    if text.trim().is_empty() {
        let name = name(key);
        return Err((key.to_owned(), format!("`{name}` is empty; allowed: a line of text")));
    }
    check(key, text, char::is_control)
}

/// As [`check_line`], for what may have several lines or none.
pub(super) fn check_text(key: &str, text: &str) -> Result<(), (String, String)> {
    check(key, text, |letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

fn check(key: &str, text: &str, bad: impl Fn(char) -> bool) -> Result<(), (String, String)> {
    if text.contains(bad) {
        let allowed = "allowed: text without control characters";
        return Err((key.to_owned(), format!("`{}` is {text:?}; {allowed}", name(key))));
    }
    Ok(())
}

fn name(key: &str) -> &str {
    let mut parts = key.rsplit('.');
    parts.find(|part| part.parse::<usize>().is_err()).unwrap_or(key)
}

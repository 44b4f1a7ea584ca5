//! Columns of text, as wide as a terminal shows them.

use unicode_width::UnicodeWidthStr as _;

/// How many columns a terminal takes to show `text`: two for each wide letter, none for an accent
/// that joins the letter before.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text`, filled up with spaces to this many columns.
#[must_use]
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn wide_letters_take_two_columns() {
        let texts = ["ab", "データ", "e\u{301}", "abcdefgh"];
        let filled = texts.map(|text| padded(text, 7));
        assert_eq!(filled, ["ab     ", "データ ", "e\u{301}      ", "abcdefgh"]);
    }
}

//! Horizontal bars of Unicode block characters, with a resolution of an eighth of a column.

const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar that fills the fraction `part`, 0 to 1, of `columns`.
pub(super) fn bar(part: f64, columns: usize) -> String {
    let eighths = (part.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|eighth| EIGHTHS[eighth]));
    bar
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_are_exact_to_an_eighth_of_a_column() {
        assert_eq!(bar(0.0, 10), "");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.3125, 4), "█▎");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(-1.0, 4), "");
    }
}

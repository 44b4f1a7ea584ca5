//! The nearest known name to a misspelt one.

/// The candidate with the fewest edits, if it is near enough to be what was meant.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance: one row of the table at a time. A name too long to be one has no near.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.len() > 4 * (b.len() + 4) {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_key_and_noise_finds_none() {
        let keys = ["iodepth", "ioengine", "bs", "runtime"];
        assert_eq!(nearest("iodpth", keys.into_iter()), Some("iodepth"));
        assert_eq!(nearest("run_time", keys.into_iter()), Some("runtime"));
        assert_eq!(nearest("zzzzzz", keys.into_iter()), None);
    }
}

//! Suggestions for misspelt words.

/// The word in `known` that takes the fewest edits from `word`, ignoring case, if there are at most
/// one per three letters; otherwise the only word that starts with `word`.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = within((word.chars().count() / 3).max(1), word, known.iter().copied());
    near.or_else(|| begun(word, &known))
}

/// The only word in `known` that starts with `word`, which must have at least three letters.
fn begun<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut longer = known.iter().filter(|longer| longer.starts_with(word));
    let only = longer.next().filter(|_| longer.next().is_none() && word.chars().count() > 2);
    only.copied()
}

/// The most similar word, like [`nearest`] but however many edits it takes; `None` only if `word`
/// is longer than any known word.
#[must_use]
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LENGTH_MAX: usize = 64;
    let letters = word.chars().count();
    (letters <= LENGTH_MAX).then(|| within(usize::MAX, word, known))?
}

fn within<'a>(few: usize, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let near = |candidate: &'a str| {
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        // Saves computing the table for words that are far too long.
        let edits = (letters.len().abs_diff(word.len()) <= few).then(|| edits(&word, &letters))?;
        (edits <= few).then_some((edits, candidate))
    };
    known.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

/// The number of letters to insert, remove, replace or swap with the next one to turn `a` into `b`.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut above: [Vec<usize>; 2] = [Vec::new(), (0..=b.len()).collect()];
    for row in 0..a.len() {
        let mut line = vec![row + 1];
        for column in 0..b.len() {
            let [before, last] = &above;
            let replaced = last[column] + usize::from(a[row] != b[column]);
            let mut least = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0 && column > 0;
            if swapped && a[row] == b[column - 1] && a[row - 1] == b[column] {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        above = [std::mem::take(&mut above[1]), line];
    }
    above[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, nearest};

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["heads", "zones", "capacity_sectors", "iodepth", "bs", "runtime"];
        assert_eq!(nearest("hedas", known), Some("heads"));
        assert_eq!(nearest("capacity_sector", known), Some("capacity_sectors"));
        assert_eq!(nearest("ioDpeth", known), Some("iodepth"));
        assert_eq!(nearest("run_time", known), Some("runtime"));
        assert_eq!(nearest("b", known), Some("bs"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("cap", known), Some("capacity_sectors"));
        assert_eq!(nearest("two", ["two-layer", "two-groups"]), None);
        assert_eq!(closest("colour", known), Some("zones"));
        assert_eq!(closest(&"bs".repeat(10_000), known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"bs".repeat(10_000), known), None);
    }
}

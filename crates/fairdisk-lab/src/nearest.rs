//! The known word a misspelt one was probably meant to be.

/// The word in `known` that takes the fewest edits to get to from `word`, in any case of letters,
/// if those are few: at most one in three letters; or else the only one that `word` begins.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = within((word.chars().count() / 3).max(1), word, known.iter().copied());
    near.or_else(|| begun(word, &known))
}

/// The only word in `known` that `word` begins, if that has three letters at least.
fn begun<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut longer = known.iter().filter(|longer| longer.starts_with(word));
    let only = longer.next().filter(|_| longer.next().is_none() && word.chars().count() > 2);
    only.copied()
}

/// As [`nearest`], however many edits it takes; `None` only for a word longer than any known one.
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
        // Also spares the table for words far too long to be one.
        let edits = (letters.len().abs_diff(word.len()) <= few).then(|| edits(&word, &letters))?;
        (edits <= few).then_some((edits, candidate))
    };
    known.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

/// How many letters have to be inserted, removed, replaced or swapped with the next to make `b` of
/// `a`.
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

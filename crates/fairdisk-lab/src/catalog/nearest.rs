//! The known word a misspelt one was probably meant to be.

/// The word in `known` that takes the fewest edits to get to from `word`, if those are few: at most
/// one in three letters.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let few = word.chars().count().div_ceil(3);
    let near = known.iter().map(|candidate| (edits(word, candidate), *candidate));
    near.filter(|(edits, _)| *edits <= few).min().map(|(_, candidate)| candidate)
}

/// How many letters have to be inserted, removed or replaced to make `b` of `a`.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.chars().enumerate() {
        let mut line = vec![row + 1];
        for (column, to) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(from != *to);
            line.push(replaced.min(above[column + 1] + 1).min(line[column] + 1));
        }
        above = line;
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["heads", "zones", "capacity_sectors"];
        assert_eq!(nearest("hedas", &known), Some("heads"));
        assert_eq!(nearest("capacity_sector", &known), Some("capacity_sectors"));
        assert_eq!(nearest("colour", &known), None);
    }
}

//! SPDX licence expressions, as crates state them: names with `OR`, `AND`, `WITH` and parentheses.

/// Whether licences of `allowed` suffice to meet the expression. An exception (`WITH`) is part of
/// the name before it.
#[must_use]
pub fn is_met(expression: &str, allowed: &[&str]) -> bool {
    // Old manifests write `MIT/Apache-2.0`.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, allowed };
    parser.any() == Some(true) && parser.tokens.is_empty()
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.tokens.first() == Some(&word);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any()?;
            return self.take(")").then_some(met);
        }
        let mut name = self.word()?.to_owned();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.word()?);
        }
        Some(self.allowed.contains(&name.as_str()))
    }

    fn word(&mut self) -> Option<&str> {
        let (word, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn expressions_are_understood() {
        let met =
            |expression| is_met(expression, &["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"]);
        assert!(met("MIT") && met("GPL-3.0 OR MIT") && met("GPL-3.0/MIT") && met("MIT AND Zlib"));
        assert!(met("(GPL-3.0 OR MIT) AND (Zlib)") && met("Apache-2.0 WITH LLVM-exception"));
        assert!(!met("") && !met("GPL-3.0") && !met("MIT AND GPL-3.0") && !met("Apache-2.0"));
        assert!(!met("MIT OR") && !met("(MIT") && !met("MIT MIT"));
    }
}

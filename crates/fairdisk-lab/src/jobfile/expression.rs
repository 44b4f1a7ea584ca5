//! Integer arithmetic in values: `+ - * / % ^` and parentheses.

/// Evaluates an expression; `None` if it is not one, or exceeds 128 bits.
pub(super) fn evaluate(text: &str) -> Option<i128> {
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.sum()?;
    reader.rest.trim().is_empty().then_some(value)
}

/// The deepest nesting of parentheses; deeper would only exhaust the stack.
const DEPTH_MAX: u32 = 64;

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        loop {
            value = match self.operator(&['+', '-']) {
                Some('+') => value.checked_add(self.product()?)?,
                Some(_) => value.checked_sub(self.product()?)?,
                None => return Some(value),
            };
        }
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.power()?;
        loop {
            value = match self.operator(&['*', '/', '%']) {
                Some('*') => value.checked_mul(self.power()?)?,
                Some('/') => value.checked_div(self.power()?)?,
                Some(_) => value.checked_rem(self.power()?)?,
                None => return Some(value),
            };
        }
    }

    fn power(&mut self) -> Option<i128> {
        let base = self.atom()?;
        match self.operator(&['^']) {
            Some(_) => base.checked_pow(u32::try_from(self.atom()?).ok()?),
            None => Some(base),
        }
    }

    fn atom(&mut self) -> Option<i128> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let value = match self.operator(&['(', '-']) {
            Some('(') => {
                let inner = self.sum()?;
                self.operator(&[')']).map(|_| inner)
            }
            Some(_) => self.atom()?.checked_neg(),
            None => self.number(),
        };
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Option<i128> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    /// Takes the next character if it is one of the `wanted` operators.
    fn operator(&mut self, wanted: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let sign = self.rest.chars().next().filter(|c| wanted.contains(c))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_and_failure() {
        assert_eq!(evaluate("(2+1)*4096"), Some(12_288));
        assert_eq!(evaluate("4096/3"), Some(1365));
        assert_eq!(evaluate("-2+4"), Some(2));
        assert_eq!(evaluate("2^3%5"), Some(3));
        for text in ["", "2*4k", "/tmp/2", "1/0", "(1", "9^99", &"(".repeat(500)] {
            assert_eq!(evaluate(text), None, "{text}");
        }
    }
}

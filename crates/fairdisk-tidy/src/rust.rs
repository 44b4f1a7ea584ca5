//! A reader of Rust sources that classifies characters as code, comment or literal, and measures
//! the length of functions.

/// The lexical class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Code outside of comments and literals.
    Code,
    /// A comment, including its slashes.
    Comment,
    /// A string or character literal, including its quotes.
    Literal,
}

/// A source text with the class of each of its characters.
#[derive(Clone, Debug)]
pub struct Source {
    chars: Vec<char>,
    parts: Vec<Part>,
}

impl Source {
    /// Classifies the characters of `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut parts = Vec::with_capacity(chars.len());
        while parts.len() < chars.len() {
            let (part, length) = piece(&chars, parts.len());
            let end = (parts.len() + length.max(1)).min(chars.len());
            parts.resize(end, part);
        }
        Self { chars, parts }
    }

    /// The lines of the source, reduced to the characters of the classes in `keep`.
    #[must_use]
    pub fn lines(&self, keep: &[Part]) -> Vec<String> {
        let mut lines = vec![String::new()];
        for (&c, part) in self.chars.iter().zip(&self.parts) {
            if c == '\n' {
                lines.push(String::new());
            } else if keep.contains(part) {
                lines.last_mut().expect("at least one line").push(c);
            }
        }
        lines
    }
}

/// The class of the token that begins at `at`, and its length in characters.
fn piece(chars: &[char], at: usize) -> (Part, usize) {
    let starts = |text: &str| text.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    if starts("//") {
        return (Part::Comment, chars[at..].iter().take_while(|c| **c != '\n').count());
    }
    if starts("/*") {
        return (Part::Comment, block_comment(&chars[at..]));
    }
    if let Some(length) = raw_string(chars, at) {
        return (Part::Literal, length);
    }
    match chars[at] {
        '"' => (Part::Literal, quoted(&chars[at..], '"')),
        '\'' => character(&chars[at..]).map_or((Part::Code, 1), |n| (Part::Literal, n)),
        _ => (Part::Code, 1),
    }
}

fn block_comment(chars: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 1),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the raw string (`r"…"`, `r#"…"#`, `br"…"` and so on) that begins at `at`, if one
/// does.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let in_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    if in_word {
        return None;
    }
    let r = at + usize::from(matches!(chars[at], 'b' | 'c'));
    if chars.get(r) != Some(&'r') {
        return None;
    }
    let hashes = chars[r + 1..].iter().take_while(|c| **c == '#').count();
    let open = r + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes = |end: &usize| {
        chars[*end] == '"'
            && chars[end + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    let end = (open + 1..chars.len()).find(closes).unwrap_or(chars.len() - 1);
    Some(end + 1 + hashes - at)
}

fn quoted(chars: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of the character literal at the start of `chars`; `None` for a lifetime.
fn character(chars: &[char]) -> Option<usize> {
    match (chars.get(1)?, chars.get(2)) {
        ('\\', _) => Some(quoted(chars, '\'')),
        (_, Some('\'')) => Some(3),
        _ => None,
    }
}

/// A function and its extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name of the function.
    pub name: String,
    /// The line of the keyword `fn`, counted from 1.
    pub line: usize,
    /// The number of lines from `fn` to the closing brace.
    pub lines: usize,
}

/// The functions that have a body, which is found by counting braces.
#[must_use]
pub fn functions(code: &[String]) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, line) in code.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let before = line.find("fn ").unwrap_or(0);
        if let Some(lines) = body_lines(&code[at..], before) {
            found.push(Function { name, line: at + 1, lines });
        }
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    words.by_ref().find(|word| *word == "fn")?;
    let name: String =
        words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The number of lines of `text` that do not belong to items which are compiled for tests only.
#[must_use]
pub fn lines_without_tests(text: &str) -> usize {
    let mut code = Source::new(text).lines(&[Part::Code]);
    code.truncate(text.lines().count());
    let (mut lines, mut at) = (0, 0);
    while at < code.len() {
        if code[at].trim() == "#[cfg(test)]" {
            at += 1 + item_lines(&code[at + 1..]);
        } else {
            (lines, at) = (lines + 1, at + 1);
        }
    }
    lines
}

/// The number of lines of the item or field at the beginning of `code`.
fn item_lines(code: &[String]) -> usize {
    let is_field = code.first().is_some_and(|line| line.trim_end().ends_with(','));
    if is_field { 1 } else { item_end(code, 0).map_or(code.len(), |(lines, _)| lines) }
}

/// The number of lines up to the brace that closes the first one, beginning at byte `before` of the
/// first line; `None` if a semicolon comes before any brace.
fn body_lines(code: &[String], before: usize) -> Option<usize> {
    item_end(code, before).and_then(|(lines, end)| (end == '}').then_some(lines))
}

/// The number of lines of the item that begins at byte `before` of the first line, and what it ends
/// with: the brace that closes its first one, or a semicolon if that comes before any brace.
fn item_end(code: &[String], before: usize) -> Option<(usize, char)> {
    let (mut braces, mut brackets) = (0i32, 0i32);
    for (at, line) in code.iter().enumerate() {
        let line = if at == 0 { &line[before..] } else { line };
        for c in line.chars() {
            match c {
                '{' => braces += 1,
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                ';' if braces == 0 && brackets == 0 => return Some((at + 1, c)),
                '}' => {
                    braces -= 1;
                    if braces == 0 {
                        return Some((at + 1, c));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new(text).lines(&[Part::Code]).join("|")
    }

    #[test]
    fn literals_and_comments_are_told_from_code() {
        assert_eq!(code("a(\"}\\\"{\") // {\nb"), "a() |b");
        assert_eq!(code("r#\"{\"x\"#;'{';'\\'';&'a T"), ";;;&'a T");
        assert_eq!(code("x /* { /* } */ */ y"), "x  y");
        assert_eq!(code("br\"{\"; for_r(\"{\")"), "; for_r()");
    }

    #[test]
    fn functions_are_measured_from_name_to_closing_brace() {
        let text =
            "trait T { fn none(&self) -> [u8; 2]; }\nfn two() {\n}\nfn four(\n) {\n  {}\n}\n";
        let found = functions(&Source::new(text).lines(&[Part::Code]));
        let short: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(short, [("two", 2, 2), ("four", 4, 4)]);
    }

    #[test]
    fn what_is_compiled_for_tests_only_is_not_counted_and_what_follows_is() {
        assert_eq!(lines_without_tests("one\ntwo {\n}\n"), 3);
        let attribute = "#[cfg(test)]\n";
        for item in [
            "mod tests;\n",
            "use {\n a,\n};\n",
            "/// What {\n#[inline]\nfn f(\n) -> [u8; 2] {\n {}\n}\n",
            "impl S {\n fn f() {\n }\n}\n",
            "const C: &str = \"{\";\n",
            "field: Vec<u8>,\n",
        ] {
            assert_eq!(lines_without_tests(&format!("one\n{attribute}{item}two\n")), 2, "{item}");
            assert_eq!(lines_without_tests(&format!("one\n    {attribute}{item}")), 1, "{item}");
        }
    }
}

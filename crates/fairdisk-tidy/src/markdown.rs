//! A reader of Markdown that finds headings, links and fenced blocks.

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The info string after the opening fence, such as `console`.
    pub info: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// The lines between the fences.
    pub lines: Vec<String>,
}

impl Block {
    /// The language: the info string up to the first space or comma.
    #[must_use]
    pub fn language(&self) -> &str {
        self.info.split([' ', ',']).next().unwrap_or_default()
    }

    /// Whether `word` is in the info string after the language.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.info.split([' ', ',']).skip(1).any(|part| part == word)
    }

    /// The value of `key=value` in the info string.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.info.split([' ', ',']).find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
    }
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target of the link, an address or a path.
    pub target: String,
    /// The line that contains the link, counted from 1.
    pub line: usize,
}

/// The parsed elements of a document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The headings with their level, which is 1 for a title.
    pub headings: Vec<(usize, String)>,
    /// The links outside of fenced blocks.
    pub links: Vec<Link>,
    /// The fenced blocks.
    pub blocks: Vec<Block>,
}

impl Document {
    /// Parses the text of a document.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut document = Self::default();
        let mut open: Option<Block> = None;
        for (at, line) in text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (Some(block), None) => block.lines.push(line.to_owned()),
                (Some(_), Some(_)) => document.blocks.extend(open.take()),
                (None, Some(info)) => {
                    let info = info.trim().to_owned();
                    open = Some(Block { info, line: at + 1, lines: Vec::new() });
                }
                (None, None) => document.read_line(line, at + 1),
            }
        }
        document.blocks.extend(open);
        document
    }

    fn read_line(&mut self, line: &str, number: usize) {
        let level = line.chars().take_while(|c| *c == '#').count();
        if level > 0 && line[level..].starts_with(' ') {
            self.headings.push((level, line[level..].trim().to_owned()));
        }
        let text = without_code(line);
        for part in text.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            self.links.push(Link { target: target.to_owned(), line: number });
        }
    }

    /// The anchors by which links can refer to the headings.
    #[must_use]
    pub fn anchors(&self) -> Vec<String> {
        let anchor = |(_, heading): &(usize, String)| {
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
        };
        self.headings.iter().map(anchor).collect()
    }
}

/// The line without the code spans between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_links_and_blocks_are_found() {
        let text = "# A `b` c, d\nsee [x](y.md#z) and `[no](w)`\n```console,ignore\n# no\n[n](o)\n```\n## E\n";
        let document = Document::new(text);
        assert_eq!(document.headings, [(1, "A `b` c, d".to_owned()), (2, "E".to_owned())]);
        assert_eq!(document.anchors(), ["a-b-c-d", "e"]);
        assert_eq!(document.links, [Link { target: "y.md#z".to_owned(), line: 2 }]);
        let block = &document.blocks[0];
        assert_eq!((block.language(), block.line, block.lines.len()), ("console", 3, 2));
        assert!(block.is("ignore") && !block.is("console"));
        assert_eq!(Document::new("```toml file=a.toml\n").blocks[0].value("file"), Some("a.toml"));
    }
}

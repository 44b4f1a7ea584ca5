//! A file of rules, and the places of what is wrong in it.

use super::pattern::{Kind, Pattern};
use super::{Origin, Rule, Rules};
use crate::identity::{Asks, Setting};
use fairdisk_core::Contradiction;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The key of the default of weights, and the only value that it takes.
const WEIGHTS: [&str; 2] = ["weights", "io.weight"];
/// The key of rules.
const GROUP: &str = "group";
/// The key of the settings for single disks.
const DISK: &str = "disk";

/// What is wrong with a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line and the column, counted from 1; `None` if the file cannot be read.
    pub place: Option<(usize, usize)>,
    /// What is wrong and what was expected.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.place.map_or(Ok(()), |(line, column)| write!(f, ":{line}:{column}"))?;
        write!(f, ": {}", self.text)
    }
}

impl std::error::Error for Problem {}

/// The rules in the `text` of `file`.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn read(file: &Path, text: &str) -> Result<Rules, Vec<Problem>> {
    let mut reader =
        Reader { file: Arc::new(file.to_owned()), text, problems: Vec::new(), wrong: false };
    let mut rules = Rules::default();
    match DeTable::parse(text) {
        Ok(document) => reader.document(document.get_ref(), &mut rules),
        Err(error) => reader.wrong(error.span().unwrap_or(0..0), error.message()),
    }
    if reader.problems.is_empty() {
        return Ok(rules);
    }
    reader.problems.sort_by_key(|problem| problem.place);
    Err(reader.problems)
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

struct Reader<'a> {
    file: Arc<PathBuf>,
    text: &'a str,
    problems: Vec<Problem>,
    /// Whether the rule at hand has a problem.
    wrong: bool,
}

impl Reader<'_> {
    fn wrong(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.wrong = true;
        let place = Some(self.place(span.start));
        self.problems.push(Problem { file: self.file.to_path_buf(), place, text: text.into() });
    }

    /// The line and the column of a byte.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    fn document(&mut self, document: &DeTable<'_>, rules: &mut Rules) {
        for (key, value) in document {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (key, value_is) if key == WEIGHTS[0] => match value_is.as_str() {
                    Some(of) if of == WEIGHTS[1] => {
                        rules.kernel_weights = Some(self.origin(value.span()));
                    }
                    _ => self.wrong(value.span(), "`weights` can be \"io.weight\""),
                },
                (GROUP, DeValue::Array(all)) => {
                    for table in all.iter() {
                        rules.all.extend(self.rule(table));
                    }
                }
                (GROUP, _) => self.wrong(key.span(), "each rule begins with [[group]]"),
                (other, _) => {
                    let text = format!("unknown key `{other}` (known: weights, [[group]])");
                    self.wrong(key.span(), text);
                }
            }
        }
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        Origin { file: Arc::clone(&self.file), line: self.place(span.start).0 }
    }

    fn rule(&mut self, table: &Spanned<DeValue<'_>>) -> Option<Rule> {
        self.wrong = false;
        let Some(entries) = table.get_ref().as_table() else {
            self.wrong(table.span(), "each rule begins with [[group]]");
            return None;
        };
        let (mut patterns, mut settings) = (Vec::new(), Vec::new());
        for (key, value) in entries {
            let name = key.get_ref().as_ref();
            if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.key() == name) {
                patterns.extend(self.pattern(kind, value));
            } else if name == DISK {
                self.disks(value, &mut settings);
            } else if let Some(setting) = self.setting(key, value) {
                settings.push((None, setting));
            }
        }
        if patterns.len() != 1 && !self.wrong {
            let text = "a rule has one of match, unit, pod and container";
            self.wrong(table.span(), text);
        }
        // As they are listed everywhere.
        settings.sort_by_key(|(_, setting)| Setting::keys().position(|key| key == setting.key()));
        self.agree(table, &settings);
        let pattern = patterns.pop().filter(|_| !self.wrong)?;
        Some(Rule { pattern, settings, origin: self.origin(table.span()) })
    }

    /// The settings that hold for single disks.
    fn disks(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        settings: &mut Vec<(Option<String>, Setting)>,
    ) {
        let Some(disks) = value.get_ref().as_table() else {
            return self.wrong(value.span(), "`disk` is a table, as [group.disk.sda]");
        };
        for (disk, value) in disks {
            let Some(entries) = value.get_ref().as_table() else {
                self.wrong(disk.span(), "the settings for a disk are a table, as [group.disk.sda]");
                continue;
            };
            for (key, value) in entries {
                let Some(setting) = self.setting(key, value) else { continue };
                if setting.is_of_share() {
                    let text = format!("`{}` is the same on all disks", setting.key());
                    self.wrong(key.span(), text);
                }
                settings.push((Some(disk.get_ref().to_string()), setting));
            }
        }
    }

    fn pattern(&mut self, kind: Kind, value: &Spanned<DeValue<'_>>) -> Option<Pattern> {
        let span = value.span();
        let Some(text) = value.get_ref().as_str() else {
            self.wrong(span, format!("`{}` is a pattern in quotes", kind.key()));
            return None;
        };
        match Pattern::new(kind, text) {
            Ok(pattern) => Some(pattern),
            Err((letters, why)) => {
                let at = text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at);
                // After the quote.
                self.wrong(span.start + 1 + at..span.end, why);
                None
            }
        }
    }

    fn setting(&mut self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Option<Setting> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            other => {
                let is = other.type_str();
                self.wrong(value.span(), format!("a setting is a number or a text, not a {is}"));
                return None;
            }
        };
        if Setting::named(key.get_ref()).is_none() {
            let known = Kind::ALL.map(Kind::key).into_iter().chain([DISK]).chain(Setting::keys());
            let known = known.collect::<Vec<_>>().join(", ");
            self.wrong(key.span(), format!("unknown key `{}` (known: {known})", key.get_ref()));
            return None;
        }
        Setting::of(key.get_ref(), &text)
            .map_err(|error| self.wrong(value.span(), error.to_string()))
            .ok()
    }

    /// Notes what contradicts itself on any disk.
    fn agree(&mut self, table: &Spanned<DeValue<'_>>, all: &[(Option<String>, Setting)]) {
        let disks: BTreeSet<Option<&str>> =
            all.iter().map(|(disk, _)| disk.as_deref()).chain([None]).collect();
        let has = |is: fn(&Setting) -> bool| all.iter().any(|(_, setting)| is(setting));
        let shares = has(|it| matches!(it, Setting::Weight(_)))
            && has(|it| matches!(it, Setting::Priority(_)));
        let mut why = shares.then_some(Contradiction::Shares { priority: "ioprio" });
        for disk in disks {
            let here = |of: &Option<String>| of.is_none() || of.as_deref() == disk;
            // A disk's own settings count, so they come last.
            let mut settings: Vec<_> = all.iter().filter(|(of, _)| here(of)).collect();
            settings.sort_by_key(|(of, _)| of.is_some());
            let asks = settings.iter().fold(Asks::DEFAULT, |asks, (_, it)| asks.with(*it));
            // A burst may be of a ceiling that another rule sets.
            let found = asks.qos.check(false).err();
            why = why.or(found);
        }
        if let Some(why) = why {
            self.wrong(table.span(), why.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_line_and_column() {
        for (text, place) in [
            ("weight = 3", "1:1: unknown key `weight`"),
            ("weights = \"cpu\"", "1:11: `weights` can be"),
            ("[group]\nmatch = \"/a\"", "1:2: each rule begins with [[group]]"),
            ("[[group]]\nmatch = \"/a\"\nweight = 0", "3:10: weight=0: a weight is"),
            ("[[group]]\nmatch = \"/a\"\n  wieght = 7", "3:3: unknown key `wieght`"),
            ("[[group]]\nmatch = \"/a[\"", "2:12: "),
            ("[[group]]\nmatch = 5", "2:9: `match` is a pattern"),
            ("\n[[group]]\nweight = 5", "2:1: a rule has one of match"),
            ("[[group]]\nunit = \"a\"\npod = \"b\"", "1:1: a rule has one of match"),
            ("[[group]]\nunit = \"a\"\nweight = 5\nioprio = 2", "1:1: "),
            ("[[group]]\nunit = \"a\"\nmin_iops = 5\nmax_iops = 2", "1:1: "),
            ("[[group]]\nunit = \"a\"\nmin_iops = 5\n[group.disk.sda]\nmax_iops = 2", "1:1: "),
            (
                "[[group]]\nunit = \"a\"\n[group.disk.sda]\nweight = 5",
                "4:1: `weight` is the same on all",
            ),
            ("[[group]]\nunit = \"a\"\nweight = true", "3:10: a setting is a number"),
            ("[[group]]\nmatch = \"/ä\"; weight", "2:13: "),
        ] {
            let problems = read(Path::new("f"), text).expect_err("it is wrong");
            let first = problems[0].to_string();
            assert!(first.starts_with(&format!("f:{place}")), "{text}: {first}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_named() {
        let text = "[[group]]\nmatch = \"/a\"\nweight = 0\nioprio = 9\n[[grup]]\n";
        let problems = read(Path::new("f"), text).expect_err("it is wrong");
        let lines: Vec<_> = problems.iter().filter_map(|problem| Some(problem.place?.0)).collect();
        assert_eq!(lines, [3, 4, 5]);
    }
}

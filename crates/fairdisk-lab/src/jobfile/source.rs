//! From text to sections and settings: lines, comments and includes.
//!
//! The rules are those of fio, tested with fio 3.33: a comment starts at the first `;` or `#`
//! wherever it is; `include FILE` is allowed only inside a section, and the included file has no
//! sections; key and value are separated by the first `=`; blanks after the `=` belong to the
//! value.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, ErrorKind, Place, Problems};
use super::note::Notes;
use super::variables::{self, Context};
use crate::letter::is_unseen;

/// The deepest nesting of includes; deeper nesting is a mistake.
const INCLUDE_DEPTH_MAX: usize = 16;
/// The most includes in total, since each file may include several.
const INCLUDES_MAX: usize = 1000;
/// The total size of all included files, in bytes.
const INCLUDED_BYTES_MAX: usize = 16 << 20;

/// A job file as written, with variables expanded and not yet interpreted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// The sections in file order.
    pub sections: Vec<Section>,
    /// The first line, for errors without a line of their own.
    pub(super) start: Place,
    /// Notes on the text itself.
    pub(super) notes: Notes,
}

/// A `[section]` and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name between the brackets.
    pub name: String,
    /// The line of the brackets.
    pub place: Place,
    /// The settings in file order, with included ones at the place of the include.
    pub settings: Vec<Setting>,
}

impl Section {
    /// Whether the section sets defaults for later jobs instead of being a job.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.name == "global"
    }
}

/// A `key=value` line, or a key without a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key as written.
    pub key: String,
    /// The value; `None` without an `=`.
    pub value: Option<String>,
    /// The line of the setting.
    pub place: Place,
    /// Variables in the value that are not set and were replaced by nothing.
    pub unset: Vec<String>,
}

impl JobFile {
    /// Parses the text of a job file. `name` is the path that messages show and that includes are
    /// relative to.
    ///
    /// # Errors
    /// Returns every line that cannot be parsed.
    pub fn parse(name: &str, text: &str, context: &Context<'_>) -> Result<Self, Problems> {
        let mut reader = Reader {
            context,
            sections: vec![],
            names: HashSet::new(),
            notes: Notes::default(),
            wrong: vec![],
            includes: 0,
            included_bytes: 0,
        };
        reader.file(&Source { name: name.into(), chain: vec![PathBuf::from(name)] }, text);
        match Problems::from_list(reader.wrong) {
            Some(problems) => Err(problems),
            None => Ok(Self {
                sections: reader.sections,
                start: Place { file: name.into(), line: 1 },
                notes: reader.notes,
            }),
        }
    }
}

/// A file being parsed, and the files that led to it.
struct Source {
    name: Arc<str>,
    chain: Vec<PathBuf>,
}

impl Source {
    fn is_included(&self) -> bool {
        self.chain.len() > 1
    }

    /// The path named by an include, relative to this file.
    fn path_of(&self, written: &str) -> PathBuf {
        let here = self.chain.last().and_then(|path| path.parent());
        here.map_or_else(|| PathBuf::from(written), |folder| folder.join(written))
    }
}

struct Reader<'a> {
    context: &'a Context<'a>,
    sections: Vec<Section>,
    /// The names of the sections.
    names: HashSet<String>,
    notes: Notes,
    wrong: Vec<Error>,
    /// How many files were included, and their total size.
    includes: usize,
    included_bytes: usize,
}

impl Reader<'_> {
    fn file(&mut self, source: &Source, text: &str) {
        for (index, raw) in text.lines().enumerate() {
            let place = Place { file: source.name.clone(), line: index + 1 };
            let line = raw.split([';', '#']).next().unwrap_or_default().trim();
            let read = match odd(raw, line) {
                Some(remedy) => {
                    Err(ErrorKind::OddLine { line: printable(raw), remedy: remedy.to_owned() })
                }
                None => self.line(source, line, &place),
            };
            if let Err(kind) = read {
                let every = begins_with_mark(raw)
                    || matches!(
                        kind,
                        ErrorKind::OutsideSection { .. } | ErrorKind::TooManyIncludes { .. }
                    );
                self.wrong.push(Error { place, kind });
                if every {
                    return; // Every further line would only repeat it.
                }
            }
        }
    }

    fn line(&mut self, source: &Source, line: &str, place: &Place) -> Result<(), ErrorKind> {
        match line.strip_prefix("include ") {
            _ if line.is_empty() => Ok(()),
            _ if line.starts_with('[') => self.section(source, line, place),
            Some(path) => self.include(source, path, place),
            None => self.setting(line, place),
        }
    }

    fn section(&mut self, source: &Source, line: &str, place: &Place) -> Result<(), ErrorKind> {
        if source.is_included() {
            return Err(ErrorKind::IncludedSection { line: line.to_owned() });
        }
        let inner = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let name = inner.unwrap_or_default().trim();
        // An odd section still counts as one; otherwise all its lines would be outside of any
        // section.
        self.name_notes(name, place);
        self.names.insert(name.to_owned());
        let settings = Vec::new();
        self.sections.push(Section { name: name.to_owned(), place: place.clone(), settings });
        let remedy = match (inner, name) {
            (None, _) if !line.contains(']') => "the `]` is missing; a section is one `[name]`",
            (None, _) => "a section is one `[name]` with nothing behind it",
            (_, "") => "a job needs a name; write one between the brackets",
            _ => return Ok(()),
        };
        Err(ErrorKind::OddLine { line: line.to_owned(), remedy: remedy.to_owned() })
    }

    /// Notes on section names that are allowed but hardly intended.
    fn name_notes(&mut self, name: &str, place: &Place) {
        if name != "global" && name.eq_ignore_ascii_case("global") {
            self.notes.add(place, name, "a job, as in fio; defaults stand in `[global]`");
        } else if name != "global" && self.names.contains(name) {
            let text = "another job of this name; as in fio they share their files";
            self.notes.add(place, name, text);
        }
    }

    fn include(&mut self, source: &Source, written: &str, place: &Place) -> Result<(), ErrorKind> {
        if self.sections.is_empty() {
            return Err(ErrorKind::OutsideSection { line: format!("include {written}") });
        }
        let path = source.path_of(written);
        let shown = || path.display().to_string();
        if source.chain.contains(&path) {
            return Err(ErrorKind::IncludeCycle { path: shown() });
        }
        self.includes += 1;
        if source.chain.len() >= INCLUDE_DEPTH_MAX || self.includes > INCLUDES_MAX {
            return Err(ErrorKind::TooManyIncludes { path: shown() });
        }
        let text = self.read(&path)?;
        self.included_bytes += text.len();
        if self.included_bytes > INCLUDED_BYTES_MAX {
            return Err(ErrorKind::TooManyIncludes { path: shown() });
        }
        let mut chain = source.chain.clone();
        chain.push(path);
        let name =
            chain.last().map_or_else(|| place.file.clone(), |p| p.display().to_string().into());
        self.file(&Source { name, chain }, &text);
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<String, ErrorKind> {
        (self.context.read)(path).map_err(|reason| ErrorKind::Unreadable {
            path: path.display().to_string(),
            reason: reason.to_string(),
        })
    }

    fn setting(&mut self, line: &str, place: &Place) -> Result<(), ErrorKind> {
        let expanded = variables::expand(line, self.context);
        let (key, value) = match expanded.text.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(value)),
            None => (expanded.text.as_str(), None),
        };
        let section = self.sections.last_mut();
        let section = section.ok_or_else(|| ErrorKind::OutsideSection { line: line.to_owned() })?;
        for variable in &expanded.unset {
            if value.is_some_and(|value| value.trim().is_empty()) {
                return Err(ErrorKind::UnsetVariable {
                    key: key.to_owned(),
                    variable: variable.clone(),
                });
            }
            self.notes.add(
                place,
                key,
                format!("the variable `{variable}` is not set and read as nothing"),
            );
        }
        let value = value.map(|value| worked_out(key, value, self.context)).transpose()?;
        let (key, unset) = (key.to_owned(), expanded.unset);
        section.settings.push(Setting { key, value, place: place.clone(), unset });
        Ok(())
    }
}

fn worked_out(key: &str, value: &str, context: &Context<'_>) -> Result<String, ErrorKind> {
    variables::keywords(value, context.machine).ok_or_else(|| ErrorKind::UnsupportedValue {
        key: key.to_owned(),
        value: value.to_owned(),
        remedy:
            "beside `$pagesize`, `$mb_memory` or `$ncpus` only whole numbers, `+ - * / % ^` and \
                 parentheses can be worked out"
                .to_owned(),
    })
}

/// What is wrong with a line before it is parsed as a section or a setting: fio would read it in a
/// way that cannot be intended, or refuse it with a less helpful message.
fn odd(raw: &str, line: &str) -> Option<&'static str> {
    let open = line.rsplit_once("${").is_some_and(|(_, rest)| !rest.contains('}'));
    Some(match line {
        _ if begins_with_mark(raw) => "the file begins with a byte order mark; save it without one",
        _ if line.contains('\0') => "a NUL character, as UTF-16 has them; save the file as UTF-8",
        _ if line.contains('\t') => "a tab within the line; remove it",
        _ if line.contains(char::is_control) => "a control character; remove it",
        _ if line.contains(is_unseen) => "a character that is not seen; remove it",
        _ if line.starts_with("//") => "a comment begins with `;` or `#`",
        _ if line == "include" || line.starts_with("include=") => {
            "write `include`, a blank and the name of the file"
        }
        _ if open => "the `}` of `${` is missing",
        _ => return None,
    })
}

fn begins_with_mark(line: &str) -> bool {
    line.starts_with('\u{feff}')
}

fn printable(line: &str) -> String {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect()
}

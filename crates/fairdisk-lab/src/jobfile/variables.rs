//! What a job file may ask of its environment: variables, properties of the machine, and other
//! files.

use std::io;
use std::path::Path;

use super::expression;

/// The environment as the parser sees it. Nothing is read globally, so the same text and the same
/// context yield the same jobs on every machine.
pub struct Context<'a> {
    /// Looks up the variable `${NAME}`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Reads an included file.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// The values of `$pagesize`, `$mb_memory` and `$ncpus`.
    pub machine: Machine,
}

/// The machine to which fio's keywords refer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// The value of `$pagesize`.
    pub page_bytes: u64,
    /// The value of `$mb_memory`.
    pub memory_mib: u64,
    /// The value of `$ncpus`.
    pub cpus: u64,
}

impl Default for Machine {
    /// A small machine, the same everywhere.
    fn default() -> Self {
        Self { page_bytes: 4096, memory_mib: 4096, cpus: 4 }
    }
}

impl Context<'static> {
    /// A context without variables and without other files.
    #[must_use]
    pub fn closed() -> Self {
        Self {
            variable: &|_| None,
            read: &|_| Err(io::Error::new(io::ErrorKind::NotFound, "includes are closed here")),
            machine: Machine::default(),
        }
    }
}

/// A text with every `${NAME}` replaced; names that are not set are replaced by nothing, as in fio.
pub(super) struct Expanded {
    pub(super) text: String,
    pub(super) unset: Vec<String>,
}

/// Replaces every `${NAME}` once: values of variables are not expanded again.
pub(super) fn expand(line: &str, context: &Context<'_>) -> Expanded {
    let mut out = Expanded { text: String::new(), unset: Vec::new() };
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, tail)) = after.split_once('}') else { break };
        out.text.push_str(before);
        match (context.variable)(name).filter(|value| !value.is_empty()) {
            Some(value) => out.text.push_str(&value),
            None => out.unset.push(name.to_owned()),
        }
        rest = tail;
    }
    out.text.push_str(rest);
    out
}

/// Replaces fio's keywords and evaluates the expression around them; `None` if it cannot be
/// evaluated.
///
/// fio does arithmetic only in values that contain a keyword and one of `+-*/`.
pub(super) fn keywords(value: &str, machine: Machine) -> Option<String> {
    let table = [
        ("$pagesize", machine.page_bytes),
        ("$mb_memory", machine.memory_mib),
        ("$ncpus", machine.cpus),
    ];
    let replaced = table
        .iter()
        .fold(value.to_owned(), |text, (word, number)| text.replace(word, &number.to_string()));
    if replaced == value || !replaced.contains(['+', '-', '*', '/']) {
        return Some(replaced);
    }
    expression::evaluate(&replaced).map(|sum| sum.to_string())
}

//! What is wrong with a load, its file or the options about it; the parts by which programs can
//! tell, beside the message for people.

use crate::catalog::error::{CatalogError, Fault, Where};
use crate::jobfile::{ErrorKind, Problems};
use std::fmt;

/// Why a load cannot be planned. Formats as the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecError {
    /// The message, with the place first.
    pub message: String,
    /// The file, if it is in one.
    pub file: Option<String>,
    /// The line of the file, counted from 1, if it is about one.
    pub line: Option<usize>,
    /// The key or the option.
    pub key: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl SpecError {
    /// A fault of a whole file; `fault` does not name it.
    pub(super) fn of_file(path: &str, fault: String) -> Self {
        CatalogError::file(path, fault).into()
    }

    /// A fault without a place in a file.
    #[must_use]
    pub fn new(message: String) -> Self {
        Self { remedy: remedy(&message), key: quoted(&message), message, ..Self::default() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpecError {}

impl From<CatalogError> for SpecError {
    fn from(error: CatalogError) -> Self {
        let fault = error.fault.to_string();
        let (file, line) = match &error.place {
            Where::File { path, line } => (Some(path.clone()), *line),
            _ => (None, None),
        };
        let of_place = match &error.place {
            Where::Option(option) => Some(option.clone()),
            Where::Change { change, .. } => {
                Some(change.split_once('=').map_or(&**change, |(key, _)| key).to_owned())
            }
            _ => None,
        };
        let of_fault = match &error.fault {
            Fault::MissingKey { key, .. }
            | Fault::NotWhole { key, .. }
            | Fault::NotAllowed { key, .. } => Some(key.clone()),
            _ => quoted(&fault),
        };
        let key = of_place.or(of_fault);
        Self { message: error.to_string(), file, line, key, remedy: remedy(&fault) }
    }
}

impl From<Problems> for SpecError {
    /// The place is that of the first problem; the message tells all of them.
    fn from(problems: Problems) -> Self {
        let message = problems.to_string();
        let Some(first) = problems.errors().first() else { return Self::new(message) };
        let key = match &first.kind {
            ErrorKind::UnknownKey { key, .. }
            | ErrorKind::UnsupportedKey { key, .. }
            | ErrorKind::MissingValue { key, .. }
            | ErrorKind::BadValue { key, .. }
            | ErrorKind::UnsupportedValue { key, .. }
            | ErrorKind::UnsetVariable { key, .. } => Some(key.clone()),
            ErrorKind::KeyOfOtherEngine { key, .. } => Some((*key).to_owned()),
            _ => None,
        };
        let (file, line) = (Some(first.place.file.to_string()), Some(first.place.line));
        Self { message, file, line, key, remedy: remedy(&first.kind.to_string()) }
    }
}

/// The first name in backquotes, without a value.
fn quoted(fault: &str) -> Option<String> {
    let name = fault.split('`').nth(1)?;
    Some(name.split('=').next().unwrap_or(name).to_owned())
}

/// The part of a message that says what to do: messages end with it, after a semicolon or a word
/// that introduces it.
fn remedy(fault: &str) -> Option<String> {
    let introduced =
        ["expected ", "allowed: ", "did you mean "].iter().filter_map(|word| fault.find(word));
    let after_semicolon = fault.find("; ").map(|at| at + 2);
    let at = introduced.chain(after_semicolon).min()?;
    Some(fault[at..].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use crate::plan::Options;
    use crate::spec::{SpecError, load, load_text};

    fn told(error: &SpecError) -> (Option<&str>, Option<usize>, Option<&str>) {
        (error.file.as_deref(), error.line, error.key.as_deref())
    }

    #[test]
    fn a_fault_of_a_job_file_names_file_line_key_and_remedy() {
        let text = "[a]\nrw=randread\nsize=1m\nioengin=sync\n";
        let error = load_text("job.fio", text, &Options::default()).expect_err("a misspelt key");
        assert_eq!(told(&error), (Some("job.fio"), Some(4), Some("ioengin")));
        assert!(error.remedy.is_some_and(|remedy| remedy.contains("ioengine")));
    }

    #[test]
    fn a_fault_of_an_experiment_names_file_line_key_and_remedy() {
        let text = "id = \"x\"\ntitle = \"x\"\nquestion = \"?\"\nduration_s = \"long\"\n[[row]]\n";
        let error = load_text("x.toml", text, &Options::default()).expect_err("no duration");
        assert_eq!(told(&error), (Some("x.toml"), Some(4), Some("duration_s")));
        assert_eq!(error.remedy.as_deref(), Some("expected a number, not the text \"long\""));
    }

    #[test]
    fn a_fault_of_an_option_names_it() {
        let options = Options { device: Some("nvm".to_owned()), ..Options::default() };
        let error = load("two-groups", &options).expect_err("no such device");
        assert_eq!(error.key.as_deref(), Some("nvm"));
        assert!(error.remedy.is_some_and(|remedy| remedy.starts_with("did you mean `nvme`?")));
    }
}

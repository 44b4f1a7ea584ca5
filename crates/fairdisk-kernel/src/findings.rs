//! Findings: a setting, why it does nothing or something else, and the command that mends it.

use crate::cause::Cause;
use serde::Serialize;

/// How much of a setting is in force. The worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing of it.
    DoesNothing,
    /// It does something else than it says.
    DoesSomethingElse,
    /// A part of it.
    DoesAPart,
    /// All of it; but who expects more than that is wrong.
    Note,
}

impl Severity {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::DoesNothing => "does nothing",
            Self::DoesSomethingElse => "does something else",
            Self::DoesAPart => "does only a part",
            Self::Note => "note",
        }
    }
}

/// A file and the value in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The value that it has.
    pub value: String,
}

impl Place {
    pub(crate) fn new(file: impl Into<String>, value: impl Into<String>) -> Self {
        Self { file: file.into(), value: value.into() }
    }
}

/// A setting that does not do as it says, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// How much of it is in force.
    pub severity: Severity,
    /// Why.
    #[serde(flatten)]
    pub cause: Cause,
    /// The cause in words.
    pub text: String,
    /// Where the settings are.
    pub places: Vec<Place>,
    /// Commands that mend it; any one of them, unless they belong together.
    pub mend: Vec<String>,
}

impl Finding {
    pub(crate) fn new(cause: Cause, places: Vec<Place>) -> Self {
        let (severity, text, mend) = (cause.severity(), cause.words(), cause.mend());
        Self { severity, cause, text, places, mend }
    }

    /// Whether something must be mended.
    pub fn is_fault(&self) -> bool {
        self.severity != Severity::Note
    }
}

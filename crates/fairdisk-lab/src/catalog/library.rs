//! The library of catalogue files: the built-in ones, and any path to a `.toml` file.

use super::allowed::Wrong;
use super::error::{CatalogError, Fault, unknown, unknown_beside};
use crate::looks::Looks;
use crate::text_file;
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// The built-in files: kind, id and text.
const EMBEDDED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// The kinds of catalogue files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A device.
    Device,
    /// A host.
    Host,
    /// A scheduler revision.
    Revision,
    /// An experiment.
    Experiment,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Device, Self::Host, Self::Revision, Self::Experiment];

    const fn folder(self) -> &'static str {
        match self {
            Self::Device => "devices",
            Self::Host => "hosts",
            Self::Revision => "revisions",
            Self::Experiment => "experiments",
        }
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
            Self::Revision => "scheduler",
            Self::Experiment => "experiment",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Device => "a device",
            Self::Host => "a host",
            Self::Revision => "a scheduler",
            Self::Experiment => "an experiment",
        }
    }

    /// The ids of the built-in files, in order.
    pub fn ids(self) -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().filter(move |entry| entry.0 == self.folder()).map(|entry| entry.1)
    }

    /// The name under which the catalogue has what is called `name`: that itself, unless others
    /// call it so.
    #[must_use]
    pub fn own_name(self, name: &str) -> &str {
        let mut others = OTHER_NAMES.iter().filter(|_| self == Self::Revision);
        others.find(|(other, _)| *other == name).map_or(name, |(_, id)| id)
    }

    /// What others call an entry of the catalogue.
    pub fn other_names(self, id: &str) -> impl Iterator<Item = &'static str> {
        let others =
            OTHER_NAMES.iter().filter(move |(_, own)| self == Self::Revision && *own == id);
        others.map(|(other, _)| *other)
    }
}

/// The name and text of a catalogue file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file's id: its file name without `.toml`.
    pub id: String,
    /// The file's path, for messages.
    pub path: String,
    /// The text to parse.
    pub text: Cow<'static, str>,
    /// The text in the file if `text` is derived from it. Line numbers in messages refer to this
    /// text.
    pub written: Option<Cow<'static, str>>,
}

impl Document {
    /// This file with derived text.
    #[must_use]
    pub fn derived(self, text: String) -> Self {
        let written = self.written.or(Some(self.text));
        Self { text: text.into(), written, ..self }
    }
}

/// Checks a file's `id`. Its name in results is that of the file, so that a copy of a file needs no
/// other `id`. The error is the key and what is wrong.
pub(super) fn check_id(id: &str) -> Result<(), Wrong> {
    super::text::check_line("id", id)
}

/// Whether `name` is the path of a file rather than an id of the catalogue.
#[must_use]
pub fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The path of the file that a file at `path` calls `name`; a path in a file is relative to that
/// file.
pub(super) fn beside(path: &str, name: &str) -> String {
    match Path::new(path).parent() {
        Some(folder) if is_path(name) => folder.join(name).to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

/// Finds the file with the given name: an id of the catalogue, or a path ending in `.toml`.
///
/// # Errors
/// Returns an error if there is no such id, with the nearest one, or if the file cannot be read.
pub fn find(kind: Kind, name: &str) -> Result<Document, CatalogError> {
    let file = Path::new(name);
    if is_path(name) {
        let text = text_file::read(file).map_err(|error| {
            let fault = format!("cannot be read: {error}{}", built_in(kind, file));
            CatalogError::file(name, fault)
        })?;
        demand_look(kind, name, &text)?;
        let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Document { id, path: name.to_owned(), text: text.into(), written: None });
    }
    let name = kind.own_name(name);
    let entry = EMBEDDED.iter().find(|entry| entry.0 == kind.folder() && entry.1 == name);
    let Some((folder, id, text)) = entry else {
        return Err(CatalogError::unstated(Fault::UnknownName(not_found(kind, name))));
    };
    Ok(Document {
        id: (*id).to_owned(),
        path: format!("catalog/{folder}/{id}.toml"),
        text: Cow::Borrowed(text),
        written: None,
    })
}

/// Checks that the text called `name` does not look like something else than an experiment.
///
/// # Errors
/// Returns what it looks like.
pub fn demand_experiment(name: &str, text: &str) -> Result<(), CatalogError> {
    demand_look(Kind::Experiment, name, text)
}

fn demand_look(kind: Kind, name: &str, text: &str) -> Result<(), CatalogError> {
    let Some(looks) = Looks::of(text).filter(|looks| *looks != Looks::Catalog(kind)) else {
        return Ok(());
    };
    let message = format!("{}; expected {}", looks.words(), kind.words());
    Err(CatalogError::file(name, message))
}

/// The scheduler of the catalogue that a mount runs under the name of another, or of none: as
/// `NAME` it runs `mount-NAME`.
#[must_use]
pub fn under_mounts(name: &str) -> Option<&'static str> {
    Kind::Revision.ids().find(|id| id.strip_prefix("mount-") == Some(name))
}

/// What others call schedulers of the catalogue, as /sys/block/DISK/queue/scheduler does.
const OTHER_NAMES: [(&str, &str); 1] = [("none", "noop")];

/// A hint for a missing file if its name without `.toml` is that of a built-in one.
fn built_in(kind: Kind, file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default();
    match kind.ids().find(|id| !file.exists() && name == *id) {
        Some(id) => format!("; the built-in {} is called `{id}`", kind.noun()),
        None => String::new(),
    }
}

/// Why `name` was not found: usually it is misspelt, but it may be a directory or another file.
fn not_found(kind: Kind, name: &str) -> String {
    let noun = kind.noun();
    // An experiment may also be given as a job file.
    let files = if kind == Kind::Experiment { "a .toml or job file" } else { "a .toml file" };
    match fs::metadata(name) {
        Ok(found) if found.is_dir() => {
            format!("{name} is a directory; expected {files} or the name of a built-in {noun}")
        }
        Ok(_) => format!("{name} is not {files}; if it is one, give it that ending"),
        Err(error) if name.contains('/') => {
            format!("{name}: {error}; expected {files} or the name of a built-in {noun}")
        }
        Err(_) => match Kind::ALL.iter().find(|other| other.ids().any(|id| id == name)) {
            Some(other) => format!("`{name}` is {}; expected {}", other.words(), kind.words()),
            None => not_in_catalogue(kind, name),
        },
    }
}

fn not_in_catalogue(kind: Kind, name: &str) -> String {
    let (noun, known) = (kind.noun(), kind.ids().collect::<Vec<_>>());
    if kind != Kind::Revision {
        return unknown(noun, name, &known);
    }
    let name_in_lower_case = name.to_lowercase();
    let Some(id) = under_mounts(&name_in_lower_case) else { return unknown(noun, name, &known) };
    let near = format!("`{id}`, which is what mounts run as `{name_in_lower_case}`");
    unknown_beside(noun, name, Some(near), &known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_says_the_id_by_which_it_is_found() {
        for (folder, id, text) in EMBEDDED {
            assert!(text.contains(&format!("id = \"{id}\"\n")), "catalog/{folder}/{id}.toml");
        }
    }

    #[test]
    fn names_of_the_kernel_are_understood() {
        let hint = |name: &str| find(Kind::Revision, name).expect_err(name).to_string();
        assert_eq!(find(Kind::Revision, "none").expect("that is noop").id, "noop");
        assert_eq!(Kind::Revision.other_names("noop").collect::<Vec<_>>(), ["none"]);
        assert_eq!(Kind::Device.own_name("none"), "none", "only schedulers have other names");
        for name in ["CFQ", "cfq", "Cfq"] {
            let said = hint(name);
            assert!(said.contains("`mount-cfq`, which is what mounts run as `cfq`?"), "{said}");
        }
        assert!(hint("bfg").contains("did you mean `bfq`?"));
    }
}

//! Recognition of files, to help a user who names a file where another kind is expected.

use crate::catalog::library::Kind;
use toml::{Table, Value};

/// A kind of file that users have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// A file of the catalogue.
    Catalog(Kind),
    /// A fio job file.
    JobFile,
    /// The output of `--json`.
    Results,
    /// A recording of I/Os.
    Trace,
}

impl Looks {
    /// The kind of file that a text is, if it is clear.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if let Ok(file) = text.parse::<Table>() {
            return kind(&file).map(Self::Catalog);
        }
        let mut lines = text.lines().map(str::trim);
        let first = lines.clone().find(|line| !line.is_empty()).unwrap_or_default();
        let is_job_key = |line: &str| {
            line.split_once('=').is_some_and(|(key, _)| JOB_KEYS.contains(&key.trim_end()))
        };
        match first {
            first if first.starts_with("fio version ") => Some(Self::Trace),
            first if first.starts_with('{') => Some(Self::Results),
            _ => lines.any(is_job_key).then_some(Self::JobFile),
        }
    }

    /// What the file looks like, and which command accepts it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Catalog(Kind::Device) => "looks like a device, which --device takes",
            Self::Catalog(Kind::Host) => "looks like a host, which `host` in an experiment names",
            Self::Catalog(Kind::Revision) => "looks like a scheduler, which --scheduler takes",
            Self::Catalog(Kind::Experiment) => {
                "looks like an experiment, which run, compare and advise take, as a .toml file"
            }
            Self::JobFile => {
                "looks like a fio job file, which run, compare and advise take if it does not end \
                 in .toml"
            }
            Self::Results => {
                "looks like results in JSON, which no command takes; name what was run"
            }
            Self::Trace => {
                "looks like a trace of I/Os, which `fairdisk trace` shows and `fairdisk run` replays"
            }
        }
    }
}

/// Keys of which most job files have one, and files of the catalogue none.
const JOB_KEYS: &[&str] = &["rw", "readwrite", "bs", "ioengine", "iodepth", "numjobs", "filename"];

/// The kind of catalogue file that has such keys.
fn kind(file: &Table) -> Option<Kind> {
    let is_list = |key: &str| file.get(key).is_some_and(Value::is_array);
    let is_text = |key: &str| file.get(key).is_some_and(Value::is_str);
    match file {
        _ if ["row", "arm", "volume"].into_iter().any(is_list) => Some(Kind::Experiment),
        _ if is_text("family") => Some(Kind::Revision),
        _ if is_text("kind") => Some(Kind::Device),
        _ if file.contains_key("hz") && file.contains_key("turnaround_us") => Some(Kind::Host),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::library::find;

    #[test]
    fn files_of_the_catalogue_look_like_what_they_are() {
        for kind in Kind::ALL {
            for id in kind.ids() {
                let text = find(kind, id).unwrap_or_else(|error| panic!("{error}")).text;
                let inherits = text.lines().any(|line| line.starts_with("inherits"));
                let looks = Looks::of(&text);
                let is_so = looks == Some(Looks::Catalog(kind)) || inherits && looks.is_none();
                assert!(is_so, "{id}: {looks:?}");
            }
        }
    }

    #[test]
    fn other_files_look_like_what_they_are() {
        let jobs = "; words\n[global]\nrw=randread\n[a]\nsize=1m\n";
        assert_eq!(Looks::of(jobs), Some(Looks::JobFile));
        assert_eq!(Looks::of("[row]\nsize=1\n"), None, "a job of that name");
        assert_eq!(Looks::of("{\n  \"schema\": 1\n}\n"), Some(Looks::Results));
        assert_eq!(Looks::of("fio version 2 iolog\n/dev/sda add\n"), Some(Looks::Trace));
        assert_eq!([Looks::of(""), Looks::of("Dear diary\n")], [None, None]);
    }
}

//! Command lines of fio, as people post them: `fio --name=x --rw=randread ...`.
//!
//! As in fio, options before the first `--name` are for all jobs, and each `--name` begins a job.
//! `--key=value`, `--key value` and `-key=value` are the same.

use super::draft::Draft;
use super::error::{Error, ErrorKind, Place, Problems};
use super::keys::{self, Does};
use super::note::Notes;
use super::setting::Given;
use super::source::{JobFile, Section, Setting};
use super::value::KbBase;
use std::path::Path;
use std::sync::Arc;

/// What a message says a word of a command line is in.
const FILE: &str = "command line";

/// An option of fio itself, not of a job.
struct Own {
    name: &'static str,
    takes_value: bool,
    /// Why the command cannot be run with it; without, the option changes nothing of the jobs.
    refused: Option<&'static str>,
}

const fn harmless(name: &'static str, takes_value: bool) -> Own {
    Own { name, takes_value, refused: None }
}

const fn refused(name: &'static str, takes_value: bool, why: &'static str) -> Own {
    Own { name, takes_value, refused: Some(why) }
}

const REMOTE: &str = "no remote fio is used; remove it";
const NO_RUN: &str = "with it fio runs no job; remove it";

/// The options of fio 3.33 that are no keys of jobs.
const OWN: &[Own] = &[
    harmless("debug", true),
    harmless("output", true),
    harmless("bandwidth-log", false),
    harmless("minimal", false),
    harmless("output-format", true),
    harmless("append-terse", false),
    harmless("terse-version", true),
    harmless("eta", true),
    harmless("eta-newline", true),
    harmless("eta-interval", true),
    harmless("status-interval", true),
    harmless("alloc-size", true),
    harmless("warnings-fatal", false),
    harmless("max-jobs", true),
    harmless("idle-prof", true),
    harmless("inflate-log", true),
    harmless("aux-path", true),
    harmless("readonly", false),
    refused("parse-only", false, "print the jobs with --show-job"),
    refused("showcmd", false, "print the jobs with --show-job"),
    refused("merge-blktrace-only", false, NO_RUN),
    refused("version", false, NO_RUN),
    refused("help", false, NO_RUN),
    refused("cpuclock-test", false, NO_RUN),
    refused("crctest", false, NO_RUN),
    refused("cmdhelp", true, NO_RUN),
    refused("enghelp", true, NO_RUN),
    refused("section", true, "it chooses from a job file; name the file itself"),
    refused("server", true, REMOTE),
    refused("daemonize", true, REMOTE),
    refused("client", true, REMOTE),
    refused("remote-config", true, REMOTE),
    refused("trigger-file", true, "triggers are not run; remove it"),
    refused("trigger-timeout", true, "triggers are not run; remove it"),
    refused("trigger", true, "triggers are not run; remove it"),
    refused("trigger-remote", true, "triggers are not run; remove it"),
];

/// Whether a text is a command line of fio: its first word is `fio`, perhaps behind a prompt, a
/// path or `sudo`, and it has an option.
#[must_use]
pub fn is_fio_command(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut words = line.split_whitespace().skip_while(|word| is_before_fio(word));
    words.next().is_some_and(is_fio) && words.any(is_option)
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && !name.is_empty()
}

/// Whether fio knows a word as an option, with `-` or `--` before it.
#[must_use]
pub fn is_fio_option(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    // What has fio run nothing, such as --help, is meant for others.
    let is_harmless = || OWN.iter().any(|own| own.name == name && own.refused.is_none());
    word.starts_with('-') && (keys::find(name).is_some() || is_harmless())
}

fn is_before_fio(word: &str) -> bool {
    ["$", "%", "sudo", "time"].contains(&word)
}

fn is_fio(word: &str) -> bool {
    Path::new(word).file_name().is_some_and(|name| name == "fio")
}

impl JobFile {
    /// Parses a command line of fio, as a shell would split it.
    ///
    /// # Errors
    /// Returns every word that cannot be parsed.
    pub fn parse_command(text: &str) -> Result<Self, Problems> {
        let text = text.trim_start().trim_start_matches(['$', '%']);
        let Some(words) = shlex::split(&text.replace("\\\n", " ")) else {
            let place = place(0);
            let remedy = "a quotation mark is not closed".to_owned();
            let line = text.lines().next().unwrap_or_default().to_owned();
            return Err(Error { place, kind: ErrorKind::OddLine { line, remedy } }.into());
        };
        let begin = words.iter().position(|word| is_fio(word)).map_or(0, |at| at + 1);
        let mut reader = Reader { words: &words, at: begin, ..Reader::default() };
        while reader.at < words.len() {
            if let Err(error) = reader.word() {
                reader.wrong.push(error);
            }
        }
        match Problems::from_list(reader.wrong) {
            Some(problems) => Err(problems),
            None => Ok(Self { sections: reader.sections, start: place(0), notes: reader.notes }),
        }
    }
}

/// The place of a word, of which the first is 1.
fn place(word: usize) -> Place {
    Place { file: Arc::from(FILE), line: word + 1 }
}

#[derive(Default)]
struct Reader<'a> {
    words: &'a [String],
    at: usize,
    sections: Vec<Section>,
    notes: Notes,
    wrong: Vec<Error>,
}

impl Reader<'_> {
    /// Reads the next word, and the one behind it if that is its value.
    fn word(&mut self) -> Result<(), Error> {
        let (word, at) = (&self.words[self.at], place(self.at));
        self.at += 1;
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            let remedy = "it is no option; name a job file by itself: fairdisk run FILE";
            let (line, remedy) = (word.clone(), remedy.to_owned());
            return Err(Error { place: at, kind: ErrorKind::OddLine { line, remedy } });
        };
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        if let Some(own) = OWN.iter().find(|own| own.name == key) {
            return self.own(own, value, at);
        }
        let value = value.or_else(|| self.next_word(takes_value(key)));
        match (key, value) {
            ("name", Some(name)) => {
                let name = name.trim().to_owned();
                self.sections.push(Section { name, place: at, settings: Vec::new() });
            }
            (key, value) => {
                if self.sections.is_empty() {
                    let (name, place) = ("global".to_owned(), at.clone());
                    self.sections.push(Section { name, place, settings: Vec::new() });
                }
                let settings = self.sections.last_mut().map(|section| &mut section.settings);
                let setting = Setting { key: key.to_owned(), value, place: at, unset: Vec::new() };
                settings.into_iter().for_each(|settings| settings.push(setting.clone()));
            }
        }
        Ok(())
    }

    fn own(&mut self, own: &Own, value: Option<String>, place: Place) -> Result<(), Error> {
        let value = value.or_else(|| self.next_word(own.takes_value));
        match own.refused {
            None => {
                self.notes.add(
                    &place,
                    own.name,
                    "no effect: it is about fio itself, not about its jobs",
                );
                Ok(())
            }
            Some(why) => {
                let value = value.map_or_else(String::new, |value| format!("={value}"));
                let (line, remedy) = (format!("--{}{value}", own.name), why.to_owned());
                Err(Error { place, kind: ErrorKind::OddLine { line, remedy } })
            }
        }
    }

    /// The next word, if it is a value.
    fn next_word(&mut self, wanted: bool) -> Option<String> {
        let next = self.words.get(self.at).filter(|next| wanted && !next.starts_with("--"))?;
        self.at += 1;
        Some(next.clone())
    }
}

/// Whether a key cannot be without a value, so that the next word is that.
fn takes_value(name: &str) -> bool {
    // What an unknown key is given is no word by itself.
    let Some(key) = keys::find(name) else { return true };
    let place = place(0);
    let alone = Given { key: key.name, raw: None, place: &place, base: KbBase::default() };
    match key.does {
        Does::Set(read) => read(&mut Draft::default(), alone).is_err(),
        Does::Nothing(shape) => shape.check(alone).is_err(),
        Does::Limit(_) | Does::Refuse(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(text: &str) -> Vec<(String, String)> {
        let resolved = JobFile::parse_command(text).and_then(|file| file.resolve());
        let jobs = resolved.unwrap_or_else(|problems| panic!("{problems}")).jobs;
        jobs.into_iter().map(|job| (job.name.clone(), job.to_string())).collect()
    }

    #[test]
    fn a_posted_command_has_jobs() {
        let text = "$ sudo /usr/bin/fio --bs=8k --size 64m \\\n  --name=one -rw randread --thread \
                    --name two --rw=write --output=x.json --group_reporting";
        assert!(is_fio_command(text));
        let [(one, first), (two, second)] = &jobs(text)[..] else { panic!("two jobs") };
        assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
        for part in ["bs=8192", "rw=randread", "\nthread", "size=67108864"] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(second.contains("rw=write") && !second.contains("\nthread"), "{second}");
    }

    #[test]
    fn words_that_are_no_options_of_jobs_are_refused_by_their_place() {
        let refused = |text| JobFile::parse_command(text).unwrap_err().to_string();
        assert!(
            refused("fio jobs.fio --minimal")
                .contains("command line:2: `jobs.fio`: it is no option")
        );
        assert!(refused("fio --client=box --name=x").contains("`--client=box`: no remote"));
        assert!(refused("fio --name='x").contains("a quotation mark"));
        let unknown = JobFile::parse_command("fio --name=x --size=1m --sizes=1m").unwrap();
        let unknown = unknown.resolve().unwrap_err().to_string();
        assert!(unknown.contains("command line:4: unknown key `sizes`"), "{unknown}");
        assert!(!is_fio_command("# fio --minimal x.fio\n[a]\nrw=read"));
        assert!(!is_fio_command("fio version 2 iolog") && !is_fio_command("[fio]\nrw=read"));
    }
}

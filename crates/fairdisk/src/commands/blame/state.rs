//! The file of `--resume`: one line per finished run, so that an interrupted investigation can
//! continue.
//!
//! Each run carries a hash of its question: the program, both sides, the load and the metric. Runs
//! of other questions may be in the same file; they are ignored and preserved.

use crate::failure::Failure;
use fairdisk_lab::blame::{FactorSet, Sample};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The open `--resume` file of one investigation.
pub(super) struct State {
    file: Mutex<File>,
    question: String,
}

/// An earlier run: its mixture, its seed and its result.
type Known = (FactorSet, u32, Sample);

impl State {
    /// Opens or creates the file. Returns the runs in it that belong to the same question.
    ///
    /// # Errors
    /// The file cannot be read or written, or `--resume` did not make it.
    pub(super) fn open(path: &Path, identity: &str) -> Result<(Vec<Known>, Self), Failure> {
        let shown = path.display();
        let bad = |error: io::Error| Failure::BadInput(format!("--resume {shown}: {error}"));
        if path.as_os_str() == "-" {
            let message = "runs are kept in a file; expected its name, as in runs.jsonl";
            return Err(Failure::BadInput(format!("--resume {shown}: {message}")));
        }
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            let message = "no regular file; give one that --resume made, or a new name";
            return Err(Failure::BadInput(format!("--resume {shown}: {message}")));
        }
        let question = question(identity).map_err(bad)?;
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(bad)?,
        };
        let mut known = Vec::new();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let (lines, tail) = text.split_at(whole);
        let no_run = |at: usize| {
            let message = "is no run; expected a file that --resume made, or a new name";
            Failure::BadInput(format!("{shown}:{}: {message}", at + 1))
        };
        for (at, line) in lines.lines().enumerate() {
            let (asked, run) = read(line).ok_or_else(|| no_run(at))?;
            if asked == question {
                known.push(run);
            }
        }
        if !may_be_cut_off(tail) {
            return Err(no_run(lines.lines().count()));
        }
        let file = File::options().create(true).append(true).open(path).map_err(bad)?;
        // Removes a last line that was incomplete because the program was killed.
        file.set_len(whole as u64).map_err(bad)?;
        Ok((known, Self { file: Mutex::new(file), question }))
    }

    /// Appends a run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn keep(&self, set: FactorSet, seed: u32, sample: Sample) -> io::Result<()> {
        let line = json!({
            "question": self.question,
            "mixture": set.to_string(),
            "seed": seed,
            // As text, since a JSON reader may not preserve the last bit of a floating-point
            // number.
            "value": sample.value.to_string(),
            "trace": sample.trace.map(|trace| format!("{trace:016x}")),
        });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// The hash of a question, over the executable of this program and `identity`.
fn question(identity: &str) -> io::Result<String> {
    let mut hash = DefaultHasher::new();
    fs::read(std::env::current_exe()?)?.hash(&mut hash);
    identity.hash(&mut hash);
    Ok(format!("{:016x}", hash.finish()))
}

/// The first characters of each line. The keys of JSON objects are sorted.
const LINE_BEGINS: &str = "{\"mixture\":\"";

/// Whether `tail` may be the beginning of a line, left by a program killed while writing.
fn may_be_cut_off(tail: &str) -> bool {
    let common = tail.len().min(LINE_BEGINS.len());
    tail.as_bytes()[..common] == LINE_BEGINS.as_bytes()[..common]
}

/// Parses a line into the hash of its question and its run.
fn read(line: &str) -> Option<(String, Known)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let set = FactorSet::parse(value["mixture"].as_str()?)?;
    let seed = u32::try_from(value["seed"].as_u64()?).ok()?;
    let trace = match &value["trace"] {
        Value::Null => None,
        trace => Some(u64::from_str_radix(trace.as_str()?, 16).ok()?),
    };
    let sample = Sample { value: value["value"].as_str()?.parse().ok()?, trace };
    Some((value["question"].as_str()?.to_owned(), (set, seed, sample)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(path: &Path, identity: &str) -> usize {
        State::open(path, identity).map(|(known, _)| known.len()).expect("it opens")
    }

    #[test]
    fn runs_are_kept_for_their_question_alone_and_exactly() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let set = FactorSet::first(3);
        let sample = Sample { value: 0.1 + 0.2, trace: Some(u64::MAX) };
        let (known, state) = State::open(&path, "this").expect("it is made");
        assert!(known.is_empty());
        state.keep(set, 2, sample).expect("it is written");
        drop(state);
        let (known, _) = State::open(&path, "this").expect("it opens");
        assert_eq!(known, [(set, 2, sample)]);
        assert_eq!(runs(&path, "that"), 0);
    }

    #[test]
    fn what_a_kill_cut_off_is_forgotten_and_other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let (_, state) = State::open(&path, "this").expect("it is made");
        let sample = Sample { value: 1.0, trace: None };
        (0..3).for_each(|seed| state.keep(FactorSet::EMPTY, seed, sample).expect("written"));
        let text = fs::read_to_string(&path).expect("readable");
        fs::write(&path, &text[..text.len() - 9]).expect("writable");
        assert_eq!(runs(&path, "this"), 2);
        assert_eq!(fs::read_to_string(&path).expect("readable").lines().count(), 2);
        fs::write(&path, "something else\n").expect("writable");
        let error = State::open(&path, "this").err().expect("refused").message();
        assert!(error.contains("state:1: is no run"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "something else\n");
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone_also_without_a_newline() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("note");
        for note in ["a note", "{\"mix", "{\"question\":1}"] {
            let (_, state) = State::open(&folder.path().join("state"), "this").expect("made");
            state.keep(FactorSet::EMPTY, 0, Sample { value: 1.0, trace: None }).expect("written");
            let runs = fs::read_to_string(folder.path().join("state")).expect("readable");
            fs::write(&path, format!("{runs}{note}")).expect("writable");
            let opened = State::open(&path, "this").map(|(known, _)| known.len());
            let text = fs::read_to_string(&path).expect("readable");
            match opened {
                Ok(_) => assert_eq!((note, text), ("{\"mix", runs)),
                Err(error) => {
                    assert_eq!(text, format!("{runs}{note}"));
                    let line = runs.lines().count() + 1;
                    let message = error.message();
                    assert!(message.contains(&format!("note:{line}: is no run")), "{message}");
                }
            }
        }
    }
}

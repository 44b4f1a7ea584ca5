//! The file of `--resume`: one line per finished run, so that what was interrupted can continue.
//!
//! Each run carries a hash of its question: the program, and everything that determines its result.
//! Runs of other questions may be in the same file; they are ignored and preserved.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The open `--resume` file.
#[derive(Debug)]
pub(crate) struct KeptRuns {
    path: PathBuf,
    file: Mutex<File>,
    /// The hash of the executable of this program.
    program: u64,
    /// The error of the first run that could not be saved.
    failed: Mutex<Option<io::Error>>,
}

/// An earlier run: the hash of its question, and what is known of it.
pub(crate) type Known = (String, Value);

impl KeptRuns {
    /// Opens or creates the file. Returns the runs in it, too.
    ///
    /// # Errors
    /// The file cannot be read or written, or `--resume` did not make it.
    pub(crate) fn open(path: &Path) -> Result<(Vec<Known>, Self), Failure> {
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
        let program = program().map_err(bad)?;
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(bad)?,
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let (lines, tail) = text.split_at(whole);
        let no_run = |at: usize| {
            let message = "is no run; expected a file that --resume made, or a new name";
            Failure::BadInput(format!("{shown}:{}: {message}", at + 1))
        };
        let lines = lines.lines().enumerate();
        let known = lines.clone().map(|(at, line)| read(line).ok_or_else(|| no_run(at)));
        let known = known.collect::<Result<Vec<Known>, Failure>>()?;
        if !may_be_cut_off(tail) {
            return Err(no_run(lines.count()));
        }
        let file = File::options().create(true).append(true).open(path).map_err(bad)?;
        // Removes a last line that was incomplete because the program was killed.
        file.set_len(whole as u64).map_err(bad)?;
        let (path, file, failed) = (path.to_owned(), Mutex::new(file), Mutex::default());
        Ok((known, Self { path, file, program, failed }))
    }

    /// The hash of a question, over this program and `identity`.
    pub(crate) fn question(&self, identity: &str) -> String {
        let mut hash = DefaultHasher::new();
        self.program.hash(&mut hash);
        identity.hash(&mut hash);
        format!("{:016x}", hash.finish())
    }

    /// Appends a run of a question.
    pub(crate) fn keep(&self, question: &str, run: Value) {
        let line = json!({ "question": question, "run": run });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(error);
        }
    }

    /// Closes the file.
    ///
    /// # Errors
    /// A run could not be saved.
    pub(crate) fn close(self) -> Result<(), Failure> {
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |error| {
            let message = "not all runs were kept; make room there, or give a file elsewhere";
            let file = self.path.display();
            Err(Failure::Run(format!("--resume {file}: {error}: {message}")))
        })
    }
}

/// The hash of the executable of this program.
fn program() -> io::Result<u64> {
    let mut hash = DefaultHasher::new();
    fs::read(std::env::current_exe()?)?.hash(&mut hash);
    Ok(hash.finish())
}

/// The first characters of each line. The keys of JSON objects are sorted.
const LINE_BEGINS: &str = "{\"question\":\"";

/// Whether `tail` may be the beginning of a line, left by a program killed while writing.
fn may_be_cut_off(tail: &str) -> bool {
    let common = tail.len().min(LINE_BEGINS.len());
    tail.as_bytes()[..common] == LINE_BEGINS.as_bytes()[..common]
}

/// Parses a line into the hash of its question and its run.
fn read(line: &str) -> Option<Known> {
    let mut value: Value = serde_json::from_str(line).ok()?;
    let run = value.get_mut("run").filter(|run| run.is_object())?.take();
    Some((value["question"].as_str()?.to_owned(), run))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file with so many runs of the question `this`.
    fn with_runs(path: &Path, runs: u32) -> KeptRuns {
        let (_, kept) = KeptRuns::open(path).expect("it is made");
        let question = kept.question("this");
        (0..runs).for_each(|seed| kept.keep(&question, json!({ "seed": seed })));
        kept
    }

    fn runs(path: &Path, identity: &str) -> usize {
        let (known, kept) = KeptRuns::open(path).expect("it opens");
        let question = kept.question(identity);
        known.iter().filter(|(of, _)| *of == question).count()
    }

    #[test]
    fn runs_are_kept_for_their_question_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs");
        with_runs(&path, 2).close().expect("they are written");
        assert_eq!([runs(&path, "this"), runs(&path, "that")], [2, 0]);
        let (known, _) = KeptRuns::open(&path).expect("it opens");
        assert_eq!(known[1].1, json!({ "seed": 1 }));
    }

    #[test]
    fn what_a_kill_cut_off_is_forgotten_and_other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs");
        drop(with_runs(&path, 3));
        let text = fs::read_to_string(&path).expect("readable");
        fs::write(&path, &text[..text.len() - 9]).expect("writable");
        assert_eq!(runs(&path, "this"), 2);
        assert_eq!(fs::read_to_string(&path).expect("readable").lines().count(), 2);
        fs::write(&path, "something else\n").expect("writable");
        let error = KeptRuns::open(&path).expect_err("refused").message();
        assert!(error.contains("runs:1: is no run"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "something else\n");
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone_also_without_a_newline() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("note");
        for note in ["a note", "{\"ques", "{\"question\":1}"] {
            let other = folder.path().join("runs");
            drop(with_runs(&other, 1));
            let runs = fs::read_to_string(&other).expect("readable");
            fs::write(&path, format!("{runs}{note}")).expect("writable");
            let opened = KeptRuns::open(&path).map(|(known, _)| known.len());
            let text = fs::read_to_string(&path).expect("readable");
            match opened {
                Ok(_) => assert_eq!((note, text), ("{\"ques", runs)),
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

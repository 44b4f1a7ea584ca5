//! The options of an iozone command.

use super::command::{Word, words};
use super::tests_of::is_known;
use crate::jobfile::{Error, ErrorKind, Notes, Place, Problems};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// An iozone command, checked.
#[derive(Debug)]
pub(super) struct Options {
    /// The tests (`-i`).
    pub(super) tests: BTreeSet<u32>,
    /// Numbers of processes, a row for each (`-t`, or from `-l` to `-u`).
    pub(super) processes: Vec<u32>,
    /// The size of a file (`-s`).
    pub(super) bytes: u64,
    /// The size of a record (`-r`).
    pub(super) record_bytes: u64,
    /// The distance of records of a stride, in records (`-j`).
    pub(super) stride: u64,
    /// Around the page cache (`-I`).
    pub(super) direct: bool,
    /// Writes are durable when they return (`-o`).
    pub(super) sync: bool,
    /// Through a mapping (`-B`).
    pub(super) mapped: bool,
    /// Asynchronous I/Os in flight (`-H`, `-k`).
    pub(super) queue: Option<u64>,
    /// `fsync` is part of a write test (`-e`).
    pub(super) flushes: bool,
    /// A test goes on until all processes are done (`-x`).
    pub(super) goes_on: bool,
    /// No rewrite and reread (`-+n`).
    pub(super) no_retests: bool,
    /// Memory holds nothing of the files before each test (`-U`).
    pub(super) unmounts: bool,
    /// The report has a line for each process (`-C`).
    pub(super) lists_children: bool,
    /// The files (`-F`), at least one for each process.
    pub(super) files: Vec<File>,
    /// Options without effect.
    pub(super) notes: Notes,
}

/// A file of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    /// The number of its directory, in the order in which they are named, counted from 1.
    pub(super) disk: usize,
}

/// Options with a value.
const WITH_VALUE: &str = "itlusrjHkU+";
/// Options without one that change what is done.
const SWITCHES: &str = "IoBCDex";
/// Options that cannot change a result, and why.
const INERT: [(char, &str); 8] = [
    ('c', "no effect: closing a file takes no time here"),
    ('w', "no effect: files are there for as long as the run"),
    ('R', "no effect: results are a table, or JSON with --json"),
    ('O', "no effect: lines of iozone are in kB/sec, the table has IOPS, too"),
    ('D', "no effect: since Linux 2.6.19 msync(MS_ASYNC) does nothing"),
    ('M', "no effect: the name of the machine is not printed"),
    ('k', "as -H: whether data is copied once more is not modelled"),
    ('U', "memory is emptied of a file before each test; nothing is mounted"),
];
/// The most processes that iozone starts.
const PROCESSES_MAX: u64 = 256;
const RECORD_MAX: u64 = 16 << 20;
const FILE_MAX: u64 = 1 << 50;

/// The options as they were written.
#[derive(Default)]
struct Given {
    options: BTreeMap<String, Vec<(Word, String)>>,
    files: Vec<Word>,
    wrong: Vec<Error>,
    notes: Notes,
}

impl Options {
    /// Reads and checks a command.
    pub(super) fn of(name: &str, text: &str) -> Result<Self, Problems> {
        let (start, words) = words(name, text)?;
        let mut given = Given::read(&words);
        given.contradictions();
        let options = given.checked(&start);
        match Problems::from_list(given.wrong) {
            Some(problems) => Err(problems),
            None => Ok(options),
        }
    }
}

impl Given {
    fn read(words: &[Word]) -> Self {
        let mut given = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some(letters) = word.text.strip_prefix('-').filter(|it| !it.is_empty()) else {
                given.wrong.push(word.wrong("stands behind no option; files stand behind -F"));
                continue;
            };
            let mut rest = letters;
            while let Some(letter) = rest.chars().next() {
                rest = &rest[letter.len_utf8()..];
                let mut value = String::new();
                if letter == 'F' {
                    let first = Word { text: rest.to_owned(), place: word.place.clone() };
                    given.files.extend((!rest.is_empty()).then_some(first));
                    while let Some(file) = words.next_if(|next| !next.text.starts_with('-')) {
                        given.files.push(file.clone());
                    }
                    rest = "";
                } else if WITH_VALUE.contains(letter) {
                    value = std::mem::take(&mut rest).to_owned();
                    if value.is_empty() {
                        let next = words.next_if(|next| !next.text.starts_with('-'));
                        value = next.map_or_else(String::new, |next| next.text.clone());
                    }
                    if value.is_empty() {
                        given.wrong.push(word.wrong(format!("-{letter} needs a value behind it")));
                    }
                }
                given.option(word, letter, value);
            }
        }
        given
    }

    /// Keeps an option, or says what is wrong with it.
    fn option(&mut self, word: &Word, letter: char, value: String) {
        let name = match letter {
            '+' => format!("+{value}"),
            letter => letter.to_string(),
        };
        let note = INERT.iter().find(|(inert, _)| *inert == letter);
        if let Some((_, why)) = note {
            self.notes.add(&word.place, &format!("-{name}"), *why);
        }
        let is_own = letter == 'F' || WITH_VALUE.contains(letter) && letter != '+';
        let is_switch = SWITCHES.contains(letter) || name == "+n";
        if !is_own && !is_switch && note.is_none() {
            self.wrong.push(word.wrong(format!("-{name} is not supported; {}", remedy(&name))));
        }
        let before = self.options.entry(name.clone()).or_default();
        before.push((word.clone(), value));
        if before.len() > 1 && WITH_VALUE.contains(letter) && !"it+".contains(letter) {
            self.wrong.push(word.wrong(format!("-{name} is given twice; drop one of them")));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    /// Says which options exclude each other, or need one that is not there.
    fn contradictions(&mut self) {
        const APART: [(&str, &str, &str); 5] = [
            ("B", "I", "a mapping is always through the page cache"),
            ("B", "H", "I/O through a mapping is not asynchronous"),
            ("B", "k", "I/O through a mapping is not asynchronous"),
            ("B", "o", "stores to a mapping are not writes, which O_SYNC makes durable"),
            ("H", "k", "both are POSIX asynchronous I/O"),
        ];
        const RANGE: [(&str, &str); 2] = [("l", "u"), ("u", "l")];
        for (one, other, why) in APART {
            if self.has(one) && self.has(other) {
                self.refuse(one, format!("-{one} and -{other}: {why}; drop one of them"));
            }
        }
        for (one, other) in RANGE {
            if self.has(one) && self.has("t") {
                let why = "both say how many processes there are; drop one of them";
                return self.refuse("t", format!("-t and -{one}: {why}"));
            }
            if self.has(one) && !self.has(other) {
                self.refuse(one, format!("-{one} without -{other}; add -{other}, or drop -{one}"));
            }
        }
    }

    fn refuse(&mut self, option: &str, text: String) {
        let Some((word, _)) = self.options.get(option).and_then(|all| all.last()) else { return };
        let kind = ErrorKind::Conflict { text };
        self.wrong.push(Error { place: word.place.clone(), kind });
    }

    /// The values of an option as numbers.
    fn numbers(&mut self, name: &str, range: RangeInclusive<u64>) -> Vec<u64> {
        let given = self.options.get(name).cloned().unwrap_or_default();
        let mut number = |(word, value): &(Word, String)| {
            let number = value.parse().ok().filter(|number| range.contains(number));
            if number.is_none() && !value.is_empty() {
                let (least, most) = (range.start(), range.end());
                let remedy = format!("-{name} {value}: expected a number, {least} to {most}");
                self.wrong.push(word.wrong(remedy));
            }
            number
        };
        given.iter().filter_map(&mut number).collect()
    }

    /// The value of an option as a size: KiB without a letter, as in iozone.
    fn bytes(&mut self, name: &str, usual: u64, most: u64) -> u64 {
        let Some((word, value)) = self.options.get(name).and_then(|all| all.last()).cloned() else {
            return usual;
        };
        let shift = match value.chars().last().map(|last| last.to_ascii_lowercase()) {
            Some('m') => 20,
            Some('g') => 30,
            _ => 10,
        };
        let digits = value.trim_end_matches(|c: char| "kmgKMG".contains(c));
        let is_one = value.len() - digits.len() <= 1;
        let bytes = digits.parse::<u64>().ok().and_then(|size| size.checked_mul(1 << shift));
        match bytes.filter(|bytes| is_one && (1..=most).contains(bytes)) {
            Some(bytes) => bytes,
            None => {
                let most = most >> 20;
                let remedy = format!("-{name} {value}: expected a size to {most}m, such as 64k");
                self.wrong.push(word.wrong(remedy));
                usual
            }
        }
    }

    fn checked(&mut self, start: &Place) -> Options {
        let tests = self.tests(start);
        let processes = self.processes(start);
        let record_bytes = self.bytes("r", 4 << 10, RECORD_MAX);
        let bytes = self.bytes("s", 512 << 10, FILE_MAX);
        if bytes < record_bytes || !bytes.is_multiple_of(record_bytes) {
            let text = "a file (-s) must hold whole records (-r); change one of the two";
            let place = self.options.get("s").or_else(|| self.options.get("r"));
            let place = place.map_or(start, |all| &all[0].0.place).clone();
            self.wrong.push(Error { place, kind: ErrorKind::Conflict { text: text.into() } });
        }
        if self.has("j") && !tests.contains(&5) {
            let note = "no effect: only test 5 (-i 5) reads in strides";
            self.notes.add(start, "-j", note);
        }
        let queue = [self.numbers("H", 1..=65_536), self.numbers("k", 1..=65_536)].concat();
        let stride = self.numbers("j", 1..=1 << 20).first().copied().unwrap_or(17);
        let files = self.files(start, processes.iter().copied().max().unwrap_or(0));
        if !tests.contains(&0) {
            let note = "without -i 0 the files are those of a command before, and not in memory";
            self.notes.add(start, "-i", note);
        }
        Options {
            tests,
            processes,
            bytes,
            record_bytes,
            stride,
            direct: self.has("I"),
            sync: self.has("o"),
            mapped: self.has("B"),
            queue: queue.first().copied(),
            flushes: self.has("e"),
            goes_on: self.has("x"),
            no_retests: self.has("+n"),
            unmounts: self.has("U"),
            lists_children: self.has("C"),
            files,
            notes: self.notes.clone(),
        }
    }

    fn tests(&mut self, start: &Place) -> BTreeSet<u32> {
        let given = self.options.get("i").cloned().unwrap_or_default();
        if given.is_empty() {
            let text = "no test is named, which to iozone means all; name tests with -i, of 0, 1, \
                        2, 3, 5 and 8"
                .to_owned();
            self.wrong.push(Error { place: start.clone(), kind: ErrorKind::Conflict { text } });
        }
        let mut tests = BTreeSet::new();
        for (word, value) in given.iter().filter(|(_, value)| !value.is_empty()) {
            match value.parse().ok().filter(|number| is_known(*number)) {
                Some(number) => {
                    tests.insert(number);
                }
                None => {
                    let remedy = format!("-i {value} is not supported; use 0, 1, 2, 3, 5 or 8");
                    self.wrong.push(word.wrong(remedy));
                }
            }
        }
        tests
    }

    fn processes(&mut self, start: &Place) -> Vec<u32> {
        let mut counts = self.numbers("t", 1..=PROCESSES_MAX);
        let lower = self.numbers("l", 1..=PROCESSES_MAX).first().copied();
        let upper = self.numbers("u", 1..=PROCESSES_MAX).first().copied();
        if let Some((lower, upper)) = lower.zip(upper) {
            if lower > upper {
                self.refuse("l", format!("-l {lower} is above -u {upper}; swap them"));
            }
            counts.extend(lower..=upper);
        }
        let mut seen = BTreeSet::new();
        counts.retain(|count| seen.insert(*count));
        if !["t", "l", "u"].into_iter().any(|name| self.has(name)) {
            let text = "only the throughput mode is supported; add -t with a number of processes";
            let kind = ErrorKind::Conflict { text: text.into() };
            self.wrong.push(Error { place: start.clone(), kind });
        }
        counts.into_iter().map(|count| count as u32).collect()
    }

    /// The files, each with the number of its directory, which names the disk.
    fn files(&mut self, start: &Place, wanted: u32) -> Vec<File> {
        if !self.has("F") {
            let file = |at| File { path: format!("iozone.DUMMY.{at}"), disk: 1 };
            return (0..wanted).map(file).collect();
        }
        let words = std::mem::take(&mut self.files);
        let given = words.len();
        if given < wanted as usize {
            let text = format!(
                "-F names {given} files, and the largest number of processes is {wanted}; name one \
                 for each"
            );
            let place = self.options.get("F").map_or(start, |all| &all[0].0.place).clone();
            self.wrong.push(Error { place, kind: ErrorKind::Conflict { text } });
        }
        if given > wanted as usize {
            self.notes.add(
                start,
                "-F",
                "there are more files than processes; the last are not used",
            );
        }
        let (mut directories, mut names) = (Vec::new(), BTreeSet::new());
        let mut file = |word: &Word| {
            let path = word.text.clone();
            if path.contains([':', ';', '#', '$', '"', '\'', '\\', '`', '*', '?', '{']) {
                self.wrong.push(word.wrong("a path has only letters, digits and `/._-` here"));
            } else if !names.insert(path.clone()) {
                self.wrong.push(word.wrong("is named twice; each process has a file of its own"));
            }
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let known = directories.iter().position(|known| known == directory);
            let disk = known.unwrap_or(directories.len()) + 1;
            if known.is_none() {
                directories.push(directory.to_owned());
            }
            File { path, disk }
        };
        words.iter().map(&mut file).collect()
    }
}

/// What to do instead of an option that is not supported.
fn remedy(name: &str) -> &'static str {
    match name {
        "a" | "A" | "z" | "n" | "g" | "y" | "q" => {
            "there is no automatic mode, name -s and -r, and numbers of processes with -t"
        }
        "f" => "name a file for each process with -F",
        "m" | "K" | "L" | "S" | "p" | "E" | "Q" | "G" | "J" | "T" | "P" | "W" | "Z" => {
            "drop it if the measurement does not depend on it"
        }
        _ => "see docs/job-files.md for the options that are",
    }
}

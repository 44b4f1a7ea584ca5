//! Tests of the form of the sources: module docs, lengths, widths, and forbidden contents.

use fairdisk_tidy::files::{File, demand_none, ending_in, root};
use fairdisk_tidy::rust::{Part, Source, functions, lines_without_tests};

/// The most lines in a file, without its unit tests.
const FILE_LINES_MAX: usize = 500;
/// The most lines in a function.
const FUNCTION_LINES_MAX: usize = 70;
/// The most columns in a line, not counting literals.
const COLUMNS_MAX: usize = 100;

/// Top-level directories whose paths belong to one machine. Nothing in the repository may depend on
/// such a path.
const PLACES: &[&str] = &["home", "root", "Users", "work", "workspace"];

fn sources() -> Vec<File> {
    let files = ending_in(&[".rs"]);
    assert!(files.len() > 50, "{} files cannot be all", files.len());
    files
}

#[test]
fn every_file_says_what_it_is() {
    let described = |file: &File| {
        let mut lines = file.text.lines().filter(|line| !line.trim().is_empty());
        lines.next().is_some_and(|line| line.starts_with("//!"))
    };
    let faults: Vec<String> = sources()
        .iter()
        .filter(|file| !described(file))
        .map(|file| format!("{}: begins without a module doc (//!)", file.path))
        .collect();
    demand_none(&faults);
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for file in sources() {
        let lines = lines_without_tests(&file.text);
        if lines > FILE_LINES_MAX {
            faults.push(format!("{}: {lines} lines", file.path));
        }
    }
    demand_none(&faults);
}

#[test]
fn functions_fit_a_screen() {
    let mut faults = Vec::new();
    for file in sources() {
        for function in functions(&Source::new(&file.text).lines(&[Part::Code])) {
            if function.lines > FUNCTION_LINES_MAX {
                let place = format!("{}:{}", file.path, function.line);
                faults.push(format!("{place}: {} has {} lines", function.name, function.lines));
            }
        }
    }
    demand_none(&faults);
}

#[test]
fn lines_fit_a_hundred_columns() {
    let mut faults = Vec::new();
    for file in sources() {
        let lines = Source::new(&file.text).lines(&[Part::Code, Part::Comment]);
        let columns = |line: &String| line.trim_end().chars().count();
        // A URL cannot be broken.
        let wide = |line: &String| columns(line) > COLUMNS_MAX && !line.contains("://");
        let wide: Vec<usize> = (1..).zip(&lines).filter(|at| wide(at.1)).map(|at| at.0).collect();
        if !wide.is_empty() {
            faults.push(format!("{}: too wide: lines {wide:?}", file.path));
        }
    }
    demand_none(&faults);
}

/// A doc comment is read alone: in the pages that rustdoc makes, and on hover.
#[test]
fn comments_stand_alone() {
    let mut faults = Vec::new();
    for file in sources() {
        let mut before = "";
        for (at, line) in file.text.lines().enumerate() {
            let line = line.trim_start();
            let begins = line.starts_with("/// ") && !before.starts_with("///");
            let leans = ["The same ", "The same,", "Likewise"].iter().find(|words| {
                begins && line[4..].starts_with(**words) && !line.starts_with("/// The same as ")
            });
            if let Some(words) = leans {
                let place = format!("{}:{}", file.path, at + 1);
                faults.push(format!("{place}: begins with `{words}`; name what it is about"));
            }
            before = line;
        }
    }
    demand_none(&faults);
}

#[test]
fn work_left_to_do_names_its_issue() {
    let mut faults = Vec::new();
    for file in sources() {
        let comments = Source::new(&file.text).lines(&[Part::Comment]);
        for (at, line) in comments.iter().enumerate() {
            for word in ["TODO", "FIXME", "XXX"] {
                let Some((_, after)) = line.split_once(word) else { continue };
                if !after.starts_with("(#") {
                    faults.push(format!("{}:{}: {word} without (#issue)", file.path, at + 1));
                }
            }
        }
    }
    demand_none(&faults);
}

#[test]
fn nothing_depends_on_where_it_lies() {
    let endings = [".rs", ".toml", ".md", ".sh", ".txt", ".fio", ".expected", "Makefile", "run"];
    let mut faults = Vec::new();
    for file in ending_in(&endings) {
        for (at, line) in file.text.lines().enumerate() {
            let place = || format!("{}:{}", file.path, at + 1);
            for folder in PLACES {
                if names_folder(line, folder) {
                    faults.push(format!("{}: a path of one machine: {}", place(), line.trim()));
                }
            }
            // Whoever has the repository alone cannot follow a path that leaves it.
            if let Some(path) = leaves_repository(&file.path, line) {
                faults.push(format!("{}: {path} is outside of the repository", place()));
            }
        }
    }
    demand_none(&faults);
}

/// Whether the line contains an absolute path that begins with `folder`.
fn names_folder(line: &str, folder: &str) -> bool {
    let needle = format!("/{folder}/");
    line.match_indices(&needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || "._-/}*:".contains(c)))
    })
}

/// A path in the line that leads out of the repository, or, in prose, one that goes up a directory
/// and does not exist.
fn leaves_repository(file: &str, line: &str) -> Option<String> {
    let depth = file.matches('/').count();
    let prose = file.ends_with(".md") || line.trim_start().starts_with("//");
    let here = root().join(file);
    for word in line.split(|c: char| c.is_whitespace() || "\"'`()<>[],;#".contains(c)) {
        let ups = word.split('/').take_while(|part| *part == "..").count();
        let exists = || here.parent().is_some_and(|folder| folder.join(word).exists());
        if ups > depth || (prose && ups > 0 && !exists()) {
            return Some(word.to_owned());
        }
    }
    None
}

#[test]
fn machine_paths_are_found() {
    let home = ["", "home", "me"].join("/");
    assert!(names_folder(&format!("see {home}/x"), "home"));
    assert!(!names_folder("target/home/x", "home"));
    assert!(leaves_repository("README.md", "see ../elsewhere/x.md").is_some());
    assert!(leaves_repository("crates/fairdisk-tidy/src/lib.rs", "x(\"../../y\")").is_none());
}

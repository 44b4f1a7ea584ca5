//! Tests of the documents: each has one title, its links lead somewhere, and its commands work.
//!
//! In `README.md` and `docs/`, a block marked `console` is a transcript. Lines that begin with `$
//! fairdisk` are run, in a directory of the document's own, and must succeed; lines that begin with
//! `$ make` must name a target of the Makefile. Blocks marked `file=NAME` are first written to that
//! directory. The text of a block marked `console,exact` must be what the program prints
//! (`UPDATE=1` writes it). A block marked `console,ignore` is not checked, since it needs something
//! that the test does not have.

use fairdisk_tidy::binary;
use fairdisk_tidy::files::{File, demand_none, ending_in, root};
use fairdisk_tidy::markdown::{Block, Document};
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs, thread};

fn documents() -> Vec<File> {
    ending_in(&[".md"])
}

#[test]
fn every_document_has_one_title() {
    let mut faults = Vec::new();
    for file in documents() {
        let titles =
            Document::new(&file.text).headings.iter().filter(|(level, _)| *level == 1).count();
        if titles != 1 {
            faults.push(format!("{}: {titles} titles (`# …`)", file.path));
        }
    }
    demand_none(&faults);
}

#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for file in documents() {
        let document = Document::new(&file.text);
        for link in &document.links {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let here = root().join(&file.path);
            let target = if path.is_empty() { here } else { here.with_file_name(path) };
            let found = target.exists() && (anchor.is_empty() || has_anchor(&target, anchor));
            if !found {
                faults.push(format!("{}:{}: {} leads nowhere", file.path, link.line, link.target));
            }
        }
    }
    demand_none(&faults);
}

fn has_anchor(target: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(target).unwrap_or_default();
    Document::new(&text).anchors().iter().any(|known| known == anchor)
}

/// A path in a row of the map is relative to the root, to `crates/`, or to a directory that
/// contains the first path of its row.
#[test]
fn paths_of_the_map_exist() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (mut faults, mut seen) = (Vec::new(), 0);
    for (at, line) in map.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let mut around = vec![root(), root().join("crates")];
        for path in line.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            let path = path.trim_end_matches("*.txt");
            seen += 1;
            match around.iter().map(|folder| folder.join(path)).find(|path| path.exists()) {
                Some(found) if around.len() == 2 => {
                    let within = found.ancestors().take_while(|folder| **folder != *root());
                    around.extend(within.map(Path::to_owned));
                }
                Some(_) => {}
                None => faults.push(format!("ARCHITECTURE.md:{}: {path} is not there", at + 1)),
            }
        }
    }
    assert!(seen > 80, "the map has {seen} paths");
    demand_none(&faults);
}

fn is_path(code: &str) -> bool {
    let ends = [".rs", ".sh", ".toml", ".txt", "/"];
    !code.contains([' ', ':']) && ends.iter().any(|end| code.ends_with(end))
}

#[test]
fn the_book_lists_every_chapter() {
    let summary =
        Document::new(&fs::read_to_string(root().join("docs/SUMMARY.md")).expect("there"));
    let listed = |name: &str| summary.links.iter().any(|link| link.target == name);
    let chapters = documents().into_iter().filter_map(|file| {
        let name = file.path.strip_prefix("docs/")?.to_owned();
        (name != "SUMMARY.md" && !name.contains('/') && !listed(&name)).then_some(name)
    });
    demand_none(&chapters.collect::<Vec<_>>());
}

fn is_transcript(block: &Block) -> bool {
    block.language() == "console" && !block.is("ignore")
}

/// The documents whose commands are checked.
fn guides() -> Vec<File> {
    let guide = |file: &File| file.path == "README.md" || file.path.starts_with("docs/");
    documents().into_iter().filter(guide).collect()
}

#[test]
fn make_commands_name_targets() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let mut faults = Vec::new();
    for file in guides() {
        for block in Document::new(&file.text).blocks.iter().filter(|block| is_transcript(block)) {
            for line in &block.lines {
                let Some(targets) = line.strip_prefix("$ make ") else { continue };
                let targets = targets.split_whitespace().filter(|word| !word.contains('='));
                for target in targets {
                    if !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
                        faults.push(format!("{}: no target in `{line}`", file.path));
                    }
                }
            }
        }
    }
    demand_none(&faults);
}

#[test]
fn fairdisk_commands_work() {
    let program = binary::fairdisk().unwrap_or_else(|error| panic!("no program: {error}"));
    let guides = guides();
    let run = |file: &File| Guide { file: file.clone(), program: program.clone() }.faults();
    let faults: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = guides.iter().map(|file| scope.spawn(|| run(file))).collect();
        runs.into_iter().flat_map(|run| run.join().expect("no panic")).collect()
    });
    demand_none(&faults);
}

/// A document whose commands are run.
struct Guide {
    file: File,
    program: std::path::PathBuf,
}

impl Guide {
    fn faults(&self) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let document = Document::new(&self.file.text);
        for block in &document.blocks {
            if let Some(name) = block.value("file") {
                let text = format!("{}\n", block.lines.join("\n"));
                fs::write(folder.path().join(name), text).expect("can be written");
            }
        }
        let mut faults = Vec::new();
        for block in document.blocks.iter().filter(|block| is_transcript(block)) {
            let printed = self.run_block(block, folder.path(), &mut faults);
            if block.is("exact") && printed != block.lines {
                self.differs(block, &printed, &mut faults);
            }
        }
        faults
    }

    /// The block as it should be: each command, followed by what the program prints.
    fn run_block(&self, block: &Block, folder: &Path, faults: &mut Vec<String>) -> Vec<String> {
        let mut printed = Vec::new();
        for (at, line) in block.lines.iter().enumerate() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            printed.push(line.clone());
            if !command.starts_with("fairdisk ") {
                continue;
            }
            let output = self.run(command, folder);
            printed.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
            if !output.status.success() {
                let place = format!("{}:{}", self.file.path, block.line + at + 1);
                let said = String::from_utf8_lossy(&output.stderr);
                faults.push(format!("{place}: {command}: {}\n{said}", output.status));
            }
        }
        printed
    }

    fn run(&self, command: &str, folder: &Path) -> Output {
        let path = env::var("PATH").unwrap_or_default();
        let beside = self.program.parent().expect("in a folder").display();
        Command::new("sh")
            .args(["-c", command])
            .current_dir(folder)
            .env("PATH", format!("{beside}:{path}"))
            .env_remove("CI")
            .output()
            .expect("a shell")
    }

    fn differs(&self, block: &Block, printed: &[String], faults: &mut Vec<String>) {
        if env::var_os("UPDATE").is_some() {
            let path = root().join(&self.file.path);
            let text = fs::read_to_string(&path).expect("there");
            let text = text.replace(&block.lines.join("\n"), &printed.join("\n"));
            fs::write(path, text).expect("can be written");
            return;
        }
        faults.push(format!(
            "{}:{}: the program prints something else (UPDATE=1 writes it)\n{}",
            self.file.path,
            block.line,
            printed.join("\n")
        ));
    }
}

//! A git repository, through git itself.

use crate::output;
use fairdisk_lab::blame::FactorSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) id: String,
    /// The shortest name that is unique.
    pub(super) short: String,
    pub(super) author: String,
    pub(super) summary: String,
    /// What it changes, as `git apply` takes it.
    patch: Vec<u8>,
}

/// The repository of the current directory.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top of its work tree.
    top: PathBuf,
    /// Where mixtures are put together and built.
    scratch: PathBuf,
}

/// What separates the fields of a commit.
const FIELD: char = '\u{1f}';

impl Repository {
    /// The repository of the current directory.
    ///
    /// # Errors
    /// There is none, or no git.
    pub(super) fn here() -> Result<Self, String> {
        let here = Path::new(".");
        let top = text(git(here, &["rev-parse", "--show-toplevel"], None, &[])?)?;
        let folder = text(git(here, &["rev-parse", "--absolute-git-dir"], None, &[])?)?;
        let scratch = Path::new(&folder).join("fairdisk-blame");
        fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        Ok(Self { top: PathBuf::from(top), scratch })
    }

    /// The commits between two revisions, in the order in which they were made. Merges are left
    /// out, as what they merge is among them.
    ///
    /// # Errors
    /// A revision is unknown, or the good one is no ancestor of the bad one.
    pub(super) fn commits(&self, good: &str, bad: &str) -> Result<Vec<Commit>, String> {
        for end in [good, bad] {
            if end.is_empty() || end.starts_with(['-', '.']) {
                return Err("expected GOOD..BAD, two revisions".to_owned());
            }
            self.tree_of(end)?;
        }
        if !git(&self.top, &["merge-base", "--is-ancestor", good, bad], None, &[])?.status.success()
        {
            return Err(format!("{good} is no ancestor of {bad}"));
        }
        let format = format!("--format=%H{FIELD}%h{FIELD}%an{FIELD}%s");
        let range = format!("{good}..{bad}");
        let quiet = "log.showSignature=false";
        let list =
            ["-c", quiet, "log", "--reverse", "--topo-order", "--no-merges", &format, &range];
        text(git(&self.top, &list, None, &[])?)?.lines().map(|line| self.commit(line)).collect()
    }

    fn commit(&self, line: &str) -> Result<Commit, String> {
        let fields: Vec<&str> = line.split(FIELD).collect();
        let &[id, short, author, summary] = fields.as_slice() else {
            return Err(format!("git said `{line}`"));
        };
        // Unlike `git show`, this heeds no settings of the user.
        let show = [
            "diff-tree",
            "-p",
            "--no-commit-id",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            id,
        ];
        let [author, summary] = [author, summary].map(|text| output::plain(text).into_owned());
        let [id, short] = [id, short].map(str::to_owned);
        Ok(Commit { patch: said(git(&self.top, &show, None, &[])?)?, id, short, author, summary })
    }

    /// The tree of a revision.
    ///
    /// # Errors
    /// There is no such revision.
    pub(super) fn tree_of(&self, revision: &str) -> Result<String, String> {
        text(git(
            &self.top,
            &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{tree}}")],
            None,
            &[],
        )?)
        .map_err(|_| format!("`{revision}` is no revision"))
    }

    /// The tree of `base` with these commits applied one after another, or reverted; `None` if one
    /// of them conflicts.
    ///
    /// # Errors
    /// git fails otherwise.
    pub(super) fn apply(
        &self,
        base: &str,
        commits: &[&Commit],
        reverts: bool,
    ) -> Result<Option<String>, String> {
        let index = self.scratch.join(format!("index-{}", std::process::id()));
        let of_index = [("GIT_INDEX_FILE", index.as_path())];
        said(git(&self.top, &["read-tree", base], None, &of_index)?)?;
        let mut arguments = vec!["apply", "--cached", "--3way", "--whitespace=nowarn"];
        arguments.extend(reverts.then_some("--reverse"));
        let mut tree = None;
        let mut applies = true;
        for commit in commits.iter().filter(|commit| !commit.patch.is_empty()) {
            applies = git(&self.top, &arguments, Some(&commit.patch), &of_index)?.status.success();
            if !applies {
                break;
            }
        }
        if applies {
            tree = Some(text(git(&self.top, &["write-tree"], None, &of_index)?)?);
        }
        // It is made anew for the next mixture.
        let _ = fs::remove_file(&index);
        Ok(tree)
    }

    /// For each commit, the earlier ones without which it does not apply to `good`: none of them
    /// can be left out. `goes_on` is asked before each commit, with how many are known; nothing is
    /// returned once it says no.
    ///
    /// # Errors
    /// git fails.
    pub(super) fn needs(
        &self,
        good: &str,
        commits: &[Commit],
        goes_on: impl Fn(usize) -> bool,
    ) -> Result<Option<Vec<FactorSet>>, String> {
        let applies = |set: FactorSet| {
            let commits: Vec<&Commit> = set.iter().map(|at| &commits[at]).collect();
            Ok::<bool, String>(self.apply(good, &commits, false)?.is_some())
        };
        let mut needs = Vec::new();
        for at in 0..commits.len() {
            if !goes_on(at) {
                return Ok(None);
            }
            let mut needed = FactorSet::EMPTY;
            if !applies(needed.with(at))? {
                needed = FactorSet::first(at);
                for before in (0..at).rev() {
                    if applies(needed.without(before).with(at))? {
                        needed = needed.without(before);
                    }
                }
            }
            needs.push(needed);
        }
        Ok(Some(needs))
    }

    /// Where the directories of all trees are.
    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The directory of a tree.
    pub(super) fn folder(&self, tree: &str) -> PathBuf {
        self.scratch.join(tree)
    }

    /// Writes the files of a tree to a directory, and nothing else.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn check_out(&self, tree: &str, folder: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        fs::create_dir_all(folder).map_err(failed)?;
        let index = self.scratch.join(format!("index-{}", std::process::id()));
        let of_index = [("GIT_INDEX_FILE", index.as_path())];
        said(git(&self.top, &["read-tree", tree], None, &of_index)?)?;
        let prefix = format!("--prefix={}/", folder.display());
        said(git(&self.top, &["checkout-index", "--all", "--force", &prefix], None, &of_index)?)?;
        let _ = fs::remove_file(&index);
        Ok(())
    }
}

/// Runs git in a directory, with this input and these variables.
fn git(
    folder: &Path,
    arguments: &[&str],
    input: Option<&[u8]>,
    variables: &[(&str, &Path)],
) -> Result<Output, String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| format!("git cannot be run: {error}");
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut pipe) = child.stdin.take() {
        // git may have ended before it has read all; what it says then counts.
        let _ = pipe.write_all(input.unwrap_or_default());
    }
    child.wait_with_output().map_err(failed)
}

/// What git printed, if it succeeded; else why not.
fn said(output: Output) -> Result<Vec<u8>, String> {
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// What git printed, as text without the end of its last line.
fn text(output: Output) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&said(output)?).trim_end_matches('\n').to_owned())
}

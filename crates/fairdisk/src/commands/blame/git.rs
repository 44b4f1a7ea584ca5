//! Blame of commits: a repository is built with each mixture of the commits between two revisions,
//! and a command measures what was built.
//!
//! A mixture is put together in an index of its own, without a work tree: its commits are applied
//! to the good revision, or, where that conflicts, the others are reverted in the bad one. A commit
//! that does not apply without earlier ones needs these, and does nothing where they are missing.
//! Each tree is checked out and built once, in a directory that stays for the next time.

use super::command::TIMEOUT;
use super::machine;
use super::shell::Shell;
use super::{Args, repository};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress;
use fairdisk_core::Span;
use fairdisk_lab::blame::{About, Change, FACTORS_MAX, FactorSet, Measure, Report, Sample};
use repository::{Commit, Repository};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The longest that a build may take.
const BUILD_TIME: Span = Span::from_s(24 * 3600);
/// The file in a directory that was built, which holds the command that built it and the variables
/// that compilers heed.
const BUILT: &str = ".fairdisk-built";
const CARGO_TARGET: &str = "CARGO_TARGET_DIR";
/// The variables that make another build of the same sources.
const OF_BUILDS: [&str; 8] =
    ["CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS", "RUSTFLAGS", "PATH"];

/// How something is built now: the command, and the variables that are set.
fn built_by(command: &str) -> String {
    let set = OF_BUILDS.iter().filter_map(|name| Some((name, env::var(name).ok()?)));
    set.fold(command.to_owned(), |text, (name, value)| format!("{text}\n{name}={value}"))
}

pub(super) fn execute(args: &Args, range: &str, run: &str) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let bad_input = |why: String| Failure::BadInput(format!("--git {range}: {why}"));
    let repository = Repository::here().map_err(bad_input)?;
    let (good, bad) = range.split_once("..").unwrap_or_default();
    let commits = repository.commits(good, bad).map_err(bad_input)?;
    if commits.is_empty() || commits.len() > FACTORS_MAX {
        let count = commits.len();
        let expected = format!("expected 1 to {FACTORS_MAX} commits between both");
        return Err(bad_input(format!("{count} commits; {expected}")));
    }
    let bar = progress::bar(commits.len() as u64, args.results.quiet);
    bar.set_message("commits whose needs are known");
    let goes_on = |known: usize| {
        bar.set_position(known as u64);
        !stop.load(Ordering::Relaxed)
    };
    let needs = repository.needs(good, &commits, goes_on).map_err(Failure::Run)?;
    bar.finish_and_clear();
    let interrupted = || Failure::Interrupted("nothing was measured yet".to_owned());
    let needs = needs.ok_or_else(interrupted)?;
    let build = args.build.as_deref().unwrap_or_default();
    let before = machine::State::now();
    let shells = [BUILD_TIME, args.timeout.unwrap_or(TIMEOUT)].map(|time| Shell::new(time, &stop));
    let [build_shell, run_shell] = shells;
    let mixtures = Mixtures {
        repository: &repository,
        ends: [good, bad],
        commits: &commits,
        needs,
        build,
        run,
        build_shell,
        run_shell,
        built: Mutex::default(),
    };
    args.warm_up(&mixtures, commits.len(), &stop)?;
    let mut design = args.design(commits.len());
    design.threads = 1;
    design.is_real = true;
    let ids: Vec<&str> = commits.iter().map(|commit| commit.id.as_str()).collect();
    let identity = format!("{ids:?} {build} {run}");
    let (findings, kept) = args.investigate(&mixtures, &design, &identity, &stop)?;
    let caveats = machine::doubts(&before, &findings, args.lower_is_better);
    let report = Report {
        title: run.to_owned(),
        place: format!("this machine, {} commits of {range}", commits.len()),
        shell: "git",
        metric: "command".to_owned(),
        unit: args.unit(),
        good: good.to_owned(),
        bad: bad.to_owned(),
        changes: commits.iter().map(change).collect(),
        findings,
        divergence: None,
        published: None,
        caveats: caveats.into_iter().chain(mixtures.notes()).collect(),
        excluded: Vec::new(),
    };
    args.show(&report, kept)
}

fn change(commit: &Commit) -> Change {
    let Commit { short, author, summary, .. } = commit;
    let about = About { commit: short.clone(), author: author.clone(), summary: summary.clone() };
    let (good, bad) = ("without".to_owned(), "with".to_owned());
    Change { name: short.clone(), good, bad, about: Some(about) }
}

/// The mixtures of commits.
struct Mixtures<'a> {
    repository: &'a Repository,
    /// The good and the bad revision.
    ends: [&'a str; 2],
    commits: &'a [Commit],
    /// For each commit, the earlier ones without which it does not apply.
    needs: Vec<FactorSet>,
    build: &'a str,
    run: &'a str,
    build_shell: Shell<'a>,
    run_shell: Shell<'a>,
    /// The directory of each mixture that is built.
    built: Mutex<BTreeMap<FactorSet, PathBuf>>,
}

impl Measure for Mixtures<'_> {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let Some(folder) = self.built(set)? else { return Ok(Sample { value: 0.0, trace: None }) };
        let around = self.around(&folder);
        let around: Vec<(&str, &str)> = around.iter().map(|(key, it)| (*key, &**it)).collect();
        let number = self.run_shell.number(self.run, &around, Some(&folder));
        let number = number.map_err(|why| {
            format!("run {} of `{}` with {} {why}", seed + 1, self.run, self.names(set))
        })?;
        // If the run was interrupted, nobody uses the value.
        Ok(Sample { value: number.unwrap_or(0.0), trace: None })
    }

    fn effective(&self, set: FactorSet) -> FactorSet {
        // In order, so that what needs a commit that is left out is left out, too.
        set.iter().fold(FactorSet::EMPTY, |kept, at| {
            if self.needs[at].minus(kept).is_empty() { kept.with(at) } else { kept }
        })
    }
}

impl Mixtures<'_> {
    /// The variables that keep commands in `folder` away from the repository around it, and from
    /// what is built of other mixtures.
    fn around(&self, folder: &Path) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut around = vec![("GIT_CEILING_DIRECTORIES", text(self.repository.scratch()))];
        if env::var_os(CARGO_TARGET).is_some() {
            around.push((CARGO_TARGET, text(&folder.join("target"))));
        }
        around
    }

    /// The commits of a mixture in words.
    fn names(&self, set: FactorSet) -> String {
        let names: Vec<&str> = set.iter().map(|at| self.commits[at].short.as_str()).collect();
        let [good, _] = self.ends;
        if names.is_empty() { good.to_owned() } else { format!("{good} and {}", names.join(", ")) }
    }

    /// The directory in which the mixture is built; `None` if that was interrupted.
    ///
    /// # Errors
    /// It cannot be put together or built.
    fn built(&self, set: FactorSet) -> Result<Option<PathBuf>, String> {
        let known = self.built.lock().unwrap_or_else(PoisonError::into_inner).get(&set).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let tree = self.tree(set)?;
        let folder = self.repository.folder(&tree);
        let marker = folder.join(BUILT);
        let by = built_by(self.build);
        if fs::read_to_string(&marker).ok().as_ref() != Some(&by) {
            self.repository.check_out(&tree, &folder)?;
            if !self.build_in(&folder, set)? {
                return Ok(None);
            }
            fs::write(&marker, by).map_err(|error| format!("{}: {error}", marker.display()))?;
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.insert(set, folder.clone());
        Ok(Some(folder))
    }

    /// Builds what is in the directory. Returns whether it was not interrupted.
    fn build_in(&self, folder: &Path, set: FactorSet) -> Result<bool, String> {
        if self.build.is_empty() {
            return Ok(true);
        }
        let failed = |why: String| format!("`{}` with {} {why}", self.build, self.names(set));
        let around = self.around(folder);
        let around: Vec<(&str, &str)> = around.iter().map(|(key, it)| (*key, &**it)).collect();
        match self.build_shell.run(self.build, &around, Some(folder)).map_err(failed)? {
            None => Ok(false),
            Some((status, _)) if status.success() => Ok(true),
            Some((status, _)) => Err(failed(format!("failed: {status}"))),
        }
    }

    /// The tree of a mixture: its commits on top of the good revision, or the bad one with the
    /// others reverted.
    fn tree(&self, set: FactorSet) -> Result<String, String> {
        let [good, bad] = self.ends;
        let all = FactorSet::first(self.commits.len());
        let commits = |set: FactorSet| set.iter().map(|at| &self.commits[at]).collect::<Vec<_>>();
        let mut others = commits(all.minus(set));
        others.reverse();
        if others.is_empty() {
            return self.repository.tree_of(bad);
        }
        let picked = self.repository.apply(good, &commits(set), false)?;
        let mixed = match picked {
            Some(tree) => Some(tree),
            None => self.repository.apply(bad, &others, true)?,
        };
        mixed.ok_or_else(|| {
            let names = self.names(set);
            format!(
                "{names}: the commits conflict without the others, which cannot be reverted either"
            )
        })
    }

    /// Which commits need others, in sentences.
    fn notes(&self) -> Vec<String> {
        let dependent = self.needs.iter().enumerate().filter(|(_, needs)| !needs.is_empty());
        let note = |(at, needs): (usize, &FactorSet)| {
            let needed: Vec<&str> =
                needs.iter().map(|at| self.commits[at].short.as_str()).collect();
            let short = &self.commits[at].short;
            format!(
                "{short} does not apply without {}, and counts as nothing there.",
                needed.join(", ")
            )
        };
        dependent.map(note).collect()
    }
}

//! What all jobs of a file come to together: what each group is due, and how many tasks and files
//! there are.

use std::collections::BTreeMap;

use super::draft::{Draft, Slot};
use super::error::{Error, ErrorKind, Place};
use super::group::GroupShare;
use super::job::Job;
use super::span::Files;

/// What the groups are due, each with the line that says so.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<String, (GroupShare, Place)>);

impl Groups {
    /// Takes down what the job says about its group; a group is due one thing.
    pub(super) fn add(&mut self, job: &Job, draft: &Draft) -> Option<Error> {
        let group = job.group.as_ref().filter(|group| group.share != GroupShare::Default)?;
        let place = place(&draft.group_weight)
            .or_else(|| place(&draft.group_ioprio))
            .or_else(|| place(&draft.cgroup_weight))?;
        let said = self.0.entry(group.path.clone()).or_insert((group.share, place.clone()));
        (said.0 != group.share).then(|| {
            let text = format!(
                "group `{}` is due something else by {}; write the same in both, or once",
                group.path, said.1
            );
            Error { place: place.clone(), kind: ErrorKind::Conflict { text } }
        })
    }

    /// Jobs that say nothing about the share of their group share what others say.
    pub(super) fn apply(&self, jobs: &mut [Job]) {
        for group in jobs.iter_mut().filter_map(|job| job.group.as_mut()) {
            if let Some((share, _)) = self.0.get(&group.path) {
                group.share = *share;
            }
        }
    }
}

fn place<T>(slot: &Slot<T>) -> Option<&Place> {
    slot.as_ref().map(|placed| &placed.place)
}

/// How many clones and files the jobs make.
#[derive(Default)]
pub(super) struct Size {
    clones: u64,
    files: u64,
}

/// More than any disk was ever shared by; each costs memory.
const CLONES_MAX: u64 = 100_000;
const FILES_MAX: u64 = 1_000_000;

impl Size {
    pub(super) fn add(&mut self, job: &Job, draft: &Draft, section: &Place) -> Option<Error> {
        let clones = u64::from(job.clones.get());
        let files = match &job.target.files {
            Files::Named(names) => names.len() as u64,
            Files::PerClone { count } => u64::from(*count),
        };
        self.clones = self.clones.saturating_add(clones);
        self.files = self.files.saturating_add(clones.saturating_mul(files));
        if self.clones > CLONES_MAX {
            let wanted = too_many(&draft.numjobs, clones, "jobs", CLONES_MAX);
            return Some(wanted.unwrap_or_else(|| one_too_many(section, "jobs", CLONES_MAX)));
        }
        if self.files > FILES_MAX {
            let wanted = too_many(&draft.nrfiles, files, "files", FILES_MAX)
                .or_else(|| too_many(&draft.numjobs, clones, "files", FILES_MAX));
            return Some(wanted.unwrap_or_else(|| one_too_many(section, "files", FILES_MAX)));
        }
        None
    }
}

/// A key that asks for too many.
fn too_many<T>(slot: &Slot<T>, value: u64, what: &str, most: u64) -> Option<Error> {
    let placed = slot.as_ref()?;
    let kind = ErrorKind::UnsupportedValue {
        key: placed.key.to_owned(),
        value: value.to_string(),
        remedy: format!("a job file may make up to {most} {what}; lower it"),
    };
    Some(Error { place: placed.place.clone(), kind })
}

/// A section that is one too many, whatever its keys say.
fn one_too_many(section: &Place, what: &str, most: u64) -> Error {
    let text = format!("a job file may make up to {most} {what}; this section is beyond that");
    Error { place: section.clone(), kind: ErrorKind::Conflict { text } }
}

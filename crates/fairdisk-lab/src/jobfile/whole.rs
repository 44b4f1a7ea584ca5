//! Totals over all jobs of a file: the settings of each group, and the numbers of tasks and files.

use std::collections::BTreeMap;

use super::draft::{Draft, Slot};
use super::error::{Error, ErrorKind, Place};
use super::group::GroupShare;
use super::job::Job;
use super::limits::Limits;
use super::setting::Placed;
use super::span::Files;
use fairdisk_core::QosKey;

/// The shares and limits of all groups, each with the line that sets it.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<String, Group>);

#[derive(Default)]
struct Group {
    share: Option<(GroupShare, Place)>,
    limits: BTreeMap<QosKey, (u64, Place)>,
}

impl Groups {
    /// Records what the job says about its group; a group has only one share.
    pub(super) fn add(&mut self, job: &Job, draft: &Draft) -> Option<Error> {
        let group = job.group.as_ref()?;
        let entry = self.0.entry(group.path.clone()).or_default();
        let said_at = place(&draft.group_weight)
            .or_else(|| place(&draft.group_ioprio))
            .or_else(|| place(&draft.cgroup_weight));
        let differs = |at: &Place, before: &Place| {
            let text = format!(
                "group `{}` is due something else by {before}; write the same in both, or once",
                group.path
            );
            Error { place: at.clone(), kind: ErrorKind::Conflict { text } }
        };
        if let Some(at) = said_at.filter(|_| group.share != GroupShare::Default) {
            let (share, before) = entry.share.get_or_insert((group.share, at.clone()));
            if *share != group.share {
                return Some(differs(at, before));
            }
        }
        for (limit, Placed { value, place: at, .. }) in &draft.group_limits {
            let (said, before) = entry.limits.entry(*limit).or_insert((*value, at.clone()));
            if said != value {
                return Some(differs(at, before));
            }
        }
        None
    }

    /// An error for each group whose limits contradict each other.
    pub(super) fn contradictions(&self) -> impl Iterator<Item = Error> {
        self.0.values().filter_map(|group| {
            let (limit, text) = group.limits().contradiction()?;
            let (_, place) = group.limits.get(&limit)?;
            Some(Error { place: place.clone(), kind: ErrorKind::Conflict { text } })
        })
    }

    /// The groups with floors, and where those are written.
    pub(super) fn floors(&self) -> BTreeMap<String, Place> {
        let floor = |(path, group): (&String, &Group)| {
            let floors = [QosKey::MinIops, QosKey::MinBps];
            let (_, place) = floors.iter().find_map(|limit| group.limits.get(limit))?;
            Some((path.clone(), place.clone()))
        };
        self.0.iter().filter_map(floor).collect()
    }

    /// Gives jobs that set nothing about their group what other jobs set about it.
    pub(super) fn apply(&self, jobs: &mut [Job]) {
        for group in jobs.iter_mut().filter_map(|job| job.group.as_mut()) {
            let Some(said) = self.0.get(&group.path) else { continue };
            if let Some((share, _)) = said.share {
                group.share = share;
            }
            group.limits = said.limits();
        }
    }
}

impl Group {
    fn limits(&self) -> Limits {
        Limits(self.limits.iter().map(|(limit, (value, _))| (*limit, *value)).collect())
    }
}

fn place<T>(slot: &Slot<T>) -> Option<&Place> {
    slot.as_ref().map(|placed| &placed.place)
}

/// The numbers of clones and files of all jobs.
#[derive(Default)]
pub(super) struct Size {
    clones: u64,
    files: u64,
}

/// The most clones and files: more than ever share a disk, and each costs memory.
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

/// An error about a key that asks for too many.
fn too_many<T>(slot: &Slot<T>, value: u64, what: &str, most: u64) -> Option<Error> {
    let placed = slot.as_ref()?;
    let kind = ErrorKind::UnsupportedValue {
        key: placed.key.to_owned(),
        value: value.to_string(),
        remedy: format!("a job file may make up to {most} {what}; lower it"),
    };
    Some(Error { place: placed.place.clone(), kind })
}

/// An error about a section that exceeds the limit, whatever its keys say.
fn one_too_many(section: &Place, what: &str, most: u64) -> Error {
    let text = format!("a job file may make up to {most} {what}; this section is beyond that");
    Error { place: section.clone(), kind: ErrorKind::Conflict { text } }
}

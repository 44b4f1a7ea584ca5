//! A recorded load in memory.

use super::ROOT_GROUP;
use super::replay::Replay;
use crate::catalog::error::{CatalogError, Where};
use crate::catalog::library::{Kind, under_mounts};
use crate::catalog::overrides::Override;
use crate::catalog::schedulers::take;
use fairdisk_core::{Instant, IoPrio};
use fairdisk_trace::{About, Options, Request, Settings, Source, TraceError, Traits, open};
use std::collections::BTreeMap;
use std::path::Path;

/// What tells tasks apart: the group in which a task is replayed, its name, the group in which it
/// was recorded, and its priority, as class and level.
pub(super) type TaskKey = (String, String, String, (u8, u8));

/// The part of a trace that is replayed, by task.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The name of the file.
    pub name: String,
    /// Its format.
    pub format: String,
    /// What it says about itself.
    pub about: About,
    /// The requests that it lacks.
    pub lost: u64,
    /// The requests of each task, in the order in which it asked for them.
    pub(super) tasks: BTreeMap<TaskKey, (IoPrio, Vec<Request>)>,
    /// By device, the end of what is used of it, in sectors.
    pub(super) ends: BTreeMap<String, u64>,
    /// The device of each origin.
    pub(super) device_of: Vec<String>,
}

/// A name for what a trace does not name.
fn named(group: &str) -> &str {
    if group.is_empty() { ROOT_GROUP } else { group }
}

impl Recorded {
    /// Reads the part of the trace `name` that is replayed.
    ///
    /// # Errors
    /// Returns an error if the trace cannot be read, no request is left of it, or an option names a
    /// group that it does not have.
    pub fn open(name: &str, replay: &Replay) -> Result<Self, CatalogError> {
        // It names the file, and the line.
        let bad = |error: TraceError| CatalogError {
            place: Where::Unstated,
            fault: error.to_string().into(),
        };
        let mut reader = open(Path::new(name), &Options::default()).map_err(bad)?;
        let mut recorded = Self { name: name.to_owned(), ..Self::default() };
        let groups = recorded.read(&mut reader, replay).map_err(bad)?;
        recorded.format = reader.format.to_string();
        (recorded.about, recorded.lost) = (reader.about(), reader.lost());
        replay.demand_known(&groups, &recorded.groups())?;
        if recorded.tasks.is_empty() {
            let why = match replay.given().is_none() {
                true => "it has no requests",
                false => "no request is left to replay; check the window and the groups",
            };
            return Err(CatalogError::file(name, why));
        }
        Ok(recorded)
    }

    /// Reads the part of a trace that is replayed, and returns the groups of all of it.
    fn read(
        &mut self,
        source: &mut impl Source,
        replay: &Replay,
    ) -> Result<Vec<String>, TraceError> {
        let mut groups = Vec::new();
        while let Some(request) = source.next()? {
            let at = request.origin.0 as usize;
            while self.device_of.len() <= at {
                let origin = &source.origins().all()[self.device_of.len()];
                self.device_of.push(origin.device.clone());
                let group = named(&origin.group).to_owned();
                if !groups.contains(&group) {
                    groups.push(group);
                }
            }
            let origin = source.origins().get(request.origin);
            let group = replay.group_of(named(&origin.group));
            let Some(group) = group.filter(|_| replay.has(&request)) else { continue };
            let end = self.ends.entry(origin.device.clone()).or_default();
            *end = (*end).max(request.end().0);
            // A task of two groups, or of two priorities, is two.
            let prio = (origin.ioprio.class as u8, origin.ioprio.level);
            let recorded_in = origin.group.clone();
            let key = (group.to_owned(), origin.task.clone(), recorded_in, prio);
            let (_, requests) =
                self.tasks.entry(key).or_insert_with(|| (origin.ioprio, Vec::new()));
            requests.push(request);
        }
        Ok(groups)
    }

    /// The groups that are replayed, in order of their names.
    #[must_use]
    pub fn groups(&self) -> Vec<String> {
        let mut names: Vec<String> = self.tasks.keys().map(|(group, ..)| group.clone()).collect();
        names.dedup();
        names
    }

    /// The requests with the groups in which they are replayed, task by task.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &Request)> {
        let tasks = self.tasks.iter();
        tasks.flat_map(|((group, ..), (_, all))| all.iter().map(move |one| (&**group, one)))
    }

    /// How many requests there are of this kind.
    pub(super) fn count(&self, is_it: impl Fn(&Request) -> bool) -> usize {
        self.requests().filter(|(_, request)| is_it(request)).count()
    }

    /// Requests that went through a page cache before they were recorded.
    pub(super) fn buffered(&self) -> usize {
        self.count(|request| request.traits.contains(Traits::BUFFERED))
    }

    /// The scheduler that served it, by the lab's name; `None` if the trace does not say, or the
    /// lab does not have it.
    #[must_use]
    pub fn scheduler(&self) -> Option<&str> {
        let recorded = &*self.about.scheduler;
        // Mounts have one of their own for some names, and they alone say how deep they are.
        let of_mount = self.about.depth.and_then(|_| under_mounts(recorded));
        let name = of_mount.unwrap_or_else(|| Kind::Revision.own_name(recorded));
        Kind::Revision.ids().find(|id| *id == name)
    }

    /// The recorded tunables that the scheduler has, and why it has not the others.
    pub(super) fn tunables(&self) -> (Vec<String>, Vec<String>) {
        let Some(scheduler) = self.scheduler() else { return (Vec::new(), Vec::new()) };
        let parsed = self.about.tunables.iter().map(|text| {
            let change = Override::parse(&format!("scheduler.{text}"));
            change.map(|change| (text, change)).map_err(|error| format!("{text}: {error}"))
        });
        let (parsed, wrong): (Vec<_>, Vec<_>) = parsed.partition(Result::is_ok);
        let (texts, changes): (Vec<&String>, Vec<Override>) = parsed.into_iter().flatten().unzip();
        let refusals = take(scheduler, &mut Vec::new(), &changes);
        let mut taken = Vec::new();
        let mut refused: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
        for (text, refusal) in texts.into_iter().zip(refusals) {
            match refusal {
                None => taken.push(text.clone()),
                Some(error) => refused.push(format!("{text}: {}", error.fault)),
            }
        }
        (taken, refused)
    }

    /// How the host let requests go to the disk, as far as that was recorded.
    pub(super) fn queue(&self) -> Vec<Override> {
        let depth = self.about.depth.map(|depth| format!("host.queue.depth={depth}"));
        let costs = self.about.tells_costs.map(|told| format!("host.queue.tells_costs={told}"));
        depth.into_iter().chain(costs).filter_map(|text| Override::parse(&text).ok()).collect()
    }

    /// The settings of a group that is replayed: those that all have of which it was made.
    pub(super) fn settings(&self, group: &str) -> Settings {
        let tasks = self.tasks.keys().filter(|(replayed, ..)| replayed == group);
        let mut recorded: Vec<&str> = tasks.map(|(_, _, recorded, _)| &**recorded).collect();
        if recorded.is_empty() {
            recorded.push(group);
        }
        let all = recorded.iter().map(|name| self.about.settings.get(*name));
        all.collect::<Option<Vec<_>>>().map_or_else(Settings::default, Settings::common)
    }

    /// What was asked for until so many requests had been.
    #[must_use]
    pub fn first(&self, requests: usize) -> Self {
        let mut times: Vec<Instant> = self.requests().map(|(_, one)| one.queued).collect();
        times.sort_unstable();
        let Some(until) = times.get(requests).copied() else { return self.clone() };
        let mut first = self.clone();
        first.tasks.values_mut().for_each(|(_, all)| all.retain(|one| one.queued < until));
        first.tasks.retain(|_, (_, all)| !all.is_empty());
        first
    }
}

//! A run as tracks for the Perfetto UI.

use crate::commands::trace::tracks;
use crate::failure::Failure;
use fairdisk_core::{Entry, GroupId, Instant, IoPrio, Record, TaskId, Why};
use fairdisk_lab::explain::{Listener, Story};
use fairdisk_lab::plan::GroupNumbers;
use fairdisk_sim::machine::StallStep;
use fairdisk_trace::journal::{FromJournal, Name};
use fairdisk_trace::{OriginId, Origins, Request};
use std::path::Path;

/// The requests and decisions of a run.
#[derive(Default)]
pub(super) struct Tracks {
    journal: FromJournal,
    asked: Asked,
    requests: Vec<Request>,
    decisions: Vec<(Instant, &'static str, Why)>,
}

/// Who asked, by the numbers of task and group.
#[derive(Default)]
struct Asked {
    all: Vec<(TaskId, GroupId, IoPrio)>,
}

impl Name for Asked {
    fn origin(&mut self, task: TaskId, group: GroupId, ioprio: IoPrio) -> OriginId {
        let one = (task, group, ioprio);
        let at = self.all.iter().position(|known| *known == one);
        let at = at.unwrap_or_else(|| {
            self.all.push(one);
            self.all.len() - 1
        });
        OriginId(at as u32)
    }

    fn ended(&mut self, _task: TaskId) {}

    fn gone(&mut self, _group: GroupId) {}
}

impl Listener for Tracks {
    fn enter(&mut self, entry: &Entry) -> bool {
        let decision = match entry.record {
            Record::Dispatched(_, why) => Some(("", why)),
            Record::Waits(_, why) | Record::WaitsCompletion(why) => Some(("waits: ", why)),
            _ => None,
        };
        self.decisions.extend(decision.map(|(word, why)| (entry.at, word, why)));
        let requests = &mut self.requests;
        self.journal.take(entry, &mut self.asked, |request| requests.push(request));
        true
    }

    fn stalled(&mut self, _at: Instant, _task: TaskId, _step: StallStep) {}
}

impl Tracks {
    /// Writes the file.
    pub(super) fn write(mut self, story: &Story, path: &Path) -> Result<(), Failure> {
        let requests = &mut self.requests;
        self.journal.finish(|request| requests.push(request));
        requests.sort_by_key(|request| request.queued);
        let groups = story.groups();
        let numbers = GroupNumbers { root: groups.iter().position(|group| group.name == "/") };
        let mut origins = Origins::default();
        let mut known = Vec::new();
        for (task, group, ioprio) in &self.asked.all {
            let group = numbers.place(*group).map_or("/", |at| &*groups[at].name);
            let task = format!("task {}", task.0);
            known.push(origins.number("", group, &task, *ioprio));
        }
        let mut out = tracks(path)?;
        let failed = |error: std::io::Error| Failure::Run(format!("{}: {error}", path.display()));
        for request in &*requests {
            let origin = known[request.origin.0 as usize];
            out.add(&Request { origin, ..*request }, &origins).map_err(failed)?;
        }
        for (at, word, why) in self.decisions {
            out.decision(at, &format!("{word}{}", why.text())).map_err(failed)?;
        }
        out.finish().map_err(failed)
    }
}

//! From an engine's journal to requests: what a mount, or a run in the lab, has done.

use crate::origins::OriginId;
use crate::request::{Request, Traits};
use fairdisk_core::{
    Bio, BioId, Change, Entry, Flags, GroupId, Instant, IoPrio, Op, Record, RequestId, TaskId,
};
use std::collections::BTreeMap;

/// Puts requests together from the entries of a journal.
#[derive(Debug, Default)]
pub struct FromJournal {
    bios: BTreeMap<BioId, UnderWay>,
    /// The bios of each request that has not been issued.
    requests: BTreeMap<RequestId, Vec<BioId>>,
}

/// A bio that is not finished.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    bio: Bio,
    origin: OriginId,
    asked: Instant,
    issued: Option<Instant>,
}

/// Gives tasks and groups their names. An engine knows them by numbers, which are used again.
pub trait Name {
    /// The origin of what the task asks for in the group.
    fn origin(&mut self, task: TaskId, group: GroupId, ioprio: IoPrio) -> OriginId;

    /// Notes that the task has ended.
    fn ended(&mut self, task: TaskId);

    /// Notes that the group is gone.
    fn gone(&mut self, group: GroupId);
}

impl FromJournal {
    /// Takes an entry, and hands over the request that it completes. What was under way when the
    /// first entry was made is passed over.
    pub fn take(&mut self, entry: &Entry, names: &mut impl Name, mut done: impl FnMut(Request)) {
        match entry.record {
            Record::Submitted(bio) => {
                let origin = names.origin(bio.task, bio.group, bio.ioprio);
                let (asked, issued) = (entry.at, None);
                self.bios.insert(bio.id, UnderWay { bio, origin, asked, issued });
            }
            Record::Queued(bio, request) | Record::Merged(bio, request) => {
                self.requests.entry(request).or_default().push(bio);
            }
            Record::Absorbed(into, absorbed) => {
                let bios = self.requests.remove(&absorbed).unwrap_or_default();
                self.requests.entry(into).or_default().extend(bios);
            }
            Record::Issued(request) => {
                for bio in self.requests.remove(&request).unwrap_or_default() {
                    if let Some(one) = self.bios.get_mut(&bio) {
                        one.issued = Some(entry.at);
                    }
                }
            }
            Record::Finished(bio, _) => {
                if let Some(one) = self.bios.remove(&bio) {
                    done(one.request(Some(entry.at)));
                }
            }
            Record::Cancelled(bio) => {
                self.bios.remove(&bio);
            }
            Record::Configured(Change::TaskExited { task }) => names.ended(task),
            Record::Configured(Change::GroupRemoved { group }) => names.gone(group),
            _ => {}
        }
    }

    /// Hands over what is not finished.
    pub fn finish(self, mut rest: impl FnMut(Request)) {
        self.bios.into_values().for_each(|one| rest(one.request(None)));
    }
}

impl UnderWay {
    fn request(self, done: Option<Instant>) -> Request {
        let Bio { op, start, sectors, sync, flags, .. } = self.bio;
        let has = |flag: Flags| flags.contains(flag);
        let traits = Traits::NONE
            .with(Traits::SYNC, sync)
            .with(Traits::DURABLE, has(Flags::FUA))
            .with(Traits::META, has(Flags::META))
            // Nobody waits for a write only if it was left in memory before.
            .with(Traits::BUFFERED, op == Op::Write && !sync);
        Request {
            origin: self.origin,
            op,
            traits,
            start,
            sectors,
            queued: self.asked,
            issued: self.issued,
            done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Lba, Sectors};

    /// Tasks are origins by their number; notes who is gone.
    #[derive(Default)]
    struct Numbers(Vec<u32>);

    impl Name for Numbers {
        fn origin(&mut self, task: TaskId, _group: GroupId, _ioprio: IoPrio) -> OriginId {
            OriginId(task.0)
        }

        fn ended(&mut self, task: TaskId) {
            self.0.push(task.0);
        }

        fn gone(&mut self, _group: GroupId) {}
    }

    fn bio(id: u64, start: u64) -> Bio {
        Bio {
            id: BioId(id),
            task: TaskId(id as u32),
            group: GroupId(1),
            op: Op::Write,
            start: Lba(start),
            sectors: Sectors(8),
            sync: id != 2,
            flags: Flags::FUA,
            ioprio: IoPrio::UNSET,
        }
    }

    #[test]
    fn merged_bios_are_requests_of_their_own() {
        use Record::{Absorbed, Configured, Finished, Issued, Merged, Queued, Submitted};
        let (one, two) = (RequestId(1), RequestId(2));
        let entries = [
            (0, Finished(BioId(9), true)),
            (1, Submitted(bio(1, 0))),
            (1, Queued(BioId(1), one)),
            (2, Submitted(bio(2, 16))),
            (2, Queued(BioId(2), two)),
            (3, Submitted(bio(3, 8))),
            (3, Merged(BioId(3), one)),
            (3, Absorbed(one, two)),
            (4, Issued(one)),
            (4, Configured(Change::TaskExited { task: TaskId(7) })),
            (9, Finished(BioId(1), true)),
            (9, Finished(BioId(3), true)),
            (9, Finished(BioId(2), true)),
            (9, Submitted(bio(4, 64))),
        ];
        let (mut journal, mut names, mut done) =
            (FromJournal::default(), Numbers::default(), Vec::new());
        for (at, record) in entries {
            let entry = Entry { at: Instant::from_ns(at), record };
            journal.take(&entry, &mut names, |request| done.push(request));
        }
        journal.finish(|request| done.push(request));
        let ns = |at: Option<Instant>| at.map(|at| at.as_ns());
        let told = done.iter().map(|it| (it.origin.0, it.start.0, ns(it.issued), ns(it.done)));
        let expected = [
            (1, 0, Some(4), Some(9)),
            (3, 8, Some(4), Some(9)),
            (2, 16, Some(4), Some(9)),
            (4, 64, None, None),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(done[2].traits.contains(Traits::BUFFERED) && done[0].traits.contains(Traits::SYNC));
        assert_eq!(names.0, [7]);
    }
}

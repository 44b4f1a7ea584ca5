//! The names in a table: tasks by number, bios by name, requests by the name of their first bio.

use crate::settings::number;
use fairdisk_core::{
    Bio, BioId, Flags, GroupId, IoPrio, Lba, Op, RequestId, Sectors, Sleeper, TaskId,
};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Cast {
    tasks: BTreeMap<TaskId, (GroupId, IoPrio)>,
    bios: Vec<String>,
    requests: BTreeMap<RequestId, String>,
    at_device: BTreeMap<String, RequestId>,
    sleepers: BTreeMap<String, Sleeper>,
}

impl Cast {
    fn task(&self, task: TaskId) -> (GroupId, IoPrio) {
        self.tasks.get(&task).copied().unwrap_or((GroupId::ROOT, IoPrio::UNSET))
    }

    pub(crate) fn set_ioprio(&mut self, task: TaskId, ioprio: IoPrio) {
        let (group, _) = self.task(task);
        self.tasks.insert(task, (group, ioprio));
    }

    pub(crate) fn set_group(&mut self, task: TaskId, group: GroupId) {
        let (_, ioprio) = self.task(task);
        self.tasks.insert(task, (group, ioprio));
    }

    /// Parses `submit NAME OP …`.
    pub(crate) fn bio(&mut self, name: &str, op: &str, words: &[&str]) -> Result<Bio, String> {
        if self.bios.iter().any(|known| known == name) {
            return Err(format!("{name} was submitted before"));
        }
        let op = self::op(op)?;
        let mut bio = Bio {
            id: BioId(self.bios.len() as u64),
            task: TaskId(0),
            group: GroupId::ROOT,
            op,
            start: Lba(0),
            sectors: Sectors(if op == Op::Flush { 0 } else { 8 }),
            sync: op == Op::Read,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("task", value) => bio.task = TaskId(number(value)?),
                ("lba", value) => bio.start = Lba(number(value)?),
                ("len", value) => bio.sectors = Sectors(number(value)?),
                ("sync", "") => bio.sync = true,
                ("async", "") => bio.sync = false,
                ("meta", "") => bio.flags |= Flags::META,
                ("fua", "") => bio.flags |= Flags::FUA,
                ("noidle", "") => bio.flags |= Flags::NOIDLE,
                ("exclusive", "") => bio.flags |= Flags::EXCLUSIVE,
                _ => return Err(format!("not part of a bio: {word}")),
            }
        }
        (bio.group, bio.ioprio) = self.task(bio.task);
        self.bios.push(name.to_owned());
        Ok(bio)
    }

    pub(crate) fn bio_called(&self, name: &str) -> Result<BioId, String> {
        let at = self.bios.iter().position(|known| known == name);
        at.map(|at| BioId(at as u64)).ok_or_else(|| format!("no bio is called {name}"))
    }

    pub(crate) fn issued(&mut self, id: RequestId) {
        self.at_device.insert(self.request_name(id), id);
    }

    /// Removes the request called `name` from the device.
    pub(crate) fn take_from_device(&mut self, name: &str) -> Result<RequestId, String> {
        self.at_device.remove(name).ok_or_else(|| format!("{name} is not at the device"))
    }

    pub(crate) fn bio_name(&self, id: BioId) -> String {
        self.bios[id.0 as usize].clone()
    }

    pub(crate) fn request_name(&self, id: RequestId) -> String {
        self.requests.get(&id).cloned().unwrap_or_default()
    }

    pub(crate) fn name_request(&mut self, id: RequestId, first: BioId) {
        let name = self.bio_name(first);
        self.requests.insert(id, name);
    }

    pub(crate) fn woke(&mut self, bio: BioId, sleeper: Sleeper) {
        let name = self.bio_name(bio);
        self.sleepers.insert(name, sleeper);
    }

    pub(crate) fn take_sleeper(&mut self, name: &str) -> Result<Sleeper, String> {
        self.sleepers.remove(name).ok_or_else(|| format!("{name} was not woken"))
    }
}

fn op(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        "flush" => Ok(Op::Flush),
        "discard" => Ok(Op::Discard),
        "zero" => Ok(Op::WriteZeroes),
        _ => Err(format!("not an operation: {text}")),
    }
}

//! What comes out of the engine: requests for the device, and news for the machine's tasks.

use super::io::{IoKind, Ios};
use super::{Event, Machine, MachineConfig};
use fairdisk_core::{
    BioId, Effect, Effects, Elevator, Engine, GroupId, Input, Instant, Op, Request, Sleeper, TaskId,
};

/// A request for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The request.
    pub request: Request,
    /// The group whose data it transfers. It differs from the group that is charged with D5, or
    /// when a task waits for data that others have dirtied.
    pub owner: GroupId,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The effects of the last input.
    effects: Effects,
    /// What the shell has yet to submit to the device.
    issued: Vec<Issued>,
    /// Bios that have completed, and of which their I/Os have not been told.
    finished: Vec<(BioId, bool)>,
    /// Tasks that slept for a request slot and have been woken.
    woken: Vec<(Sleeper, TaskId)>,
}

impl<E: Elevator> Machine<E> {
    /// Removes and returns the requests for the device, in order.
    pub fn issued(&mut self) -> impl Iterator<Item = Issued> {
        self.outbox.issued.drain(..)
    }

    /// Passes an input to the engine, and sorts its effects.
    pub(super) fn feed(&mut self, now: Instant, input: Input<E>) {
        let Outbox { effects, issued, finished, woken } = &mut self.outbox;
        self.engine.handle(now, input, effects);
        self.tick_at = effects.wake_at;
        if let Some(refusal) = effects.change_refused {
            self.refused.get_or_insert(refusal);
        }
        for effect in effects.as_slice() {
            match effect {
                Effect::Issue(request) => {
                    let owner = owner(&self.engine, &self.ios, &self.config, request);
                    issued.push(Issued { request: *request, owner });
                }
                Effect::Finish { bio, ok, .. } => finished.push((*bio, *ok)),
                Effect::Sleep { task } => self.backlogs[task.0 as usize].asleep += 1,
                Effect::Wake { sleeper, task } => woken.push((*sleeper, *task)),
                Effect::Cancelled(_) => {}
            }
        }
    }

    #[inline]
    pub(super) fn settle(&mut self, now: Instant) {
        if !self.outbox.finished.is_empty() {
            self.tell_owners(now);
        }
        if !self.outbox.woken.is_empty() {
            self.wake_sleepers(now);
        }
    }

    /// Reports completed bios to the I/Os they belong to, whose tasks may submit more.
    fn tell_owners(&mut self, now: Instant) {
        let mut at = 0;
        while let Some(&(bio, ok)) = self.outbox.finished.get(at) {
            let index = Ios::index_of(bio);
            if self.ios.part_done(index, ok) {
                self.io_done(now, index);
            }
            at += 1;
        }
        self.outbox.finished.clear();
    }

    /// Lets tasks that were woken for a slot compete for a CPU. Tasks whose I/O has completed come
    /// first, because a request completes before its slot is freed ("Linux Device Drivers", 3rd
    /// edition, chapter 16, "Request Completion").
    #[inline(never)]
    fn wake_sleepers(&mut self, now: Instant) {
        for (sleeper, task) in self.outbox.woken.drain(..) {
            self.events.push(now, Event::Woken(sleeper, task));
        }
    }
}

/// The group whose data the request transfers.
#[inline]
fn owner<E: Elevator>(
    engine: &Engine<E>,
    ios: &Ios,
    config: &MachineConfig,
    request: &Request,
) -> GroupId {
    let may_differ = match config.write_back {
        Some(_) => request.op == Op::Write,
        None => config.async_of_submitter && request.group == GroupId::ROOT,
    };
    if !may_differ {
        return request.group;
    }
    let io = engine.first_bio(request.id).map(|bio| ios.get(Ios::index_of(bio.id)));
    match io.map(|io| &io.kind) {
        Some(IoKind::WriteBehind { task } | IoKind::WriteBack { owner: task, .. }) => {
            config.tasks[*task as usize].group
        }
        _ => request.group,
    }
}

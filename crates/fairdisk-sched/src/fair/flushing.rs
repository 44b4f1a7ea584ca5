//! What passes the queues by: what a flush leaves behind in every part of the scheduler, and who
//! waits for whom. A flush is not queued: it goes to the device at once, ahead of everybody.

use super::think::Done;
use super::{Fair, NIL};
use fairdisk_core::{GroupId, Hearing, Instant, RequestId, Span, Submitter};

impl Hearing for Fair {
    fn flushes(&mut self, now: Instant, by: Submitter) {
        let Submitter { task, group } = by;
        self.tree.pass(now);
        self.make_group(group);
        if let Some(queue) = self.queues.find(task, group.0) {
            let flushes = &mut self.queues[queue].flushes;
            *flushes = flushes.saturating_add(1);
        }
        if self.has_nothing_synchronous(group.0) {
            self.note_flush(now, group.0);
        }
        let entry = &mut self.groups[group.0 as usize];
        if entry.is_quiet() {
            entry.past.commits.wants(now);
        }
        entry.flushes += 1;
        self.device.cache.flushes += 1;
        self.begin_commit(now, by);
        self.expect(now, group.0, NIL);
    }

    fn flushed(&mut self, now: Instant, by: Submitter, device_time: Span, ok: bool) {
        let Submitter { task, group } = by;
        self.tree.pass(now);
        self.make_group(group);
        let entry = &mut self.groups[group.0 as usize];
        entry.past.absence.note_done(now, Done::Flush);
        // A flush issued before this scheduler was chosen was never counted.
        if entry.flushes > 0 {
            entry.flushes -= 1;
            self.device.cache.flushes -= 1;
        }
        let queue = self.queues.find(task, group.0);
        if let Some(queue) = queue {
            self.note_flushed_by(now, queue);
        }
        self.rest(now, group.0);
        self.end_commit(now, by, ok);
        self.note_target_present(group.0);
        self.charge_flushed((queue, group.0), device_time, ok);
        self.note_flushed(now, device_time, ok);
        self.look_on();
        if self.groups[group.0 as usize].past.absence.left_early() {
            let queue = queue.unwrap_or_else(|| self.thinker(group.0));
            self.will_return(now, group.0, queue);
        }
        self.expect(now, group.0, NIL);
    }

    fn awaited(&mut self, _now: Instant, id: RequestId, _by: GroupId) {
        if self.params.rules.awaited {
            self.note_awaited(id.0);
        }
    }
}

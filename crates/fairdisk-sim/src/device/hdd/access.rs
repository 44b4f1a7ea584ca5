//! Carrying out one access: from the buffer, from or onto the medium.

use super::buffer::Found;
use super::command::Command;
use super::geometry::Extent;
use super::mechanism::Access;
use super::{Arm, Hdd};

/// How a read would go if the arm took it up now.
pub(super) struct Plan {
    /// The segment it goes on with.
    pub(super) found: Found,
    /// Where the head is now.
    pub(super) head: u64,
    /// When the data begins to pass under the head.
    pub(super) begin: u64,
    /// When it has passed.
    pub(super) end: u64,
}

impl Hdd {
    /// Serves a read from the buffer if all of it is there at `at`; a stream that is being read
    /// ahead may then go on further. Otherwise answers how it would go on the medium.
    #[inline(always)]
    pub(super) fn read_from_buffer(&mut self, extent: &Extent, at: u64) -> Option<Plan> {
        let plan = self.plan_read(extent, at);
        match plan.found {
            Found::Left(_, to) if extent.to <= to => None,
            // What the arm is fetching for a command is not there before the command's end.
            Found::Live if extent.to <= plan.head && !self.busy(at) => {
                self.mechanism.extend(self.buffer.limit(extent), at);
                self.buffer.consume(extent);
                None
            }
            _ => Some(plan),
        }
    }

    /// Begins what a command needs from the medium, and answers when it completes.
    pub(super) fn serve(&mut self, command: &Command, access: Access, at: u64) -> u64 {
        let at = command.ready.max(at);
        match access {
            Access::Read => self.serve_read(command, at),
            Access::Write => self.serve_write(command, at),
        }
    }

    fn serve_read(&mut self, command: &Command, at: u64) -> u64 {
        let bytes = command.bytes();
        let Some(plan) = self.read_from_buffer(&command.extent, at) else {
            return self.timing.transferred(at, bytes);
        };
        let limit = self.buffer.fill(&command.extent, plan.found, plan.head);
        self.mechanism.finish(&command.extent, plan.end, limit);
        self.arm = Arm::Serves(plan.end);
        self.arm_group = command.group;
        // Data passes the bus as it comes off the medium.
        self.timing.streamed(command.ready, bytes, plan.end)
    }

    fn serve_write(&mut self, command: &Command, at: u64) -> u64 {
        let bytes = command.bytes();
        // The arm sets off when the transfer begins; the data is there before the head is.
        let arrived = self.timing.transferred(command.ready, bytes);
        let set_off = self.timing.transferred(command.ready, 0).max(at);
        let end = self.write_medium(&command.extent, set_off).max(arrived);
        self.arm = Arm::Serves(end);
        self.arm_group = command.group;
        end
    }

    pub(super) fn destage(&mut self, index: usize, at: u64) {
        let dirty = self.cache.start_destage(index);
        self.arm = Arm::Destages(self.write_medium(&dirty.extent, at));
        self.arm_group = dirty.group;
    }

    /// Writes to the medium and answers when that ends.
    fn write_medium(&mut self, extent: &Extent, at: u64) -> u64 {
        self.buffer.leave(self.mechanism.position(at));
        let begin = self.mechanism.reach(extent.from, extent.first, at, Access::Write);
        let end = begin + (extent.to - extent.from);
        self.mechanism.finish(extent, end, extent.to);
        end
    }

    /// How a read would go: on with a stream, or from where its segment ends, or from its first
    /// sector.
    #[inline(always)]
    pub(super) fn plan_read(&self, extent: &Extent, at: u64) -> Plan {
        let (head, limit) = (self.mechanism.position(at), self.mechanism.limit());
        let found = self.buffer.find(extent, limit);
        let from = match found {
            Found::Nowhere => extent.from,
            Found::Live if head < limit => {
                let passes = |groove: u64| self.mechanism.passes(groove.max(head)).max(at);
                return Plan { found, head, begin: passes(extent.from), end: passes(extent.to) };
            }
            Found::Live => head.clamp(extent.from, extent.to),
            Found::Left(_, to) => to.clamp(extent.from, extent.to),
        };
        let begin = if from == extent.from {
            self.mechanism.reach(from, extent.first, at, Access::Read)
        } else {
            self.mechanism.reach_groove(from, at)
        };
        Plan { found, head, begin, end: begin + (extent.to - from) }
    }
}

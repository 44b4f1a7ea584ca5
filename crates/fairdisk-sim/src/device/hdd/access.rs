//! Access: carrying out one read or write, from the buffer or on the medium.

use super::buffer::Found;
use super::command::Command;
use super::geometry::Extent;
use super::mechanism::Access;
use super::{Arm, Hdd};

/// How a read would proceed if the arm took it up now.
pub(super) struct Plan {
    /// The segment that the read continues.
    pub(super) found: Found,
    /// The groove the head is at now.
    pub(super) head: u64,
    /// When the data begins to pass under the head.
    pub(super) begin: u64,
    /// When all the data has passed under the head.
    pub(super) end: u64,
}

impl Hdd {
    /// Serves a read from the buffer if all its data is there at `at` and returns `None`; a stream
    /// being read ahead may then read ahead further. Otherwise returns how the read would proceed
    /// on the medium.
    #[inline(always)]
    pub(super) fn read_from_buffer(&mut self, extent: &Extent, at: u64) -> Option<Plan> {
        let plan = self.plan_read(extent, at);
        match plan.found {
            Found::Left(_, to) if extent.to <= to => None,
            // Data that the arm is fetching for a command is not in the buffer before that command
            // ends.
            Found::Live if extent.to <= plan.head && !self.busy(at) => {
                self.mechanism.extend(self.buffer.limit(extent), at);
                self.buffer.consume(extent);
                None
            }
            _ => Some(plan),
        }
    }

    /// Starts what a command needs from the medium and returns when the command completes.
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
        // The arm moves while the data is transferred, so the data arrives before the head does.
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

    /// Writes to the medium and returns when the write ends.
    fn write_medium(&mut self, extent: &Extent, at: u64) -> u64 {
        self.buffer.leave(self.mechanism.position(at));
        let begin = self.mechanism.reach(extent.from, extent.first, at, Access::Write);
        let end = begin + (extent.to - extent.from);
        self.mechanism.finish(extent, end, extent.to);
        end
    }

    /// How a read would proceed: continuing a stream, from the end of its segment, or from its own
    /// first sector.
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

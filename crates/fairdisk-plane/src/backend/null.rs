//! A backend that does nothing, for measuring the cost of everything around it.

use super::{Backend, Chosen, Done, in_range, wait_ready};
use crate::buffer::Buffer;
use crate::clock::Clock;
use fairdisk_core::{Instant, Request};
use std::io;

/// Completes every request immediately without touching its data. A read returns whatever was in
/// its buffer.
#[derive(Debug)]
pub struct Null {
    capacity_sectors: u64,
    depth: u32,
    ready: Vec<Done>,
}

impl Null {
    /// A backend of `capacity_sectors` that takes up to `depth` requests at once.
    #[must_use]
    pub const fn new(capacity_sectors: u64, depth: u32) -> Self {
        Self { capacity_sectors, depth, ready: Vec::new() }
    }
}

impl Backend for Null {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn in_flight(&self) -> u32 {
        self.ready.len() as u32
    }

    fn submit(&mut self, _now: Instant, request: &Request, data: Buffer) {
        let result = in_range(request, self.capacity_sectors);
        self.ready.push(Done { id: request.id, data, result });
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        wait_ready(&mut self.ready, clock, deadline, done);
        Ok(())
    }

    fn chosen(&self) -> Chosen {
        Chosen::new("null", "no data is wanted")
    }
}

//! The disk of a storm.

use crate::storm::{Storm, group_of};
use fairdisk_core::Span;

impl Storm {
    /// Begins with one of the requests at the disk, if it does nothing.
    pub(crate) fn pick(&mut self) {
        if self.serving.is_some() || self.at_disk.is_empty() {
            return;
        }
        let at = self.prng.below(self.at_disk.len() as u64) as usize;
        let request = self.at_disk.remove(at);
        let group = group_of(request);
        // No write is so fast that it looks like one that the disk has yet to do.
        let most = self.service_max.as_us();
        let is_write = self.tasks[request.0 as usize].is_write;
        let least = if is_write { most / 3 } else { 50 };
        let follows = self.before.replace(group) == Some(group);
        let us = match self.seeks {
            true if follows => self.prng.between(least.min(most / 4), most / 3),
            true => most,
            false => self.prng.between(least, most),
        };
        let takes = Span::from_us(us);
        self.serving = Some((self.now + takes, takes, request));
    }
}

//! The disks of a machine, each used by itself, and the transport that they may share.

use super::link::Link;
use super::{Device, DeviceIo, DeviceModel, Done};
use crate::alarms::Alarms;
use fairdisk_core::Instant;

/// The disks of a machine, by their numbers.
#[derive(Clone, Debug)]
pub struct Jbod {
    disks: Vec<DeviceModel>,
    /// When each disk next does something by itself.
    alarms: Alarms,
    link: Option<Box<Link>>,
}

impl From<DeviceModel> for Jbod {
    fn from(disk: DeviceModel) -> Self {
        Self::new(vec![disk], None)
    }
}

impl Jbod {
    /// These disks, none of which has been used. If `link_mb_per_s` is given, all data of theirs
    /// goes through one transport with this rate in each direction.
    #[must_use]
    pub fn new(disks: Vec<DeviceModel>, link_mb_per_s: Option<u32>) -> Self {
        let link = link_mb_per_s.map(|rate| Box::new(Link::new(rate, disks.len())));
        let mut jbod = Self { alarms: Alarms::new(disks.len()), disks, link };
        (0..jbod.disks.len()).for_each(|disk| jbod.set_alarm(disk));
        jbod
    }

    /// The disks.
    #[must_use]
    pub fn disks(&self) -> &[DeviceModel] {
        &self.disks
    }

    /// The first disk, where there is one.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn only(&self) -> &DeviceModel {
        &self.disks[0]
    }

    fn set_alarm(&mut self, disk: usize) {
        self.alarms.set(disk, self.disks[disk].next_event());
    }

    /// When a disk or the transport next does something by itself; `None` while all are idle.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        let disks = self.alarms.first();
        let Some(link) = &self.link else { return disks };
        [disks, link.next_event()].into_iter().flatten().min()
    }

    /// Submits a request to a disk, as [`Device::submit`] does.
    #[inline]
    pub fn submit(&mut self, now: Instant, disk: u32, io: &DeviceIo) {
        let is_there = match &mut self.link {
            None => true,
            Some(link) => link.send(now, disk, io),
        };
        if is_there {
            self.disks[disk as usize].submit(now, io);
            self.set_alarm(disk as usize);
        }
    }

    /// Advances a disk to `now`, and appends the requests that have completed. Disks are advanced
    /// in their order, and then the [transport](Self::deliver).
    #[inline]
    pub fn advance(&mut self, now: Instant, disk: u32, done: &mut Vec<Done>) {
        let at = disk as usize;
        if !self.alarms.is_due(at, now) {
            return;
        }
        self.disks[at].advance(now, done);
        self.set_alarm(at);
        if let Some(link) = &mut self.link {
            done.retain(|done| link.answer(now, disk, *done));
        }
    }

    /// Submits what has come through the transport by `now` to its disks, and returns the next
    /// request whose data has come from its disk.
    #[inline]
    pub fn deliver(&mut self, now: Instant) -> Option<(u32, Done)> {
        let link = self.link.as_mut()?;
        while let Some((disk, io)) = link.at_disk(now) {
            let disk = disk as usize;
            self.disks[disk].submit(now, &io);
            self.alarms.set(disk, self.disks[disk].next_event());
        }
        link.at_host(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceSpec, FixedCost, FixedParams, FixedSpec};
    use fairdisk_core::{GroupId, Lba, Op, RequestId, Sectors};

    /// 512 KB take 1 ms at 512 MB/s.
    const SECTORS: u32 = 1000;
    const MB_PER_S: u32 = 512;

    fn disk(latency_us: u32) -> DeviceModel {
        let cost = FixedCost { latency_us, mb_per_s: None };
        let (capacity_sectors, parallel) = (1 << 20, 4);
        let params =
            FixedParams { capacity_sectors, parallel, read: cost, write: cost, flush_us: 0 };
        DeviceSpec::Fixed(FixedSpec::new(params).expect("describes a device")).build()
    }

    fn io(id: u32, op: Op, start: u64) -> DeviceIo {
        let (group, sectors) = (GroupId::ROOT, Sectors(SECTORS));
        DeviceIo { id: RequestId(id), group, op, start: Lba(start), sectors, fua: false }
    }

    /// When each request completes, in microseconds, with its disk and number.
    fn completions(mut jbod: Jbod, ios: &[(u32, DeviceIo)]) -> Vec<(u64, u32, u32)> {
        ios.iter().for_each(|(disk, io)| jbod.submit(Instant::ZERO, *disk, io));
        let (mut completed, mut done) = (Vec::new(), Vec::new());
        while let Some(now) = jbod.next_event() {
            let us = now.as_ns() / 1000;
            for disk in 0..jbod.disks().len() as u32 {
                jbod.advance(now, disk, &mut done);
                completed.extend(done.drain(..).map(|done| (us, disk, done.id.0)));
            }
            while let Some((disk, done)) = jbod.deliver(now) {
                completed.push((us, disk, done.id.0));
            }
        }
        completed
    }

    #[test]
    fn what_completes_at_one_instant_comes_in_the_order_of_disks() {
        let jbod = Jbod::new(vec![disk(5000), disk(5000), disk(5000)], None);
        let ios = [2, 0, 1].map(|disk| (disk, io(7, Op::Read, 0)));
        assert_eq!(completions(jbod, &ios), [(5000, 0, 7), (5000, 1, 7), (5000, 2, 7)]);
    }

    #[test]
    fn what_is_read_comes_through_the_link_one_after_another() {
        let jbod = Jbod::new(vec![disk(5000), disk(5000), disk(9000)], Some(MB_PER_S));
        let ios = [0, 1, 2].map(|disk| (disk, io(0, Op::Read, 0)));
        assert_eq!(completions(jbod, &ios), [(6000, 0, 0), (7000, 1, 0), (10_000, 2, 0)]);
    }

    #[test]
    fn what_is_written_reaches_its_disk_first_and_does_not_hold_up_what_is_read() {
        let jbod = Jbod::new(vec![disk(5000), disk(5000)], Some(MB_PER_S));
        let ios = [
            (0, io(0, Op::Write, 0)),
            (1, io(0, Op::Write, 0)),
            (1, io(1, Op::Read, 0)),
            (0, io(1, Op::Flush, 0)),
        ];
        let completed = completions(jbod, &ios);
        assert_eq!(completed, [(0, 0, 1), (6000, 0, 0), (6000, 1, 1), (7000, 1, 0)]);
    }

    #[test]
    fn what_fails_brings_no_data() {
        let jbod = Jbod::new(vec![disk(5000)], Some(MB_PER_S));
        let ios = [(0, io(0, Op::Read, 1 << 20)), (0, io(1, Op::Read, 0))];
        let times: Vec<u64> = completions(jbod, &ios).iter().map(|(at, ..)| *at).collect();
        assert!(times[0] <= 5000 && times[1] == 6000, "{times:?}");
    }
}

//! The disks of a machine, each used by itself, and the transport that they may share.

use super::link::Link;
use super::{Device, DeviceIo, DeviceModel, Done};
use crate::alarms::Alarms;
use fairdisk_core::Instant;

/// The disks of a machine, by their numbers.
#[derive(Clone, Debug)]
pub struct Jbod(Disks);

#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one for a machine, and a box would cost every call an indirection"
)]
enum Disks {
    /// One with a transport as fast as itself, which is driven without a detour.
    One(DeviceModel),
    Several(Several),
}

#[derive(Clone, Debug)]
struct Several {
    disks: Vec<DeviceModel>,
    /// When each disk next does something by itself.
    alarms: Alarms,
    link: Option<Link>,
}

impl From<DeviceModel> for Jbod {
    fn from(disk: DeviceModel) -> Self {
        Self(Disks::One(disk))
    }
}

impl Jbod {
    /// These disks, none of which has been used. If `link_mb_per_s` is given, all data of theirs
    /// goes through one transport with this rate in each direction.
    #[must_use]
    pub fn new(disks: Vec<DeviceModel>, link_mb_per_s: Option<u32>) -> Self {
        match (<[DeviceModel; 1]>::try_from(disks), link_mb_per_s) {
            (Ok([disk]), None) => disk.into(),
            (Ok(disk), link) => Self(Disks::Several(Several::new(disk.into(), link))),
            (Err(disks), link) => Self(Disks::Several(Several::new(disks, link))),
        }
    }

    /// The disks.
    #[must_use]
    pub fn disks(&self) -> &[DeviceModel] {
        match &self.0 {
            Disks::One(disk) => std::slice::from_ref(disk),
            Disks::Several(several) => &several.disks,
        }
    }

    /// The first disk, where there is one.
    #[must_use]
    pub fn only(&self) -> &DeviceModel {
        &self.disks()[0]
    }

    /// When a disk or the transport next does something by itself; `None` while all are idle.
    #[inline(always)]
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        match &self.0 {
            Disks::One(disk) => disk.next_event(),
            Disks::Several(several) => several.next_event(),
        }
    }

    /// Submits a request to a disk, as [`Device::submit`] does.
    #[inline(always)]
    pub fn submit(&mut self, now: Instant, disk: u32, io: &DeviceIo) {
        match &mut self.0 {
            Disks::One(only) => only.submit(now, io),
            Disks::Several(several) => several.submit(now, disk, io),
        }
    }

    /// Advances all disks and the transport to `now` and tells what has completed, in the order of
    /// disks. `done` is an empty list to work with.
    #[inline(always)]
    pub fn advance(
        &mut self,
        now: Instant,
        done: &mut Vec<Done>,
        mut tell: impl FnMut(u32, &Done),
    ) {
        match &mut self.0 {
            Disks::One(disk) => {
                disk.advance(now, done);
                done.iter().for_each(|done| tell(0, done));
                done.clear();
            }
            Disks::Several(several) => several.advance(now, done, tell),
        }
    }
}

impl Several {
    fn new(disks: Vec<DeviceModel>, link_mb_per_s: Option<u32>) -> Self {
        let link = link_mb_per_s.map(|rate| Link::new(rate, disks.len()));
        let mut several = Self { alarms: Alarms::new(disks.len()), disks, link };
        (0..several.disks.len() as u32).for_each(|disk| several.set_alarm(disk));
        several
    }

    fn set_alarm(&mut self, disk: u32) {
        self.alarms.set(disk, self.disks[disk as usize].next_event());
    }

    fn next_event(&self) -> Option<Instant> {
        let link = self.link.as_ref().and_then(Link::next_event);
        [self.alarms.first(), link].into_iter().flatten().min()
    }

    #[inline(never)]
    fn submit(&mut self, now: Instant, disk: u32, io: &DeviceIo) {
        let is_there = match &mut self.link {
            None => true,
            Some(link) => link.send(now, disk, io),
        };
        if is_there {
            self.put(now, disk, io);
        }
    }

    fn put(&mut self, now: Instant, disk: u32, io: &DeviceIo) {
        self.disks[disk as usize].submit(now, io);
        self.set_alarm(disk);
    }

    #[inline(never)]
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>, mut tell: impl FnMut(u32, &Done)) {
        for disk in 0..self.disks.len() as u32 {
            if !self.alarms.is_due(disk, now) {
                continue;
            }
            self.disks[disk as usize].advance(now, done);
            self.set_alarm(disk);
            if let Some(link) = &mut self.link {
                done.retain(|done| link.answer(now, disk, *done));
            }
            done.iter().for_each(|done| tell(disk, done));
            done.clear();
        }
        while let Some((disk, io)) = self.link.as_mut().and_then(|link| link.at_disk(now)) {
            self.put(now, disk, &io);
        }
        while let Some((disk, done)) = self.link.as_mut().and_then(|link| link.at_host(now)) {
            tell(disk, &done);
        }
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
        let mut completed = Vec::new();
        while let Some(now) = jbod.next_event() {
            let mut tell =
                |disk, done: &Done| completed.push((now.as_ns() / 1000, disk, done.id.0));
            jbod.advance(now, &mut Vec::new(), &mut tell);
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

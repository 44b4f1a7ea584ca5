//! The disks of a machine, each used by itself, and the transport that they may share.

use super::adapter::{AdapterCost, Adapters};
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
    adapters: Option<Adapters>,
    /// A transport that all disks share, or one for each.
    links: Vec<Link>,
}

/// How disks are attached to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The rate in each direction of a transport that all data of the disks goes through.
    pub shared_mb_per_s: Option<u32>,
    /// The rate in each direction of a transport that each disk has for itself.
    pub own_mb_per_s: Option<u32>,
    /// What commands cost the adapter that each disk has.
    pub cost: AdapterCost,
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
        Self::attached(disks, Attachment { shared_mb_per_s: link_mb_per_s, ..Default::default() })
    }

    /// These disks, none of which has been used, attached in this way.
    #[must_use]
    pub fn attached(disks: Vec<DeviceModel>, how: Attachment) -> Self {
        match (<[DeviceModel; 1]>::try_from(disks), how == Attachment::default()) {
            (Ok([disk]), true) => disk.into(),
            (Ok(disk), false) => Self(Disks::Several(Several::new(disk.into(), how))),
            (Err(disks), _) => Self(Disks::Several(Several::new(disks, how))),
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

    /// Submits a request with so many segments to a disk, as [`Device::submit`] does.
    #[inline(always)]
    pub fn submit(&mut self, now: Instant, disk: u32, io: &DeviceIo, segments: u32) {
        match &mut self.0 {
            Disks::One(only) => only.submit(now, io),
            Disks::Several(several) => several.submit(now, disk, io, segments),
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
    fn new(disks: Vec<DeviceModel>, how: Attachment) -> Self {
        let count = disks.len();
        let Attachment { shared_mb_per_s, own_mb_per_s, cost } = how;
        assert!(shared_mb_per_s.is_none() || own_mb_per_s.is_none(), "there is one transport");
        let shared = shared_mb_per_s.map(|rate| Link::new(rate, count));
        let own = own_mb_per_s.map(|rate| vec![Link::new(rate, count); count]);
        let links = own.unwrap_or_else(|| shared.into_iter().collect());
        let adapters = (cost != AdapterCost::NONE).then(|| Adapters::new(cost, count));
        let mut several = Self { alarms: Alarms::new(count), disks, adapters, links };
        (0..count as u32).for_each(|disk| several.set_alarm(disk));
        several
    }

    fn set_alarm(&mut self, disk: u32) {
        self.alarms.set(disk, self.disks[disk as usize].next_event());
    }

    fn next_event(&self) -> Option<Instant> {
        let links = self.links.iter().filter_map(Link::next_event).min();
        let adapters = self.adapters.as_ref().and_then(Adapters::next_event);
        [self.alarms.first(), links, adapters].into_iter().flatten().min()
    }

    #[inline(never)]
    fn submit(&mut self, now: Instant, disk: u32, io: &DeviceIo, segments: u32) {
        match &mut self.adapters {
            None => self.send(now, disk, io),
            Some(adapters) => adapters.take(now, disk, io, segments),
        }
    }

    /// Sends a request through the transport.
    fn send(&mut self, now: Instant, disk: u32, io: &DeviceIo) {
        if link_of(&mut self.links, disk).is_none_or(|link| link.send(now, disk, io)) {
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
            if let Some(link) = link_of(&mut self.links, disk) {
                done.retain(|done| link.answer(now, disk, *done));
            }
            done.iter().for_each(|done| tell(disk, done));
            done.clear();
        }
        while let Some((disk, io)) = self.adapters.as_mut().and_then(|it| it.through(now)) {
            self.send(now, disk, &io);
        }
        for at in 0..self.links.len() {
            while let Some((disk, io)) = self.links[at].at_disk(now) {
                self.put(now, disk, &io);
            }
            while let Some((disk, done)) = self.links[at].at_host(now) {
                tell(disk, &done);
            }
        }
    }
}

/// The transport of a disk: its own, or the one for all, if there is any.
fn link_of(links: &mut [Link], disk: u32) -> Option<&mut Link> {
    match links {
        [shared] => Some(shared),
        links => links.get_mut(disk as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceSpec, FixedCost, FixedParams, FixedSpec};
    use fairdisk_core::{GroupId, Lba, Op, RequestId, Sectors, Span};

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
        ios.iter().for_each(|(disk, io)| jbod.submit(Instant::ZERO, *disk, io, 2));
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

    #[test]
    fn an_adapter_takes_one_command_after_another_while_the_disk_works() {
        let cost = AdapterCost {
            command: Span::from_us(100),
            segment: Span::from_us(20),
            page: Span::from_us(3),
        };
        let how = Attachment { cost, ..Attachment::default() };
        let jbod = Jbod::attached(vec![disk(1000), disk(1000)], how);
        let ios = [(0, io(0, Op::Read, 0)), (0, io(1, Op::Flush, 0)), (1, io(0, Op::Write, 0))];
        // Two segments, and 125 pages.
        let first = 100 + 2 * 20 + 125 * 3;
        let flush = first + 100 + 2 * 20;
        let expected = [(flush, 0, 1), (first + 1000, 0, 0), (first + 1000, 1, 0)];
        assert_eq!(completions(jbod, &ios), expected);
    }

    #[test]
    fn disks_with_transports_of_their_own_do_not_hold_up_each_other() {
        let how = Attachment { own_mb_per_s: Some(MB_PER_S), ..Attachment::default() };
        let jbod = Jbod::attached(vec![disk(5000), disk(5000)], how);
        let ios = [0, 1, 0].map(|disk| (disk, io(disk, Op::Read, 0)));
        let ios = [ios[0], ios[1], (0, io(7, Op::Read, 0))];
        assert_eq!(completions(jbod, &ios), [(6000, 0, 0), (6000, 1, 1), (7000, 0, 7)]);
    }
}

//! Merging on devices whose adapter takes only so many segments.

#[path = "model/fifo.rs"]
mod fifo;

use fairdisk_core::{
    Bio, BioId, Effects, Engine, EngineConfig, Flags, GroupId, Input, Instant, IoPrio, Journal,
    Lba, Op, Record, RequestId, Sectors, SegmentLimits, Segments, TaskId,
};
use fifo::Fifo;

const LIMITS: SegmentLimits = SegmentLimits { segments_max: 4, pages_max: 4 };
const FAR: u64 = 1_000_000;

struct Disk {
    engine: Engine<Fifo>,
    effects: Effects,
    bios: u64,
}

impl Disk {
    /// A disk that is busy with one request, so that later ones are queued.
    fn busy(segments: Option<SegmentLimits>) -> Self {
        let config = EngineConfig { segments, ..EngineConfig::default() };
        let engine = Engine::new(Fifo::default(), config, Journal::keeping());
        let mut disk = Self { engine, effects: Effects::new(), bios: 0 };
        disk.read(FAR, &[3]);
        disk
    }

    /// Reads pages from a position, in pages, into these frames.
    fn read(&mut self, page: u64, frames: &[u32]) -> BioId {
        let pages = frames.iter().map(|frame| Segments::of_frame(*frame));
        let segments = pages.reduce(|all, page| all.then(page, &LIMITS)).expect("there are pages");
        let bio = self.bio(page, frames.len() as u32);
        self.handle(Input::SubmitPages(bio, segments));
        bio.id
    }

    /// Reads pages into frames of which nothing is known.
    fn read_anywhere(&mut self, page: u64, pages: u32) -> BioId {
        let bio = self.bio(page, pages);
        self.handle(Input::Submit(bio));
        bio.id
    }

    fn bio(&mut self, page: u64, pages: u32) -> Bio {
        self.bios += 1;
        Bio {
            id: BioId(self.bios),
            task: TaskId(0),
            group: GroupId::ROOT,
            op: Op::Read,
            start: Lba(8 * page),
            sectors: Sectors(8 * pages),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        }
    }

    fn handle(&mut self, input: Input<Fifo>) {
        self.engine.handle(Instant::ZERO, input, &mut self.effects);
    }

    /// What became of the bio submitted last.
    fn last(&self) -> Vec<Record> {
        let entries = self.engine.journal().entries();
        let from = entries.iter().rposition(|it| matches!(it.record, Record::Submitted(_)));
        entries[from.expect("one was submitted") + 1..].iter().map(|it| it.record).collect()
    }

    fn segments(&self, request: u32) -> Option<u32> {
        self.engine.segments(RequestId(request))
    }
}

#[test]
fn a_bio_joins_up_to_the_segments_of_the_adapter_and_the_journal_says_why_no_further() {
    let mut disk = Disk::busy(Some(LIMITS));
    disk.read(0, &[10, 20]);
    let second = disk.read(2, &[30, 40]);
    assert_eq!(disk.last(), [Record::Merged(second, RequestId(1))]);
    assert_eq!(disk.segments(1), Some(4));
    let third = disk.read(4, &[50]);
    let reason = Record::TooManySegments(third, RequestId(1));
    assert_eq!(disk.last(), [reason, Record::Queued(third, RequestId(2))]);
    // A request that it does not adjoin is no reason.
    let elsewhere = disk.read(100, &[60]);
    assert_eq!(disk.last(), [Record::Queued(elsewhere, RequestId(3))]);
}

#[test]
fn without_an_adapter_nobody_counts() {
    let mut disk = Disk::busy(None);
    for page in 0..20 {
        disk.read(page, &[1000 - page as u32]);
    }
    assert_eq!(disk.engine.request(RequestId(1)).map(|it| it.sectors), Some(Sectors(160)));
    assert_eq!(disk.segments(1), None);
}

#[test]
fn ascending_frames_take_a_segment_for_as_many_pages_as_it_may_have() {
    let mut disk = Disk::busy(Some(LIMITS));
    disk.read(0, &[0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(disk.segments(1), Some(2));
    let next = disk.read(7, &[7, 8, 9, 10]);
    assert_eq!(disk.last(), [Record::Merged(next, RequestId(1))]);
    assert_eq!(disk.segments(1), Some(3), "eleven pages in a row");
    // Counted are two and one: where bios meet, a segment counts twice.
    let next = disk.read(11, &[11]);
    assert_eq!(disk.last(), [Record::Merged(next, RequestId(1))]);
    assert_eq!(disk.segments(1), Some(3));
    let next = disk.read(12, &[12]);
    assert!(disk.last().contains(&Record::TooManySegments(next, RequestId(1))));
}

#[test]
fn in_front_it_is_the_end_of_the_bio_that_counts() {
    let mut disk = Disk::busy(Some(LIMITS));
    disk.read(8, &[8, 9]);
    disk.read(6, &[6, 7]);
    assert_eq!(disk.segments(1), Some(1));
    disk.read(5, &[4]);
    assert_eq!(disk.segments(1), Some(2));
}

#[test]
fn requests_join_if_the_adapter_takes_both_together() {
    let joined = Record::Absorbed(RequestId(2), RequestId(1));
    // With the page between them these are five segments, or four if one goes on across the seam.
    for (behind, joins) in [([20, 30], true), ([21, 30], false)] {
        let mut disk = Disk::busy(Some(LIMITS));
        disk.read(3, &behind);
        disk.read(0, &[10, 9]);
        let between = disk.read(2, &[19]);
        assert!(disk.last().contains(&Record::Merged(between, RequestId(2))), "{behind:?}");
        assert_eq!(disk.last().contains(&joined), joins, "{behind:?}");
        assert_eq!(disk.segments(2), Some(if joins { 4 } else { 3 }));
    }
}

#[test]
fn pages_that_may_be_anywhere_are_a_segment_each() {
    let mut disk = Disk::busy(Some(LIMITS));
    disk.read_anywhere(0, 3);
    assert_eq!(disk.segments(1), Some(3));
    let next = disk.read_anywhere(3, 2);
    assert!(disk.last().contains(&Record::TooManySegments(next, RequestId(1))));
}

#[test]
fn a_flush_has_no_segments() {
    let mut disk = Disk::busy(Some(LIMITS));
    let flush = Bio::flush(BioId(99), TaskId(0), GroupId::ROOT, IoPrio::UNSET);
    disk.handle(Input::Submit(flush));
    assert_eq!(disk.segments(1), Some(0));
}

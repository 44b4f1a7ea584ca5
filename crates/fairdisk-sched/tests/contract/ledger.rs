//! A record of what happened to every bio, kept without looking into the engine. It independently
//! checks that overlapping writes and flushes keep their order (law 8), and that every bio
//! completes once (law 2).

use fairdisk_core::{Bio, BioId, Op, Request, RequestId, TaskId};
use std::collections::BTreeMap;

#[derive(Debug)]
struct Line {
    bio: Bio,
    /// When its request was issued to the device, as a count of events.
    issued: u64,
    /// When it completed or was cancelled.
    gone: Option<u64>,
}

/// A completion whose bios are being reported.
#[derive(Debug)]
struct Settling {
    issued: u64,
    request: Request,
    ok: bool,
    sectors: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Whether law 8 is checked.
    ordered: bool,
    /// In order of submission.
    lines: Vec<Line>,
    by_id: BTreeMap<BioId, usize>,
    at_device: BTreeMap<RequestId, (u64, Request)>,
    settling: Option<Settling>,
    events: u64,
    live: u64,
}

impl Ledger {
    pub(crate) fn new(ordered: bool) -> Self {
        Self { ordered, ..Self::default() }
    }

    pub(crate) fn submitted(&mut self, bio: Bio) {
        let known = self.by_id.insert(bio.id, self.lines.len());
        assert!(known.is_none(), "the test used {:?} twice", bio.id);
        self.lines.push(Line { bio, issued: 0, gone: None });
        self.live += 1;
    }

    pub(crate) fn issued(&mut self, request: Request) {
        self.events += 1;
        let known = self.at_device.insert(request.id, (self.events, request));
        assert!(known.is_none(), "{:?} went to the device twice", request.id);
    }

    pub(crate) fn finished(&mut self, bio: BioId, task: TaskId, ok: bool) {
        let at = self.gone(bio);
        assert_eq!(self.lines[at].bio.task, task);
        self.book(at, ok);
    }

    pub(crate) fn cancelled(&mut self, bio: BioId) {
        let at = self.gone(bio);
        self.lines[at].issued = u64::MAX;
    }

    fn gone(&mut self, bio: BioId) -> usize {
        self.events += 1;
        let at = *self.by_id.get(&bio).expect("a bio nobody submitted");
        let line = &mut self.lines[at];
        assert_eq!(line.gone, None, "law 2: {bio:?} ended twice");
        line.gone = Some(self.events);
        self.live -= 1;
        at
    }

    /// Records that the device completed `id`. The bios that complete until [`Self::settle`] are
    /// those it carried; its slot may be reused before that.
    pub(crate) fn completed(&mut self, id: RequestId, ok: bool) {
        let (issued, request) = self.at_device.remove(&id).expect("it was at the device");
        self.settling = Some(Settling { issued, request, ok, sectors: 0 });
    }

    /// Ends an input, all of whose effects have been carried out.
    pub(crate) fn settle(&mut self) {
        let Some(Settling { request, sectors, .. }) = self.settling.take() else { return };
        assert_eq!(sectors, request.sectors.0, "law 2: {request:?} carried something else");
    }

    fn book(&mut self, at: usize, ok: bool) {
        let settling = self.settling.as_mut().expect("law 2: finished without a completion");
        let Settling { issued, request, .. } = *settling;
        let bio = self.lines[at].bio;
        settling.sectors += bio.sectors.0;
        assert_eq!(settling.ok, ok, "a bio does not share its request's fate");
        assert_eq!(bio.op, request.op);
        assert!(bio.start >= request.start && bio.end() <= request.end(), "{bio:?}");
        self.lines[at].issued = issued;
        if self.ordered {
            self.check_order(at);
        }
    }

    /// Checks that everything submitted earlier that must come first was gone before this bio was
    /// issued.
    fn check_order(&self, at: usize) {
        let Line { bio, issued, .. } = self.lines[at];
        for earlier in self.lines[..at].iter().filter(|line| must_come_first(&line.bio, &bio)) {
            let in_order = earlier.gone.is_some_and(|gone| gone < issued);
            assert!(in_order, "law 8: {bio:?} did not wait for {:?}", earlier.bio);
        }
    }

    /// The number of bios that have not ended.
    pub(crate) const fn live(&self) -> u64 {
        self.live
    }

    pub(crate) fn leftovers(&self) -> Vec<&Bio> {
        self.lines.iter().filter(|line| line.gone.is_none()).map(|line| &line.bio).collect()
    }
}

fn must_come_first(earlier: &Bio, later: &Bio) -> bool {
    let writes = |bio: &Bio| !matches!(bio.op, Op::Read | Op::Flush);
    match (earlier.op, later.op) {
        (Op::Flush, _) => false,
        (_, Op::Flush) => writes(earlier) && earlier.group == later.group,
        _ => {
            let overlap = earlier.start < later.end() && later.start < earlier.end();
            overlap && (writes(earlier) || writes(later))
        }
    }
}

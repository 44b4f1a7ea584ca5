//! Whether others are the cause of a group's late requests.

/// Whether a group's requests are late although others have next to nothing, so that these are not
/// the cause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    /// Since a request was late with others having next to nothing: all requests, and the late
    /// ones.
    requests: u32,
    late: u32,
    /// Requests yet to be ignored, after it was of no use that others had little.
    rest: u32,
}

/// Others are not the cause if 8 requests are late, at more than one in 50. That is twice what the
/// 99th percentile allows, and 8 seldom come by chance. Chosen, as the next two: nine variants were
/// compared on one row of the matrix.
const LATE_JUDGED: u32 = 8;
const LATE_ONE_IN: u32 = 50;
/// Requests ignored after that: 20 times 200, of which one may be late, so that what was of no use
/// is seldom tried again.
const REST_REQUESTS: u32 = 4000;

impl Trouble {
    /// Counts a request of the group. Returns whether it is to be ignored.
    pub(super) const fn rests(&mut self) -> bool {
        self.requests = self.requests.saturating_add(1);
        let rests = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        rests
    }

    /// Counts a request that was late though others have next to nothing. Returns whether they are
    /// not the cause, and may have what they had for a while.
    pub(super) fn is_late(&mut self) -> bool {
        if self.late == 0 || self.requests > LATE_JUDGED * LATE_ONE_IN {
            (self.requests, self.late) = (0, 0);
        }
        self.late += 1;
        let is_judged = self.late == LATE_JUDGED;
        if is_judged {
            *self = Self { rest: REST_REQUESTS, ..Self::default() };
        }
        is_judged
    }
}

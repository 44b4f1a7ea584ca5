//! A group's budget and its loans to other groups.

use super::weights::WHOLE;

/// A group's account in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// Cost charged so far, as virtual time. Behind the clock the group has budget, ahead of it
    /// debt.
    pub(super) vtime: u64,
    /// Whether the group has requests, or had some in the last periods.
    pub(super) is_active: bool,
    /// Cost of the group's requests in the current period.
    pub(super) used: u64,
    /// Whether the group had requests but no budget in the current period.
    pub(super) ran_short: bool,
    /// Consecutive periods without any request.
    pub(super) idle_periods: u32,
    /// What the group lends; `None` if it does not.
    pub(super) loan: Option<Loan>,
}

/// The loan of a group that needs less than its part: it keeps some and lends the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub(super) part: u64,
    pub(super) keeps: u64,
}

impl Loan {
    /// A smaller loan that leaves enough for a request of cost `cost_ns` to go at once, given
    /// `saved` virtual time. `None` if nothing can be lent then.
    pub(super) fn keep_for(self, cost_ns: u64, saved: u64) -> Option<Self> {
        let needs = relative(cost_ns, WHOLE).saturating_mul(WHOLE).checked_div(saved)? + 1;
        (needs < self.part).then_some(Self { keeps: needs.max(self.keeps), ..self })
    }
}

/// All loans together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loans {
    parts: u64,
    kept: u64,
}

impl Loans {
    pub(super) const fn add(&mut self, loan: Loan) {
        self.parts += loan.part;
        self.kept += loan.keeps;
    }

    pub(super) const fn take_back(&mut self, loan: Loan) {
        self.parts -= loan.part;
        self.kept -= loan.keeps;
    }

    /// The enlarged part of a group that does not lend: what the lenders do not keep is divided
    /// among the others in proportion to their parts.
    pub(super) fn with_loans(&self, part: u64) -> u64 {
        let (others, left) = (WHOLE.saturating_sub(self.parts), WHOLE.saturating_sub(self.kept));
        part.saturating_mul(left.max(others)).checked_div(others).unwrap_or(part)
    }
}

/// A cost in virtual time, for a group with the given part of the disk.
pub(super) const fn relative(cost_ns: u64, part: u64) -> u64 {
    let cost = if cost_ns > 1 << 39 { 1 << 39 } else { cost_ns };
    cost * WHOLE / if part == 0 { 1 } else { part }
}

impl Budget {
    /// What the group may lend of its part, given its use during `passed` virtual time: all but
    /// that use and a quarter more. A group that ran short lends nothing.
    pub(super) fn spare(&self, passed: u64, part: u64) -> Option<Loan> {
        if self.ran_short {
            return None;
        }
        let used = self.used.saturating_mul(WHOLE) / passed.max(1);
        let keeps = (used + used / 4).max(WHOLE / 1000);
        (keeps < part).then_some(Loan { part, keeps })
    }
}

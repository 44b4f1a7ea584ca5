//! What a group has to spend.

use crate::groups::WHOLE;

/// A group's account in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// What it has spent, as virtual time: behind the clock it has budget, ahead of it debt.
    pub(super) vtime: u64,
    /// It wants the disk, or did in the last period.
    pub(super) is_active: bool,
    /// What its requests of this period cost.
    pub(super) used: u64,
    /// In this period it had requests and no budget for them.
    pub(super) ran_short: bool,
    /// For so many periods it has wanted nothing.
    pub(super) idle_periods: u32,
    /// What it lends.
    pub(super) loan: Option<Loan>,
}

/// A group that needs less than its part of the disk keeps some and lends the rest to the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub(super) part: u64,
    pub(super) keeps: u64,
}

impl Loan {
    /// A smaller loan, with which something that costs so much goes at once if so much virtual time
    /// was saved; `None` if nothing can be lent then.
    pub(super) fn keep_for(self, cost_ns: u64, saved: u64) -> Option<Self> {
        let needs = relative(cost_ns, WHOLE).saturating_mul(WHOLE).checked_div(saved)? + 1;
        (needs < self.part).then_some(Self { keeps: needs.max(self.keeps), ..self })
    }
}

/// All that is lent.
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

    /// What the part of a group that lends nothing comes to: what the lenders do not keep goes to
    /// the others in proportion to their parts.
    pub(super) fn with_loans(&self, part: u64) -> u64 {
        let (others, left) = (WHOLE.saturating_sub(self.parts), WHOLE.saturating_sub(self.kept));
        part.saturating_mul(left.max(others)).checked_div(others).unwrap_or(part)
    }
}

/// What a cost is in virtual time to somebody who has a part of the disk.
pub(super) const fn relative(cost_ns: u64, part: u64) -> u64 {
    let cost = if cost_ns > 1 << 39 { 1 << 39 } else { cost_ns };
    cost * WHOLE / if part == 0 { 1 } else { part }
}

impl Budget {
    /// What it may lend of its part of the disk, by what it used while `passed` of virtual time
    /// went by: all but that and a quarter more. Who ran short needs all of it.
    pub(super) fn spare(&self, passed: u64, part: u64) -> Option<Loan> {
        if self.ran_short {
            return None;
        }
        let used = self.used.saturating_mul(WHOLE) / passed.max(1);
        let keeps = (used + used / 4).max(WHOLE / 1000);
        (keeps < part).then_some(Loan { part, keeps })
    }
}

//! The table of groups.

use super::{milliseconds, or_dash};
use crate::columns::padded;
use crate::digits::signed;
use crate::outcome::split::{TWO_REGIMES, mean_or_regimes};
use crate::outcome::{GroupOutcome, Outcome, PublishedGroup, RowOutcome};

/// The columns of the table of groups.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// The width of the names.
    width: usize,
    /// Whether runs can differ, so that there is a spread.
    spread: bool,
    /// Whether figures are published for a group.
    published: bool,
    /// Whether somebody expected shares of groups.
    expected: bool,
    /// Whether a group of the row called `fsync` or `fdatasync`.
    flushes: bool,
}

impl Columns {
    pub(super) fn of(outcome: &Outcome, row: &RowOutcome, width: usize) -> Self {
        let groups = outcome.rows.iter().flat_map(|row| &row.groups);
        let has = |share: fn(&PublishedGroup) -> Option<f64>| {
            groups
                .clone()
                .filter_map(|group| group.published.as_ref())
                .any(|it| share(it).is_some())
        };
        Self {
            width,
            spread: outcome.seeds > 1,
            published: has(|group| group.share),
            expected: has(|group| group.expected),
            flushes: has_flushes(row),
        }
    }

    pub(super) fn head(self) -> String {
        let Self { width, .. } = self;
        let share = if self.spread { "     share %" } else { "share %" };
        let published = if self.published { "  published   error" } else { "" };
        let expected = if self.expected { "  estimate     off" } else { "" };
        let flushes = if self.flushes { "  fsync p50  fsync p99" } else { "" };
        format!(
            "  {:width$}  {:>9}  {share}{published}{expected}  {:>6}  {:>6}  {:>8}  {:>8}{flushes}",
            "group", "IOs", "time %", "read %", "p50 ms", "p99 ms"
        )
    }

    pub(super) fn group(self, group: &GroupOutcome) -> String {
        let Self { width, .. } = self;
        let percent = |part: f64| part * 100.0;
        let ours = group.compared_share();
        let share = percent(ours.mean);
        let share = match self.spread {
            _ if ours.regimes().is_some() => format!("{TWO_REGIMES:>12}"),
            true => format!("{share:>6.1} ± {:>3.1}", percent(ours.sd)),
            false => format!("{share:>7.1}"),
        };
        let beside = |is_shown: bool, width: usize, share: Option<f64>, error: Option<f64>| {
            let share = or_dash(share, |share| format!("{:.1}", percent(share)));
            let error = or_dash(error, signed);
            if is_shown { format!("  {share:>width$}  {error:>6}") } else { String::new() }
        };
        let group_published = group.published.as_ref();
        let share_published = group_published.and_then(|published| published.share);
        let error = share_published.map(|share| percent(ours.mean - share));
        let published = beside(self.published, 9, share_published, error);
        let expected = group_published.and_then(|published| published.expected);
        let off = group_published.and_then(PublishedGroup::estimate_error);
        let expected = beside(self.expected, 8, expected, off);
        let flush = &group.directions.flush.latency;
        let flushes = match self.flushes {
            true => format!("  {:>9}  {:>9}", milliseconds(flush, 500), milliseconds(flush, 990)),
            false => String::new(),
        };
        format!(
            "  {}  {:>9}  {share}{published}{expected}  {:>6.1}  {:>6}  {:>8}  {:>8}{flushes}",
            padded(&group.name, width),
            mean_or_regimes(&group.ios, |ios| format!("{ios:.0}")),
            percent(group.time_share),
            reads(group),
            milliseconds(&group.latency, 500),
            milliseconds(&group.latency, 990),
        )
    }
}

/// Whether a group of the row called `fsync` or `fdatasync`.
pub(in crate::outcome) fn has_flushes(row: &RowOutcome) -> bool {
    row.groups.iter().any(|group| group.directions.has_flushes())
}

/// The percentage of reads, with the published one if there is one.
pub(in crate::outcome) fn reads(group: &GroupOutcome) -> String {
    let ours = or_dash(group.read_share, |part| format!("{:.0}", part * 100.0));
    match group.published.as_ref().and_then(|published| published.read_share) {
        Some(published) => format!("{ours}/{:.0}", published * 100.0),
        None => ours,
    }
}

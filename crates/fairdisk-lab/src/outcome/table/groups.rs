//! The table of groups.

use super::{milliseconds, or_dash, rate_number};
use crate::columns::{Grid, Head};
use crate::digits::signed;
use crate::outcome::split::{TWO_REGIMES, mean_or_regimes};
use crate::outcome::{GroupOutcome, Outcome, PublishedGroup, RowOutcome, part};

/// Which columns the table of groups has.
#[derive(Clone, Copy)]
struct Columns {
    /// Whether runs can differ, so that there is a spread.
    spread: bool,
    /// Whether figures are published for a group.
    published: bool,
    /// Whether somebody expected shares of groups.
    expected: bool,
    /// Whether it is known for a group of the row how much of the disk it is entitled to.
    asked: bool,
    /// Whether a group of the row called `fsync` or `fdatasync`.
    flushes: bool,
    /// The length of a run in seconds.
    duration_s: f64,
}

/// The table of the groups of a row.
pub(super) fn grid(outcome: &Outcome, row: &RowOutcome) -> Grid {
    let columns = Columns::of(outcome, row);
    Grid::of(row.groups.iter().map(|group| columns.of_group(group)))
}

fn percent(part: f64) -> String {
    format!("{:.1}", part * 100.0)
}

impl Columns {
    fn of(outcome: &Outcome, row: &RowOutcome) -> Self {
        let groups = outcome.rows.iter().flat_map(|row| &row.groups);
        let has = |share: fn(&PublishedGroup) -> Option<f64>| {
            groups
                .clone()
                .filter_map(|group| group.published.as_ref())
                .any(|it| share(it).is_some())
        };
        Self {
            spread: outcome.seeds > 1,
            published: has(|group| group.share),
            expected: has(|group| group.expected),
            asked: row.groups.iter().any(|group| group.disk.asked.is_some()),
            flushes: has_flushes(row),
            duration_s: row.duration_s,
        }
    }

    /// The cells of a group, in their order. Where there is no room for all, those leave first that
    /// say least about who got what.
    fn of_group(self, group: &GroupOutcome) -> Vec<(Head, String)> {
        let mut cells = vec![
            // At least as wide as the name of the total below.
            (Head::text("group"), group.name.clone()),
            (Head::number("IOs", 9), mean_or_regimes(&group.ios, |ios| format!("{ios:.0}"))),
            (Head::number("share %", 7), self.share(group)),
        ];
        self.push_published(&mut cells, group);
        let rate = rate_number(part(group.bytes, self.duration_s) / 1e6);
        cells.push((Head::number("MB/s", 6).leaves(8), rate));
        if self.asked {
            cells.push((Head::number("asked %", 0).leaves(9), or_dash(group.disk.asked, percent)));
        }
        cells.push((Head::number("got %", 6), percent(group.disk.got)));
        if self.asked {
            let part = or_dash(group.disk.got_of_asked(), |part| format!("{part:.2}"));
            cells.push((Head::number("got/asked", 0), part));
        }
        cells.push((Head::number("read %", 0).leaves(1), reads(group)));
        let latencies = [("p50 ms", 500, 3), ("p99 ms", 990, 7)];
        let flush = &group.directions.flush.latency;
        let of_flushes = [("fsync p50", 500, 2), ("fsync p99", 990, 6)];
        let of_flushes = of_flushes.iter().filter(|_| self.flushes).map(|it| (it, flush));
        for ((name, per_mille, order), latency) in
            latencies.iter().map(|it| (it, &group.latency)).chain(of_flushes)
        {
            let cell = milliseconds(latency, *per_mille);
            cells.push((Head::number(name, 8).leaves(*order), cell));
        }
        cells
    }

    /// The group's share of all I/Os.
    fn share(self, group: &GroupOutcome) -> String {
        let ours = group.compared_share();
        match self.spread {
            _ if ours.regimes().is_some() => TWO_REGIMES.to_owned(),
            true => format!("{} ± {:>3}", percent(ours.mean), percent(ours.sd)),
            false => percent(ours.mean),
        }
    }

    /// Adds what is published and what was expected, and how far that is off.
    fn push_published(self, cells: &mut Vec<(Head, String)>, group: &GroupOutcome) {
        let published = group.published.as_ref();
        if self.published {
            let share = published.and_then(|published| published.share);
            let error = share.map(|share| (group.compared_share().mean - share) * 100.0);
            cells.push((Head::number("published", 0), or_dash(share, percent)));
            cells.push((Head::number("error", 6), or_dash(error, signed)));
        }
        if self.expected {
            let expected = published.and_then(|published| published.expected);
            let off = published.and_then(PublishedGroup::estimate_error);
            cells.push((Head::number("estimate", 0).leaves(4), or_dash(expected, percent)));
            cells.push((Head::number("off", 6).leaves(4), or_dash(off, signed)));
        }
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

//! Why wishes cannot be granted: because of the disk, or because of other wishes.

use super::wish::{Kind, Wish};
use super::{Search, Tried, verdict};
use crate::compare::{Demands, Rate};
use crate::digits::ms;

impl Search<'_> {
    /// For each wish that was not granted, why it cannot be.
    pub(super) fn limits(
        &self,
        tried: &[Tried],
        best: Option<usize>,
        demands: &Demands,
    ) -> Vec<Option<String>> {
        let Some(best) = best.and_then(|at| tried.get(at)) else {
            return vec![None; self.wishes.len()];
        };
        let limit = |(at, wish): (usize, &Wish)| {
            if best.verdicts[at].met {
                return None;
            }
            let alone = demands.of(0, wish.group);
            if let Some(reason) = alone.and_then(|alone| self.impossible(wish, &alone)) {
                return Some(reason);
            }
            if let Some(reason) = self.contradiction(best, at) {
                return Some(reason);
            }
            Some(match tried.iter().find(|one| one.verdicts[at].met) {
                Some(one) => format!("only with others unmet, as under {}", one.name),
                None => {
                    let nearest = tried.iter().min_by(|one, other| {
                        one.verdicts[at].off.total_cmp(&other.verdicts[at].off)
                    });
                    let nearest = nearest.map_or_else(String::new, |one| {
                        format!("; nearest: {} under {}", one.verdicts[at].got, one.name)
                    });
                    format!("none of {} tries does it{nearest}", tried.len())
                }
            })
        };
        self.wishes.iter().enumerate().map(limit).collect()
    }

    /// Why the wish with this index cannot be granted beside the others, by what the best try did.
    fn contradiction(&self, best: &Tried, at: usize) -> Option<String> {
        let floors = self.wishes.iter().filter(|wish| wish.kind == Kind::Floor).count();
        let together = best.cell.floors * 100.0;
        match self.wishes[at].kind {
            Kind::Floor if floors > 1 && together > 100.0 => Some(format!(
                "contradicts the other floors: together they take {together:.0} % of the disk"
            )),
            _ => best.verdicts[at].contradicts.clone(),
        }
    }

    /// Why a wish cannot be granted even to a group that has the disk to itself.
    fn impossible(&self, wish: &Wish, alone: &Rate) -> Option<String> {
        let qos = &self.specs[wish.group].qos;
        match wish.kind {
            Kind::Floor => {
                let too_few = qos.floor.iops.is_some_and(|rate| alone.ios < rate.get() as f64)
                    || qos.floor.bytes_per_s.is_some_and(|rate| alone.bytes < rate.get() as f64);
                too_few.then(|| {
                    let does = verdict::rates_like(&qos.floor, alone.ios, alone.bytes);
                    format!("alone on the disk it does {does}")
                })
            }
            Kind::Latency => {
                let (target, p99) = (qos.latency_p99?.as_ns() as f64 / 1e6, alone.p99_ms?);
                // Who would do more than its ceiling allows waits for the ceiling.
                let wants_more = qos.ceiling.iops.is_some_and(|rate| alone.ios > rate.get() as f64)
                    || qos.ceiling.bytes_per_s.is_some_and(|rate| alone.bytes > rate.get() as f64);
                if wants_more {
                    let does = verdict::rates_like(&qos.ceiling, alone.ios, alone.bytes);
                    return Some(format!(
                        "its requests wait for its ceiling: alone on the disk it does {does}, with \
                         a p99 of {} ms",
                        ms(p99)
                    ));
                }
                (p99 > target).then(|| format!("alone on the disk its p99 is {} ms", ms(p99)))
            }
            Kind::Fsync => {
                let (target, p99) = (qos.fsync_p99?.as_ns() as f64 / 1e6, alone.fsync_p99_ms?);
                (p99 > target).then(|| format!("alone on the disk its fsync p99 is {} ms", ms(p99)))
            }
            Kind::Share | Kind::Ceiling => None,
        }
    }
}

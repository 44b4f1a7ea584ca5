//! What a group asks for, and what of it is in force.

use super::Asks;
use fairdisk_core::{Change, Contradiction, GroupId, Qos, Rates};

/// The settings of a group, as its directory says them and as the scheduler has accepted them.
#[derive(Debug)]
pub(super) struct Standing {
    /// The settings in force, without those that were refused.
    asks: Asks,
    /// The floor, ceiling and target before they last changed, to return to if the scheduler
    /// refuses.
    before: Qos,
    /// The floor, ceiling and target that the scheduler last refused, so that they are not tried
    /// again and again.
    refused: Option<Qos>,
    /// The contradiction among the settings of the directory that was last logged.
    contradiction: Option<Contradiction>,
}

impl Standing {
    /// That of a group with these settings in force.
    pub(super) const fn new(asks: Asks) -> Self {
        Self { asks, before: Qos::NONE, refused: None, contradiction: None }
    }

    /// The settings in force, as far as is known: the scheduler may still refuse the last ones.
    pub(super) const fn asks(&self) -> Asks {
        self.asks
    }

    /// The floor that the scheduler refused.
    pub(super) fn refused_floor(&self) -> Rates {
        self.refused.map_or(Rates::NONE, |refused| refused.floor)
    }

    /// Takes what the directory says now, without what was refused before. Appends what the
    /// scheduler must be told to `changes`.
    pub(super) fn ask(&mut self, group: GroupId, asks: Asks, changes: &mut Vec<Change>) {
        let before = self.asks;
        self.refused = self.refused.filter(|refused| *refused == asks.qos);
        let qos = if self.refused.is_some() { before.qos } else { asks.qos };
        self.asks = Asks { qos, ..asks };
        let Asks { share, idle, .. } = asks;
        if share != before.share {
            changes.push(Change::GroupShare { group, share });
        }
        if idle != before.idle {
            changes.push(Change::GroupIdle { group, idle });
        }
        if qos != before.qos {
            self.before = before.qos;
            changes.push(Change::GroupQos { group, qos });
        }
    }

    /// Asks for the floor once more, even if it was refused. Returns the settings without it and
    /// with it; `None` if there is none.
    pub(super) fn ask_anew(&mut self) -> Option<[Qos; 2]> {
        let qos = self.refused.take().unwrap_or(self.asks.qos);
        if qos.floor.is_none() {
            return None;
        }
        self.before = Qos { floor: Rates::NONE, ..self.asks.qos };
        self.asks.qos = qos;
        Some([self.before, qos])
    }

    /// Notes that the scheduler refused the floor, ceiling or target, so that the former ones stay
    /// in force.
    pub(super) const fn refuse(&mut self) {
        self.refused = Some(core::mem::replace(&mut self.asks.qos, self.before));
    }

    /// Notes that what was refused may be asked for again.
    pub(super) const fn forgive(&mut self) {
        self.refused = None;
    }

    /// Notes a contradiction among the settings of the directory. Returns it if it is new.
    pub(super) fn contradicts(&mut self, why: Option<Contradiction>) -> Option<Contradiction> {
        let last = core::mem::replace(&mut self.contradiction, why);
        why.filter(|_| last != why)
    }
}

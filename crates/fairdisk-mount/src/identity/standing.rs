//! What a group asks for, and what of it is in force.

use super::Asks;
use fairdisk_core::{Change, Contradiction, GroupId, Qos, Rates};

/// The settings of a group, as its directory says them and as the scheduler has accepted them.
#[derive(Debug)]
pub(super) struct Standing {
    /// The settings in force, without a floor that was refused.
    asks: Asks,
    /// The floor, ceiling and target that the scheduler was told last and has not refused. It may
    /// be about to be told, as changes are told several at a time.
    told: Qos,
    /// Those that it has accepted last, to which it keeps if it refuses.
    kept: Qos,
    /// The floor that the scheduler last refused, so that it is not tried again and again.
    refused: Rates,
    /// The contradiction among the settings of the directory that was last logged.
    contradiction: Option<Contradiction>,
}

impl Standing {
    /// That of a group with these settings in force, of which the scheduler has been told no floor,
    /// ceiling or target.
    pub(super) const fn new(asks: Asks) -> Self {
        let (told, kept) = (Qos::NONE, Qos::NONE);
        Self { asks, told, kept, refused: Rates::NONE, contradiction: None }
    }

    /// The settings in force, as far as is known: the scheduler may still refuse the last ones.
    pub(super) const fn asks(&self) -> Asks {
        self.asks
    }

    /// The floor that the scheduler refused.
    pub(super) const fn refused_floor(&self) -> Rates {
        self.refused
    }

    /// Takes what the directory says now, without a floor that was refused before. Appends what the
    /// scheduler must be told to `changes`.
    pub(super) fn ask(&mut self, group: GroupId, asks: Asks, changes: &mut Vec<Change>) {
        let before = self.asks;
        if self.refused != asks.qos.floor {
            self.refused = Rates::NONE;
        }
        let qos = match self.refused {
            Rates::NONE => asks.qos,
            _ => with_floor(asks.qos, before.qos.floor),
        };
        self.asks = Asks { qos, ..asks };
        let Asks { share, idle, .. } = asks;
        if share != before.share {
            changes.push(Change::GroupShare { group, share });
        }
        if idle != before.idle {
            changes.push(Change::GroupIdle { group, idle });
        }
        self.tell(group, changes);
    }

    /// Gives up everything that was asked for, as the directory with the settings is gone.
    pub(super) fn end(&mut self, group: GroupId, changes: &mut Vec<Change>) {
        self.ask(group, Asks::DEFAULT, changes);
    }

    /// Has the scheduler told what is in force after it has refused, if it does not keep to that
    /// yet. It has answered to everything that it was told.
    pub(super) fn settle(&mut self, group: GroupId, changes: &mut Vec<Change>) {
        self.told = self.kept;
        self.tell(group, changes);
    }

    fn tell(&mut self, group: GroupId, changes: &mut Vec<Change>) {
        let qos = self.asks.qos;
        if qos != self.told {
            self.told = qos;
            changes.push(Change::GroupQos { group, qos });
        }
    }

    /// Asks for the floor once more, even if it was refused. Returns the settings without it and
    /// with it; `None` if there is none.
    pub(super) fn ask_anew(&mut self) -> Option<[Qos; 2]> {
        let floor = match core::mem::take(&mut self.refused) {
            Rates::NONE => self.asks.qos.floor,
            refused => refused,
        };
        if floor.is_none() {
            return None;
        }
        let without = Qos { floor: Rates::NONE, ..self.asks.qos };
        self.asks.qos.floor = floor;
        self.told = self.asks.qos;
        Some([without, self.told])
    }

    /// Notes that the scheduler has accepted what it was told.
    pub(super) const fn accept(&mut self, qos: Qos) {
        self.kept = qos;
    }

    /// Notes that the scheduler refused the floor of `qos`. The one that it keeps to stays in
    /// force, unless it is the one that is refused or contradicts the ceiling; everything else is
    /// as it is asked for. The scheduler is yet to [be told](Self::settle). Returns false, and
    /// changes nothing, if something else was asked for since, which the scheduler is about to be
    /// told.
    pub(super) fn refuse(&mut self, qos: Qos) -> bool {
        if qos != self.told {
            return false;
        }
        self.told = self.kept;
        let asked = self.asks.qos;
        if self.refused.is_none() {
            self.refused = asked.floor;
            self.asks.qos = with_floor(asked, self.kept.floor);
        } else {
            self.asks.qos.floor = Rates::NONE;
        }
        true
    }

    /// Notes that this floor was refused, or none, so that any may be asked for again.
    pub(super) const fn note_refused(&mut self, floor: Rates) {
        self.refused = floor;
    }

    /// Notes a contradiction among the settings of the directory. Returns it if it is new.
    pub(super) fn contradicts(&mut self, why: Option<Contradiction>) -> Option<Contradiction> {
        let last = core::mem::replace(&mut self.contradiction, why);
        why.filter(|_| last != why)
    }
}

/// These settings with this floor, or without one if the ceiling is below it.
fn with_floor(qos: Qos, floor: Rates) -> Qos {
    let with = Qos { floor, ..qos };
    if with.check(false).is_ok() { with } else { Qos { floor: Rates::NONE, ..qos } }
}

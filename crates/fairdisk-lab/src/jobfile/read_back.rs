//! What is written is read back, as fio does to verify it. Data is not compared.

use std::num::NonZeroU32;

use serde::Serialize;

use super::check::say;
use super::draft::{Draft, Slot, value};
use super::finish;
use super::note::Notes;
use super::render::Lines;

/// The keys of verification.
#[derive(Debug, Clone, Default)]
pub(super) struct VerifyKeys {
    /// Whether `verify=` names a checksum.
    pub(super) verify: Slot<bool>,
    /// Whether it is read back at the end.
    pub(super) at_end: Slot<bool>,
    pub(super) backlog: Slot<u32>,
    pub(super) batch: Slot<u32>,
}

/// When a job reads back what it has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReadBack {
    /// Whether it does so after each pass (`verify`, `do_verify`).
    pub at_end: bool,
    /// The number of writes not read back at which it does so (`verify_backlog`).
    pub backlog: Option<NonZeroU32>,
    /// How many of them it reads then (`verify_backlog_batch`); all if not given.
    pub batch: Option<NonZeroU32>,
}

impl VerifyKeys {
    pub(super) fn verifies(&self) -> bool {
        value(&self.verify).unwrap_or(false)
    }
}

/// When the job reads back; never without a checksum and writes.
pub(super) fn read_back(draft: &Draft) -> ReadBack {
    let keys = &draft.verification;
    if !keys.verifies() || !finish::mix(draft).uses().write {
        return ReadBack::default();
    }
    let count = |slot: &Slot<u32>| value(slot).and_then(NonZeroU32::new);
    let backlog = count(&keys.backlog);
    let batch = count(&keys.batch).filter(|_| backlog.is_some());
    ReadBack { at_end: value(&keys.at_end).unwrap_or(true), backlog, batch }
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.verification;
    let back = read_back(draft);
    let is_off = back == ReadBack::default();
    let text = if is_off {
        "no effect: no data is verified"
    } else {
        "what was written is read back; no data is compared"
    };
    say(notes, &keys.verify, true, text);
    let nothing = "no effect: nothing is verified";
    say(notes, &keys.at_end, is_off && value(&keys.at_end) != Some(false), nothing);
    say(notes, &keys.backlog, is_off, nothing);
    let text = "no effect: it takes verify_backlog and writes to verify";
    say(notes, &keys.batch, back.backlog.is_none(), text);
}

impl ReadBack {
    pub(super) fn lines(&self, lines: &mut Lines) {
        if *self == Self::default() {
            return;
        }
        lines.set("verify", "null", "what was written is read back, and not compared");
        if !self.at_end {
            lines.set("do_verify", 0, "not at the end");
        }
        if let Some(backlog) = self.backlog {
            lines.set("verify_backlog", backlog, "writes between");
        }
        if let Some(batch) = self.batch {
            lines.set("verify_backlog_batch", batch, "of them read back");
        }
    }
}

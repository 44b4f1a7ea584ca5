//! A recorded sequence of I/Os, which a task does again.

use fairdisk_core::{Flags, Instant, Op, Span};
use std::sync::Arc;

/// One I/O of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptedIo {
    /// The operation; a flush has no bytes.
    pub op: Op,
    /// Where it begins in the task's file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether somebody waits for it.
    pub sync: bool,
    /// Whether it is durable when it is done.
    pub durable: bool,
    /// At most this many earlier I/Os of the task are under way when it begins: the others are what
    /// the task waited for.
    pub beside: u32,
    /// When it begins.
    pub due: Due,
}

/// When an I/O of a script begins, once no more than it allows are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// So long after the task has started.
    At(Span),
    /// So long after the one before began, or after one was done if that was later.
    After(Span),
}

/// How an I/O is marked: whether somebody waits for it, and with which hints.
pub(crate) type Marked = (bool, Flags);

impl ScriptedIo {
    pub(super) fn marked(&self) -> Marked {
        (self.sync, if self.durable { Flags::FUA } else { Flags::NONE })
    }
}

/// A script and how far it is done.
#[derive(Debug)]
pub(super) struct Script {
    ios: Arc<[ScriptedIo]>,
    next: usize,
    /// When the next one is due, once that is known.
    due: Option<Instant>,
    /// When an I/O last began or was done.
    last: Instant,
}

/// What a script says.
pub(super) enum Scripted {
    Io(ScriptedIo),
    Wait(Instant),
    End,
}

impl Script {
    pub(super) fn new(ios: &Arc<[ScriptedIo]>) -> Self {
        Self { ios: Arc::clone(ios), next: 0, due: None, last: Instant::ZERO }
    }

    /// Notes that an I/O is done, or that the task starts.
    pub(super) const fn note(&mut self, now: Instant) {
        self.last = now;
    }

    /// How many may be under way when the next one begins.
    pub(super) fn beside(&self) -> Option<u32> {
        self.ios.get(self.next).map(|io| io.beside)
    }

    pub(super) fn next(&mut self, now: Instant, began: Instant) -> Scripted {
        let Some(io) = self.ios.get(self.next) else { return Scripted::End };
        let due = *self.due.get_or_insert(match io.due {
            Due::At(since) => began + since,
            Due::After(since) => self.last + since,
        });
        if due > now {
            return Scripted::Wait(due);
        }
        (self.next, self.due, self.last) = (self.next + 1, None, now);
        Scripted::Io(*io)
    }
}

//! Where the next I/O lies: the orders a task can ask for, and its walk over one file.

use super::direction::PerOp;
use super::free_map::FreeMap;
use super::permutation::Permutation;
use super::skew::{Ranks, Skew};
use fairdisk_core::{Op, Prng};
use std::sync::Arc;

/// Where the next I/O lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoOrder {
    /// Right behind the last one.
    #[default]
    Sequential,
    /// So many bytes behind the last one; negative goes backwards. At the end it goes round.
    Holes(i64),
    /// Anywhere, each block as likely as another.
    Random,
    /// Anywhere, with more to say about it.
    Drawn(RandomOrder),
}

/// How random places are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomOrder {
    /// Whether some blocks are drawn more often than others.
    pub skew: Skew,
    /// Whether every block is visited once before any is visited twice. A skewed order and one
    /// that repeats visit again all the same.
    pub every_block_once: bool,
    /// Of 100 I/Os, how many draw a place; the others follow the last one.
    pub random_percent: PerOp<u8>,
    /// What is done with a drawn place.
    pub repeat: Repeat,
}

impl Default for RandomOrder {
    fn default() -> Self {
        Self {
            skew: Skew::Uniform,
            every_block_once: true,
            random_percent: PerOp::all(100),
            repeat: Repeat::Never,
        }
    }
}

/// What is done with a drawn place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// One I/O.
    #[default]
    Never,
    /// So many I/Os, each behind the one before.
    Sequential(u32),
    /// So many I/Os in the same place.
    Identical(u32),
}

/// The walk over one file, in bytes from where the used part of the file begins.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) file: u32,
    pub(super) start: u64,
    bytes: u64,
    /// What a pass over the file has left.
    left: u64,
    /// Where each operation goes on.
    next: PerOp<u64>,
    /// I/Os that still belong to the place drawn last.
    repeats: u32,
    drawn_at: u64,
    places: Places,
}

/// How places are drawn.
#[derive(Debug)]
enum Places {
    /// They are not.
    Following(i64),
    /// With replacement.
    Anywhere(RandomOrder),
    /// Each block once, in this order; so many have been drawn.
    Shuffled(RandomOrder, Permutation, u64),
    /// Each block once, in pieces of different sizes.
    Free(RandomOrder, FreeMap, u64),
    /// By rank; the ranks are spread over the file.
    Ranked(RandomOrder, Arc<Ranks>, Permutation, u64),
}

/// What all files of a task have in common.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) order: IoOrder,
    /// The smallest I/O.
    pub(super) unit: u64,
    /// Whether all I/Os are that large.
    pub(super) uniform: bool,
    /// The ranks made last; files of one size share them.
    pub(super) ranks: Option<Arc<Ranks>>,
}

impl Walk {
    pub(super) fn new(file: u32, start: u64, bytes: u64, style: &mut Style, seed: u64) -> Self {
        Self {
            file,
            start,
            bytes,
            left: bytes,
            next: PerOp::all(0),
            repeats: 0,
            drawn_at: 0,
            places: Places::new(bytes, style, seed),
        }
    }

    /// Whether a pass over the file has an I/O of `unit` left. One that visits places again ends
    /// with its last byte, as fio has it; the others when there is no whole block left to visit.
    pub(super) fn has_more(&self, unit: u64) -> bool {
        match &self.places {
            Places::Following(0) | Places::Shuffled(..) => self.left >= unit,
            Places::Following(_) | Places::Anywhere(_) | Places::Ranked(..) => self.left > 0,
            Places::Free(_, map, _) => map.has_free(),
        }
    }

    /// Begins another pass, in the same order again.
    pub(super) fn restart(&mut self) {
        self.left = self.bytes;
        self.next = PerOp::all(0);
        self.repeats = 0;
        match &mut self.places {
            Places::Shuffled(_, _, drawn) => *drawn = 0,
            Places::Free(_, map, _) => map.free_all(),
            Places::Following(_) | Places::Anywhere(_) | Places::Ranked(..) => {}
        }
    }

    /// Offset in the file and length of the next I/O, which is to have `bytes` and lie at a
    /// multiple of `align`. It is shorter where the file or the free stretch ends.
    pub(super) fn step(&mut self, op: Op, bytes: u64, align: u64, prng: &mut Prng) -> (u64, u64) {
        let align = align.min(self.bytes).max(1);
        let (at, bytes) = match self.places.order() {
            Err(hole) => self.follow(op, bytes, align, hole),
            Ok(order) => self.random(&order, op, bytes, align, prng),
        };
        self.left = self.left.saturating_sub(bytes);
        (self.start + at, bytes)
    }

    fn random(
        &mut self,
        order: &RandomOrder,
        op: Op,
        bytes: u64,
        align: u64,
        prng: &mut Prng,
    ) -> (u64, u64) {
        let percent = *order.random_percent.of(op);
        let follows = *self.next.of(op) + align <= self.bytes;
        if percent < 100 && follows && !prng.chance(u64::from(percent), 100) {
            return self.follow(op, bytes, align, 0);
        }
        if self.repeats > 0 {
            self.repeats -= 1;
            match order.repeat {
                Repeat::Identical(_) => {
                    return (self.drawn_at, self.cut(self.drawn_at, bytes, align));
                }
                Repeat::Sequential(_) if follows => return self.follow(op, bytes, align, 0),
                Repeat::Sequential(_) | Repeat::Never => {}
            }
        }
        let (at, bytes) = self.places.draw(bytes, align, self.bytes, prng);
        let bytes = self.cut(at, bytes, align);
        self.repeats = match order.repeat {
            Repeat::Never => 0,
            Repeat::Sequential(ios) | Repeat::Identical(ios) => ios.saturating_sub(1),
        };
        self.drawn_at = at;
        *self.next.of_mut(op) = at + bytes;
        (at, bytes)
    }

    fn follow(&mut self, op: Op, bytes: u64, align: u64, hole: i64) -> (u64, u64) {
        let at = *self.next.of(op);
        let at = if at + align > self.bytes { 0 } else { at };
        let bytes = self.cut(at, bytes, align);
        *self.next.of_mut(op) = (at + bytes)
            .checked_add_signed(hole)
            .unwrap_or_else(|| self.bytes.saturating_sub(hole.unsigned_abs()));
        (at, bytes)
    }

    /// As many whole multiples of `align` of `bytes` as there are from `at` to the end.
    const fn cut(&self, at: u64, bytes: u64, align: u64) -> u64 {
        let room = self.bytes - at;
        if bytes <= room {
            bytes
        } else if room >= align {
            room - room % align
        } else {
            room
        }
    }
}

impl Places {
    fn new(bytes: u64, style: &mut Style, seed: u64) -> Self {
        let blocks = (bytes / style.unit).max(1);
        let order = match style.order {
            IoOrder::Sequential => return Self::Following(0),
            IoOrder::Holes(hole) => return Self::Following(hole),
            IoOrder::Random => RandomOrder { every_block_once: false, ..RandomOrder::default() },
            IoOrder::Drawn(order) => order,
        };
        if order.skew != Skew::Uniform {
            let known = style.ranks.take().filter(|ranks| ranks.blocks() == blocks);
            style.ranks = known.or_else(|| Ranks::new(order.skew, blocks).map(Arc::new));
            if let Some(ranks) = &style.ranks {
                let spread = Permutation::new(blocks, seed);
                return Self::Ranked(order, Arc::clone(ranks), spread, style.unit);
            }
        }
        if !order.every_block_once || order.repeat != Repeat::Never {
            Self::Anywhere(order)
        } else if style.uniform {
            Self::Shuffled(order, Permutation::new(blocks, seed), 0)
        } else {
            Self::Free(order, FreeMap::new(blocks), style.unit)
        }
    }

    /// The random order, or the holes of an order that is not.
    const fn order(&self) -> Result<RandomOrder, i64> {
        match self {
            Self::Following(hole) => Err(*hole),
            Self::Anywhere(order)
            | Self::Shuffled(order, ..)
            | Self::Free(order, ..)
            | Self::Ranked(order, ..) => Ok(*order),
        }
    }

    /// A place and how long an I/O of `bytes` may be there.
    fn draw(&mut self, bytes: u64, align: u64, total: u64, prng: &mut Prng) -> (u64, u64) {
        match self {
            Self::Following(_) => (0, bytes),
            Self::Anywhere(_) => (prng.below(total / align) * align, bytes),
            Self::Shuffled(_, permutation, drawn) => {
                let at = permutation.number(*drawn % permutation.count());
                *drawn += 1;
                (at * align, bytes)
            }
            Self::Free(_, map, unit) => {
                let from = prng.below((total / *unit).max(1));
                match map.take(from, bytes.div_ceil(*unit)) {
                    Some((first, count)) => (first * *unit, bytes.min(count * *unit)),
                    None => (from * *unit, bytes),
                }
            }
            Self::Ranked(_, ranks, spread, unit) => {
                let at = spread.number(ranks.draw(prng)) * *unit;
                (at - at % align, bytes)
            }
        }
    }
}

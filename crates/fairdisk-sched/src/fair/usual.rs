//! The usual time of a group's reads while the device does nothing else.
//!
//! A disk that picks the next of several commands is faster the more there are: with twice as many
//! it waits about half as long for one to come under the head. So the usual time is kept by the
//! number of reads at the device, in one class per power of two.

use super::mean::Mean;
use fairdisk_core::Span;

/// Number of classes: the last is for 128 reads and more, beyond the depth of any disk with a head.
const DEPTH_CLASSES: usize = 8;

/// Mean read times, by class of the number of reads at the device.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    classes: [Mean<64>; DEPTH_CLASSES],
    /// Whether any read has been seen.
    is_seen: bool,
}

const fn class(among: u32) -> usize {
    let class = among.checked_ilog2();
    match class {
        Some(class) if class < DEPTH_CLASSES as u32 => class as usize,
        Some(_) => DEPTH_CLASSES - 1,
        None => 0,
    }
}

impl Usual {
    /// Adds the time of a read that completed with `among` reads at the device.
    pub(super) fn add(&mut self, among: u32, service: Span) {
        self.classes[class(among)].add(service);
        self.is_seen = true;
    }

    /// The usual time of a read among `among`: at most that among fewer. Where none was seen it is
    /// one and a half times that among twice as many.
    pub(super) fn get(&self, among: u32) -> Option<Span> {
        if !self.is_seen {
            // Where every group writes, none is undisturbed.
            return None;
        }
        let class = class(among);
        let fewer = self.classes[..=class].iter().filter_map(Mean::get).min();
        if self.classes[class].get().is_some() {
            return fewer;
        }
        let longer = |ns: u64| ns.saturating_add(ns / 2);
        let longer = |(more, mean): (usize, &Mean<64>)| {
            let seen = mean.get()?.as_ns();
            Some(Span::from_ns((0..=more).fold(seen, |ns, _| longer(ns))))
        };
        let more = self.classes[class + 1..].iter().enumerate().find_map(longer);
        [fewer, more].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_how_many_there_were_to_pick_from() {
        let mut usual = Usual::default();
        let seen = |usual: &Usual| [1, 3, 32, 100].map(|among| usual.get(among).map(Span::as_us));
        assert_eq!(seen(&usual), [None; 4]);
        usual.add(32, Span::from_us(800));
        // 800 us times 1.5 to the fifth, and to the fourth.
        assert_eq!(seen(&usual), [Some(6075), Some(4050), Some(800), Some(800)]);
        usual.add(1, Span::from_us(4000));
        assert_eq!(seen(&usual), [Some(4000), Some(4000), Some(800), Some(800)]);
        // A read among more reads that took longer must have waited for something else.
        usual.add(2, Span::from_us(8000));
        assert_eq!(seen(&usual)[1], Some(4000));
    }
}

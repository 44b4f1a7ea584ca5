//! What a group's reads take while the device does nothing else.
//!
//! A disk that picks the next of several commands is the quicker the more there are to pick from:
//! with twice as many it waits about half as long for one to come under the head. So what is usual
//! is known by how many reads were there, one class for each power of two.

use super::mean::Mean;
use fairdisk_core::Span;

const CLASSES: usize = 8;

/// What reads take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual([Mean<64>; CLASSES]);

const fn class(among: u32) -> usize {
    let class = among.checked_ilog2();
    match class {
        Some(class) if class < CLASSES as u32 => class as usize,
        Some(_) => CLASSES - 1,
        None => 0,
    }
}

impl Usual {
    /// One took so long that was done while there were `among` of them at the device.
    pub(super) fn add(&mut self, among: u32, service: Span) {
        self.0[class(among)].add(service);
    }

    /// What one takes among so many: no more than among fewer, and where that was not seen, half as
    /// long again as among twice as many.
    pub(super) fn get(&self, among: u32) -> Option<Span> {
        let class = class(among);
        let fewer = self.0[..=class].iter().filter_map(Mean::get).min();
        if self.0[class].get().is_some() {
            return fewer;
        }
        let longer = |ns: u64| ns.saturating_add(ns / 2);
        let longer = |(more, mean): (usize, &Mean<64>)| {
            let seen = mean.get()?.as_ns();
            Some(Span::from_ns((0..=more).fold(seen, |ns, _| longer(ns))))
        };
        let more = self.0[class + 1..].iter().enumerate().find_map(longer);
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
        // Five times half as long again, and four times; no more than among fewer.
        assert_eq!(seen(&usual), [Some(6075), Some(4050), Some(800), Some(800)]);
        usual.add(1, Span::from_us(4000));
        assert_eq!(seen(&usual), [Some(4000), Some(4000), Some(800), Some(800)]);
        // Where there were more, one that took longer waited for something else.
        usual.add(2, Span::from_us(8000));
        assert_eq!(seen(&usual)[1], Some(4000));
    }
}

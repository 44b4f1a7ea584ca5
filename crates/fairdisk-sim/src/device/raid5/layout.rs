//! Placement of data and parity: chunks rotate over the disks, and the parity of each stripe is one
//! disk further left than that of the previous stripe ("left-symmetric", the default of Linux's
//! md).

use crate::device::DeviceIo;

/// A range of sectors on one disk, within one chunk of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) disk: u32,
    pub(super) start: u64,
    pub(super) sectors: u32,
}

/// The layout of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) disks: u64,
    pub(super) chunk_sectors: u64,
}

impl Layout {
    /// Data chunks per stripe.
    pub(super) const fn data_chunks(&self) -> u64 {
        self.disks - 1
    }

    pub(super) const fn stripe_sectors(&self) -> u64 {
        self.data_chunks() * self.chunk_sectors
    }

    const fn parity_disk(&self, stripe: u64) -> u64 {
        self.disks - 1 - stripe % self.disks
    }

    /// The range `from..to` of data chunk `chunk` of a stripe.
    pub(super) const fn data(&self, stripe: u64, chunk: u64, from: u64, to: u64) -> Piece {
        let disk = (self.parity_disk(stripe) + 1 + chunk) % self.disks;
        self.piece(disk, stripe, from, to)
    }

    /// The range `from..to` of the parity chunk of a stripe.
    pub(super) const fn parity(&self, stripe: u64, from: u64, to: u64) -> Piece {
        self.piece(self.parity_disk(stripe), stripe, from, to)
    }

    const fn piece(&self, disk: u64, stripe: u64, from: u64, to: u64) -> Piece {
        let start = stripe * self.chunk_sectors + from;
        Piece { disk: disk as u32, start, sectors: (to - from) as u32 }
    }

    /// The stripes that a request touches.
    pub(super) fn stripes(&self, io: &DeviceIo) -> impl Iterator<Item = Touched> + use<> {
        let (layout, from, to) = (*self, io.start.0, io.start.0 + u64::from(io.sectors.0));
        let size = layout.stripe_sectors();
        (from / size..to.div_ceil(size)).map(move |stripe| Touched {
            stripe,
            from: from.max(stripe * size) - stripe * size,
            to: to.min((stripe + 1) * size) - stripe * size,
        })
    }

    /// The parts of the chunks in `touched`: chunk number, and start and end within the chunk.
    pub(super) fn parts(&self, touched: Touched) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let size = self.chunk_sectors;
        (touched.from / size..touched.to.div_ceil(size)).map(move |chunk| {
            let begin = chunk * size;
            (chunk, touched.from.max(begin) - begin, touched.to.min(begin + size) - begin)
        })
    }
}

/// The part of a stripe's data that a request touches, in sectors from the start of the stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) stripe: u64,
    pub(super) from: u64,
    pub(super) to: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::GroupId;
    use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
    use std::collections::BTreeSet;

    const FOUR: Layout = Layout { disks: 4, chunk_sectors: 128 };

    #[test]
    fn every_sector_has_its_own_place_and_none_is_on_its_stripes_parity() {
        let mut places = BTreeSet::new();
        for stripe in 0..9 {
            let parity = FOUR.parity(stripe, 0, 128);
            assert!(places.insert((parity.disk, parity.start)));
            for chunk in 0..3 {
                let data = FOUR.data(stripe, chunk, 0, 128);
                assert_ne!(data.disk, parity.disk);
                assert!(places.insert((data.disk, data.start)));
            }
        }
        assert_eq!(places.len(), 36);
    }

    #[test]
    fn a_long_read_in_order_goes_round_all_disks() {
        let order: Vec<u32> =
            (0..8).map(|chunk| FOUR.data(chunk / 3, chunk % 3, 0, 8).disk).collect();
        assert_eq!(order, [0, 1, 2, 3, 0, 1, 2, 3]);
    }

    #[test]
    fn stripes_and_parts_add_up_to_the_request() {
        for (start, sectors) in [(0, 8), (100, 100), (383, 2), (380, 1000), (384, 384)] {
            let io = DeviceIo {
                id: RequestId(0),
                group: GroupId::ROOT,
                op: Op::Read,
                start: Lba(start),
                sectors: Sectors(sectors),
                fua: false,
            };
            let parts = FOUR.stripes(&io).flat_map(|touched| FOUR.parts(touched));
            let sum: u64 = parts.map(|(_, from, to)| to - from).sum();
            assert_eq!(sum, u64::from(sectors), "{start}, {sectors}");
        }
    }
}

//! Memory when the machine starts: all of it free but for what the kernel and programs hold, in
//! large blocks or worn to small ones.

use super::buddy::Buddies;
use super::count::FreeCount;
use super::frames::{Frames, Place};
use super::index::Index;
use super::lru::Lru;
use super::per_cpu::PerCpu;
use super::reclaim::{CHUNK_PAGES, Saved};
use super::shadows::Shadows;
use super::sizes::{Watermarks, drift_max, present_pages};
use super::vmstat::Vmstat;
use super::{Kernel, Memory};
use fairdisk_core::{Prng, Span};

/// The memory of a machine and its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySpec {
    /// What differs between kernels.
    pub kernel: Kernel,
    /// Memory in MiB.
    pub mib: u64,
    /// CPUs.
    pub cpus: u32,
    /// `vm.min_free_kbytes`, if a user has set it.
    pub min_free_kib: Option<u64>,
    /// `vm.percpu_pagelist_fraction`, if a user has set it.
    pub cpu_list_fraction: Option<u64>,
    /// Pages that the kernel holds, beyond those that describe the pages.
    pub used_pages: u64,
    /// Pages of programs, which nothing evicts.
    pub anonymous_pages: u64,
    /// The part of scanning that goes to pages of files. It is 100 without swap.
    pub file_share_percent: u64,
    /// Memory is worn: free pages are in blocks of this mean order, in hundredths.
    pub mean_order_hundredths: Option<u64>,
    /// CPU time to return a page to the free blocks.
    pub page_return: Span,
    /// Whether activations count in refault distances, beside evictions.
    pub activations_age: bool,
}

impl MemorySpec {
    /// Memory without programs, fresh after boot.
    #[must_use]
    pub const fn new(kernel: Kernel, mib: u64, cpus: u32) -> Self {
        Self {
            kernel,
            mib,
            cpus,
            min_free_kib: None,
            cpu_list_fraction: None,
            used_pages: 0,
            anonymous_pages: 0,
            file_share_percent: 100,
            mean_order_hundredths: None,
            page_return: Span::ZERO,
            activations_age: false,
        }
    }
}

/// Why there can be no such memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is smaller than what is in use for good together with the high watermark.
    TooSmall {
        /// Pages there are.
        present: u64,
        /// Pages there would have to be.
        needed: u64,
    },
    /// What is in use for good does not part free memory into blocks so small.
    MeanOrder {
        /// The smallest mean order there can be, in hundredths.
        least_hundredths: u64,
    },
}

impl MemorySpec {
    /// Checks that there is something to reclaim beside what is in use for good.
    pub fn fits(&self) -> Result<(), Unfit> {
        let present = present_pages(self.mib);
        let marks = Watermarks::new(present, self.min_free_kib);
        let needed = self.used_pages + self.anonymous_pages + marks.high + CHUNK_PAGES as u64;
        if present < needed { Err(Unfit::TooSmall { present, needed }) } else { Ok(()) }
    }
}

impl Memory {
    /// Memory as it is when the machine starts. The generator decides how it is worn.
    pub fn new(spec: MemorySpec, prng: &mut Prng) -> Result<Self, Unfit> {
        let present = present_pages(spec.mib);
        let marks = Watermarks::new(present, spec.min_free_kib);
        let fixed = spec.used_pages + spec.anonymous_pages;
        spec.fits()?;
        let cpus = spec.cpus.max(1);
        let mut frames = Frames::new(present as u32);
        let mut buddies = Buddies::new(&mut frames, spec.kernel.buddies_kept);
        for at in 0..fixed as u32 {
            fix(&mut frames, &mut buddies, at);
        }
        if let Some(wanted) = spec.mean_order_hundredths {
            wear(&mut frames, &mut buddies, fixed as u32, wanted, prng)?;
        }
        let after = spec.kernel.count_after_lists;
        let kept = drift_max(present, cpus);
        let count = FreeCount::new(buddies.frames(), cpus, kept, after, spec.page_return);
        Ok(Self {
            marks,
            per_cpu: PerCpu::new(cpus, &spec.kernel, present, spec.cpu_list_fraction),
            count,
            index: Index::new(frames.len()),
            lru: Lru::new(cpus),
            shadows: spec.kernel.refault_activates.then(|| Shadows::new(frames.len())),
            is_refaulting: false,
            saved: Saved::default(),
            fixed,
            in_hands: 0,
            metadata: 0,
            dirty_found: Vec::with_capacity(CHUNK_PAGES as usize),
            is_congested: false,
            kswapd_is_awake: false,
            vmstat: Vmstat::default(),
            frames,
            buddies,
            spec,
        })
    }

    /// The mean order of the free block that a free page is in, in hundredths.
    #[must_use]
    pub fn mean_order_hundredths(&self) -> u64 {
        self.buddies.mean_order_hundredths()
    }
}

fn fix(frames: &mut Frames, buddies: &mut Buddies, at: u32) {
    buddies.take_frame(frames, at);
    frames[at].place = Place::Fixed;
}

/// Scatters the `fixed` frames at the start of memory, the last first, until free frames are in
/// blocks of the wanted mean order.
fn wear(
    frames: &mut Frames,
    buddies: &mut Buddies,
    fixed: u32,
    wanted_hundredths: u64,
    prng: &mut Prng,
) -> Result<(), Unfit> {
    for from in (0..fixed).rev() {
        if buddies.mean_order_hundredths() <= wanted_hundredths {
            break;
        }
        let to = loop {
            let at = prng.below(u64::from(frames.len())) as u32;
            if frames[at].place != Place::Fixed {
                break at;
            }
        };
        fix(frames, buddies, to);
        buddies.give(frames, from, 0);
    }
    let least_hundredths = buddies.mean_order_hundredths();
    if least_hundredths > wanted_hundredths {
        return Err(Unfit::MeanOrder { least_hundredths });
    }
    Ok(())
}

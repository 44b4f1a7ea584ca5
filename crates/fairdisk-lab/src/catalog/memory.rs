//! The memory of a host, in host files: an amount, or page by page as a kernel has it.

use super::allowed::{Wrong, demand, demand_within};
use super::error::unknown;
use fairdisk_core::Span;
use fairdisk_sim::MemoryConfig;
use fairdisk_sim::host::memory::{KERNEL_SWITCHES, Kernel, MemorySpec, RELEASES};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The memory of a host.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Memory in MiB: of the machine with `kernel`, else for the page cache.
    pub mib: u64,
    /// CPU time of a page fault, without any waiting and without copying the page, in ns.
    pub fault_ns: u64,
    /// The kernel that manages it page by page; without this, it is there at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Release>,
    /// Changes of memory management that are on or off other than in that kernel, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<String, bool>,
    /// CPU time to take a page and insert it into the page cache, in ns.
    #[serde(skip_serializing_if = "is_take")]
    pub take_ns: u64,
    /// CPU time to scan a page for eviction and free it, in ns.
    #[serde(skip_serializing_if = "is_scan")]
    pub scan_ns: u64,
    /// Memory that the kernel and its tables hold, in MiB.
    #[serde(skip_serializing_if = "is_zero")]
    pub used_mib: u64,
    /// Memory of programs, which nothing evicts, in MiB.
    #[serde(skip_serializing_if = "is_zero")]
    pub anonymous_mib: u64,
    /// The part of scanning that goes to pages of files, in percent.
    #[serde(skip_serializing_if = "is_all")]
    pub file_share_percent: u64,
    /// Whether activations count in refault distances, beside evictions.
    #[serde(skip_serializing_if = "is_false")]
    pub activations_age: bool,
    /// `vm.min_free_kbytes`, if a user has set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_kib: Option<u64>,
    /// `vm.percpu_pagelist_fraction`, if a user has set it: the list of a CPU has this part of
    /// memory at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percpu_pagelist_fraction: Option<u64>,
}

const TAKE_NS: u64 = 1500;
const SCAN_NS: u64 = 1000;

const fn is_take(ns: &u64) -> bool {
    *ns == TAKE_NS
}

const fn is_scan(ns: &u64) -> bool {
    *ns == SCAN_NS
}

const fn is_zero(mib: &u64) -> bool {
    *mib == 0
}

const fn is_false(value: &bool) -> bool {
    !*value
}

const fn is_all(percent: &u64) -> bool {
    *percent == 100
}

impl Default for Memory {
    /// An ordinary host: 8 GiB, and a microsecond per fault.
    fn default() -> Self {
        Self {
            mib: 8192,
            fault_ns: 1000,
            kernel: None,
            switches: BTreeMap::new(),
            take_ns: TAKE_NS,
            scan_ns: SCAN_NS,
            used_mib: 0,
            anonymous_mib: 0,
            file_share_percent: 100,
            activations_age: false,
            min_free_kib: None,
            percpu_pagelist_fraction: None,
        }
    }
}

/// The key of `--set` for the kernel, and the one before the names of its switches.
pub(crate) const KERNEL_KEY: &str = "host.memory.kernel";
pub(crate) const SWITCHES_KEY: &str = "host.memory.switches.";

/// A kernel whose memory management is known.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct Release(&'static str);

impl Release {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = RELEASES.iter().find(|known| **known == name);
        known.map(|known| Self(known)).ok_or_else(|| {
            let [first, .., last, now] = RELEASES;
            serde::de::Error::custom(format!(
                "`{name}` is no kernel whose memory management is known; allowed: \"{first}\" to \
                 \"{last}\", and \"{now}\""
            ))
        })
    }
}

/// Pages of 4 KiB per MiB.
const MIB_PAGES: u64 = 256;
/// The largest memory.
const MIB_MAX: u64 = 1 << 24;

impl Memory {
    /// Checks the values of the memory of a host with so many CPUs.
    pub(super) fn check(&self, cpus: u32) -> Result<(), Wrong> {
        for (path, value, range) in [
            ("memory.mib", self.mib, 16..=MIB_MAX),
            ("memory.fault_ns", self.fault_ns, 0..=1_000_000_000),
            ("memory.take_ns", self.take_ns, 0..=1_000_000_000),
            ("memory.scan_ns", self.scan_ns, 1..=1_000_000_000),
            ("memory.used_mib", self.used_mib, 0..=MIB_MAX),
            ("memory.anonymous_mib", self.anonymous_mib, 0..=MIB_MAX),
            ("memory.file_share_percent", self.file_share_percent, 1..=100),
        ] {
            demand_within(range, path, value)?;
        }
        self.check_switches()?;
        if let Some(kib) = self.min_free_kib {
            demand_within(128..=65_536, "memory.min_free_kib", kib)?;
        }
        if let Some(fraction) = self.percpu_pagelist_fraction {
            demand_within(8..=1 << 24, "memory.percpu_pagelist_fraction", fraction)?;
        }
        self.check_room(cpus)
    }

    /// Checks that there is memory beside what is in use for good.
    fn check_room(&self, cpus: u32) -> Result<(), Wrong> {
        let Some(config) = self.config(cpus) else { return Ok(()) };
        if config.spec.fits().is_ok() {
            return Ok(());
        }
        // The kernel keeps more free of more memory.
        let fits = |mib: &u64| MemorySpec { mib: *mib, ..config.spec }.fits().is_ok();
        let Self { mib, used_mib, anonymous_mib, .. } = self;
        let least = (*mib..MIB_MAX).find(fits).unwrap_or(MIB_MAX);
        let pinned = used_mib + anonymous_mib;
        let allowed = format!(
            "{least} to {MIB_MAX}, as {pinned} MiB are in use for good (`used_mib` {used_mib}, \
             `anonymous_mib` {anonymous_mib})"
        );
        demand(false, "memory.mib", mib, allowed)
    }

    fn check_switches(&self) -> Result<(), Wrong> {
        for name in self.switches.keys() {
            let known = || KERNEL_SWITCHES.iter().map(|switch| switch.name);
            let message = match self.kernel {
                None => format!("`{name}` is a change of a kernel; add `kernel` to [memory], too"),
                Some(_) if known().any(|known| known == name) => continue,
                Some(_) => unknown("change", name, &known().collect::<Vec<_>>()),
            };
            return Err((format!("memory.switches.{name}"), message.into()));
        }
        Ok(())
    }

    /// What the kernel does, if the host has one.
    fn kernel(&self) -> Option<Kernel> {
        let mut kernel = Kernel::of_release(self.kernel?.0)?;
        for (name, on) in &self.switches {
            kernel.set(name, *on);
        }
        Some(kernel)
    }

    /// The memory page by page, if the host asks for that.
    pub(crate) fn config(&self, cpus: u32) -> Option<MemoryConfig> {
        let kernel = self.kernel()?;
        let spec = MemorySpec {
            min_free_kib: self.min_free_kib,
            cpu_list_fraction: self.percpu_pagelist_fraction,
            used_pages: self.used_mib * MIB_PAGES,
            anonymous_pages: self.anonymous_mib * MIB_PAGES,
            file_share_percent: self.file_share_percent,
            activations_age: self.activations_age,
            ..MemorySpec::new(kernel, self.mib, cpus)
        };
        let (page_take, page_scan) = (Span::from_ns(self.take_ns), Span::from_ns(self.scan_ns));
        Some(MemoryConfig { spec, page_take, page_scan })
    }
}

//! The settings of a job while its file is being parsed, each with the line that set it.

use std::collections::BTreeMap;

use super::blocks::BlockSize;
use super::error::Place;
use super::flow::FlowKeys;
use super::job::{Arrivals, Ends, WriteSync};
use super::keys::{Key, Refused};
use super::pattern::{Direction, Distribution};
use super::per_op::PerOp;
use super::priority::PreferredKeys;
use super::read_back::VerifyKeys;
use super::serving::ServingKeys;
use super::setting::Placed;
use super::span::{DelayNs, Extent, FileBytes, FileSystem};
use super::submission::{Engine, Hint};
use super::value::KbBase;
use super::watch::WatchKeys;
use super::zoned::ZoneKeys;
use fairdisk_core::QosKey;

/// The slot of one key.
pub(super) type Slot<T> = Option<Placed<T>>;
/// The slot of a key with a value for each operation.
pub(super) type List<T> = Slot<PerOp<Option<T>>>;

/// The settings made so far. A `[global]` section changes the draft from which every later job
/// starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) kb_base: Slot<KbBase>,
    pub(super) name: Slot<String>,
    pub(super) description: Slot<String>,

    pub(super) rw: Slot<Direction>,
    pub(super) identical: Slot<bool>,
    pub(super) read_percent: Slot<u8>,
    pub(super) distribution: Slot<Distribution>,
    pub(super) random_percent: List<u8>,
    pub(super) norandommap: Slot<bool>,

    pub(super) bs: List<BlockSize>,
    pub(super) bsrange: List<BlockSize>,
    pub(super) bssplit: List<BlockSize>,
    pub(super) unaligned: Slot<bool>,
    pub(super) align: List<u64>,

    pub(super) size: Slot<Option<Extent>>,
    pub(super) io_size: Slot<Option<Extent>>,
    pub(super) filesize: Slot<FileBytes>,
    pub(super) offset: Slot<Option<Extent>>,
    pub(super) offset_increment: Slot<Option<Extent>>,
    pub(super) filename: Slot<Vec<String>>,
    pub(super) directory: Slot<Vec<String>>,
    pub(super) nrfiles: Slot<u32>,
    pub(super) filesystem: Slot<FileSystem>,
    pub(super) overwrite: Slot<bool>,

    pub(super) ioengine: Slot<Engine>,
    pub(super) iodepth: Slot<u32>,
    pub(super) iodepth_batch: Slot<u32>,
    pub(super) iodepth_low: Slot<u32>,
    pub(super) completes_min: Slot<u32>,
    pub(super) offloads: Slot<bool>,
    pub(super) direct: Slot<bool>,
    pub(super) sync: Slot<WriteSync>,
    pub(super) invalidate: Slot<bool>,
    pub(super) remount: Slot<bool>,
    pub(super) fadvise_hint: Slot<Hint>,
    pub(super) fsync: Slot<u32>,
    pub(super) fdatasync: Slot<u32>,
    pub(super) end_fsync: Slot<bool>,
    pub(super) fsync_on_close: Slot<bool>,

    pub(super) numjobs: Slot<u32>,
    pub(super) thread: Slot<bool>,
    pub(super) group_reporting: Slot<bool>,
    pub(super) new_group: Slot<bool>,
    pub(super) stonewall: Slot<bool>,
    pub(super) exitall: Slot<bool>,
    pub(super) exit_what: Slot<Ends>,
    pub(super) create_only: Slot<bool>,
    pub(super) completes: Slot<bool>,
    pub(super) wait_for: Slot<String>,
    pub(super) runtime_ns: Slot<u64>,
    pub(super) ramp_ns: Slot<u64>,
    pub(super) time_based: Slot<bool>,
    pub(super) startdelay: Slot<DelayNs>,
    pub(super) loops: Slot<u32>,
    pub(super) number_ios: Slot<u64>,

    pub(super) think_ns: Slot<u64>,
    pub(super) think_blocks: Slot<u32>,
    pub(super) rate: List<u64>,
    pub(super) rate_iops: List<u64>,
    pub(super) arrivals: Slot<Arrivals>,

    pub(super) randseed: Slot<u64>,
    pub(super) randrepeat: Slot<bool>,
    pub(super) allrandrepeat: Slot<bool>,

    pub(super) prio: Slot<u8>,
    pub(super) prioclass: Slot<u8>,
    pub(super) nice: Slot<i8>,
    pub(super) cgroup: Slot<String>,
    pub(super) cgroup_weight: Slot<u16>,
    pub(super) group: Slot<String>,
    pub(super) group_weight: Slot<u16>,
    pub(super) group_ioprio: Slot<u8>,
    pub(super) group_limits: BTreeMap<QosKey, Placed<u64>>,
    pub(super) scheduler: Slot<String>,
    pub(super) device: Slot<String>,
    pub(super) disk: Slot<u32>,
    pub(super) interleave: Slot<bool>,

    pub(super) verification: VerifyKeys,
    pub(super) zones: ZoneKeys,
    pub(super) serving: ServingKeys,
    pub(super) flow: FlowKeys,
    pub(super) watch: WatchKeys,
    pub(super) preferred: PreferredKeys,

    /// Keys that belong to an engine, to be checked against the job's engine.
    pub(super) engine_keys: Vec<(&'static Key, Place)>,
    /// Keys that are refused where they have an effect, each as it was last set.
    pub(super) refused: Vec<Refused>,
}

impl Draft {
    pub(super) fn base(&self) -> KbBase {
        value(&self.kb_base).unwrap_or_default()
    }

    pub(super) fn is_direct(&self) -> bool {
        value(&self.direct).unwrap_or(false)
    }

    pub(super) const fn has_rate(&self) -> bool {
        self.rate.is_some() || self.rate_iops.is_some()
    }

    /// Keeps a key that belongs to an engine for a look at the job's engine.
    pub(super) fn note_engine_key(&mut self, key: &'static Key, place: &Place) {
        if !key.engines.is_empty() {
            self.engine_keys.push((key, place.clone()));
        }
    }
}

/// The key that enables flushing at the end, if one does.
pub(super) fn end_flush(draft: &Draft) -> Option<&Placed<bool>> {
    [&draft.end_fsync, &draft.fsync_on_close].into_iter().flatten().find(|placed| placed.value)
}

/// The value in a slot.
pub(super) fn value<T: Clone>(slot: &Slot<T>) -> Option<T> {
    slot.as_ref().map(|placed| placed.value.clone())
}

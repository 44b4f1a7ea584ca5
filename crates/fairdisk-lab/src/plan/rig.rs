//! Rigs: the device or array, and the host, on which runs are made.

use super::Plan;
use crate::calibrate::calibrate;
use crate::catalog::device::{self, Array, DeviceEntry};
use crate::catalog::error::CatalogError;
use crate::catalog::host::Host;
use crate::catalog::overrides::Override;
use fairdisk_core::CostModel;
use fairdisk_sim::device::DeviceSpec;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use toml::Table;

/// A device or an array of devices, and a host.
#[derive(Clone, Debug)]
pub struct Rig {
    /// The id of the device.
    pub device_id: String,
    /// The device, or each one of an array.
    pub device: DeviceSpec,
    /// The number of devices and their partitions. Every partition has the whole load.
    pub array: Array,
    /// The host as it was asked for: an id of the catalogue or the path of a file.
    pub host_name: String,
    /// The host.
    pub host: Host,
    /// The file of the device with what it inherits and all changes.
    pub device_resolved: Table,
    costs: OnceLock<CostModel>,
}

impl Rig {
    /// Loads the device and the host with these names, changed by `overrides`.
    pub(super) fn load(
        device: &str,
        host: &str,
        overrides: &[Override],
    ) -> Result<Self, CatalogError> {
        let DeviceEntry { spec, array, resolved, .. } = device::load(device, overrides)?;
        let entry = Host::load(host, overrides)?;
        if array.link_mb_per_s.is_some() && !entry.runs_disks_together() {
            device::demand_unlinked(device, overrides)?;
        }
        Ok(Self {
            device_id: device.to_owned(),
            device: spec,
            array,
            host_name: host.to_owned(),
            host: entry,
            device_resolved: resolved,
            costs: OnceLock::new(),
        })
    }

    /// The disks of each machine: all of them, or one after another.
    pub fn machines(&self) -> impl Iterator<Item = Range<u32>> + use<> {
        let disks = self.array.disks;
        let of_one = if self.host.runs_disks_together() { disks } else { 1 };
        (0..disks).step_by(of_one as usize).map(move |first| first..first + of_one)
    }

    /// The cost model of the device, calibrated on first use.
    #[must_use]
    pub fn costs(&self) -> CostModel {
        *self.costs.get_or_init(|| calibrate(&self.device))
    }
}

impl Plan {
    /// Renames the device of all arms.
    pub fn rename_device(&mut self, name: &str) {
        let rig = Rig { device_id: name.to_owned(), ..Rig::clone(&self.rig) };
        self.rig = Arc::new(rig);
        self.arms.iter_mut().for_each(|arm| arm.rig = Arc::clone(&self.rig));
    }

    /// Checks that all arms use the plan's device and host in all rows, as `what` needs; `remedy`
    /// says what to do about others.
    ///
    /// # Errors
    /// Returns the first arm that has its own, or the first row that changes something.
    pub fn demand_one_rig(&self, what: &str, remedy: &str) -> Result<(), String> {
        let arm = self.arms.iter().find(|arm| !Arc::ptr_eq(&arm.rig, &self.rig));
        let arm = arm.map(|arm| format!("arm `{}` of {} changes", arm.name, self.id));
        let row = self.rows.iter().find(|row| !row.own_arms.is_empty());
        let row = row.map(|row| format!("`set` of row `{}` of {} may change", row.label, self.id));
        arm.or(row).map_or(Ok(()), |who| {
            let why = format!("{what} needs the same for all; {remedy}");
            Err(format!("{who} the disk or the machine, and {why}"))
        })
    }
}

//! What runs are made on: a disk, or several, and a machine.

use super::Plan;
use crate::calibrate::calibrate;
use crate::catalog::device::{self, Array, DeviceEntry};
use crate::catalog::error::CatalogError;
use crate::catalog::host::Host;
use crate::catalog::overrides::Override;
use fairdisk_core::CostModel;
use fairdisk_sim::device::DeviceSpec;
use std::sync::{Arc, OnceLock};

/// A disk, or several, and a machine.
#[derive(Clone, Debug)]
pub struct Rig {
    /// The disk's id.
    pub device_id: String,
    /// The disk, or each of several.
    pub device: DeviceSpec,
    /// How many disks, and how they are divided. Every partition carries the whole load.
    pub array: Array,
    /// What the machine was asked for as: an id of the catalogue or the path of a file.
    pub host_name: String,
    /// The machine.
    pub host: Host,
    costs: OnceLock<CostModel>,
}

impl Rig {
    /// The disk and the machine of these names, changed by `overrides`.
    pub(super) fn load(
        device: &str,
        host: &str,
        overrides: &[Override],
    ) -> Result<Self, CatalogError> {
        let DeviceEntry { spec, array, .. } = device::load(device, overrides)?;
        Ok(Self {
            device_id: device.to_owned(),
            device: spec,
            array,
            host_name: host.to_owned(),
            host: Host::load(host, overrides)?,
            costs: OnceLock::new(),
        })
    }

    /// What requests cost the device, measured when first asked for.
    #[must_use]
    pub fn costs(&self) -> CostModel {
        *self.costs.get_or_init(|| calibrate(&self.device))
    }
}

impl Plan {
    /// Calls the disk of all arms something else.
    pub fn rename_device(&mut self, name: &str) {
        let rig = Rig { device_id: name.to_owned(), ..Rig::clone(&self.rig) };
        self.rig = Arc::new(rig);
        self.arms.iter_mut().for_each(|arm| arm.rig = Arc::clone(&self.rig));
    }

    /// Demands that all arms run on the plan's disk and machine in all rows, which `what` needs;
    /// `remedy` says what to do about others.
    ///
    /// # Errors
    /// The first arm that has its own, or the first row that changes something.
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

//! A modelled disk that takes the same time for every request.

use fairdisk_sim::device::{DeviceModel, Fixed, FixedCost, FixedParams, FixedSpec};

pub fn fixed_disk(capacity_sectors: u64, parallel: u32, latency_us: u32) -> DeviceModel {
    let cost = FixedCost { latency_us, mb_per_s: None };
    let params =
        FixedParams { capacity_sectors, parallel, read: cost, write: cost, flush_us: latency_us };
    DeviceModel::Fixed(Fixed::new(&FixedSpec::new(params).unwrap()))
}

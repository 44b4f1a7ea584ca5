//! What a device is built from. Parameters are checked once, on the way in: a [`DeviceSpec`] that
//! exists can be built.

use super::{
    DeviceModel, Fixed, FixedSpec, Hdd, HddSpec, Null, NullSpec, Raid5, Raid5Spec, Ssd, SsdSpec,
};
use std::fmt;

/// Why parameters describe no device: which one, what it is and what it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The parameter, with dots between the parts (`write_cache.depth`), as in catalogue files.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub allowed: String,
}

impl SpecError {
    /// The error for `field` being `value` where only `allowed` makes sense.
    pub(super) fn new(
        field: &'static str,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self { field, value: value.to_string(), allowed: allowed.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {}; allowed: {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for SpecError {}

/// The largest device, in sectors: an exbibyte. Sums of bytes stay far from overflowing.
pub(super) const CAPACITY_MAX: u64 = 1 << 51;

/// Fails unless `low <= value <= high`.
pub(super) fn within(
    field: &'static str,
    value: impl Into<u64>,
    low: u64,
    high: u64,
) -> Result<(), SpecError> {
    let value = value.into();
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(SpecError::new(field, value, format!("{low} to {high}")))
}

/// Parameters that know which of their values make sense.
pub trait Check {
    /// The first thing wrong with them.
    ///
    /// # Errors
    /// A [`SpecError`] naming the parameter.
    fn check(&self) -> Result<(), SpecError>;
}

/// Parameters that were checked and can no longer change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked<P>(P);

impl<P: Check> Checked<P> {
    /// Checks `params`.
    ///
    /// # Errors
    /// The first parameter that makes no sense.
    pub fn new(params: P) -> Result<Self, SpecError> {
        params.check()?;
        Ok(Self(params))
    }

    /// The parameters.
    pub const fn params(&self) -> &P {
        &self.0
    }
}

/// A device, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSpec {
    /// A rotating disk.
    Hdd(HddSpec),
    /// Fixed time per request.
    Fixed(FixedSpec),
    /// Rotating disks with parity.
    Raid5(Raid5Spec),
    /// A solid-state disk.
    Ssd(SsdSpec),
    /// No time at all.
    Null(NullSpec),
}

impl DeviceSpec {
    /// A new device in its state at the beginning of a run.
    #[must_use]
    pub fn build(&self) -> DeviceModel {
        self.build_at_phase(0)
    }

    /// A new device whose platters start `phase_ns` (modulo a rotation) further on than the
    /// description says: what differs between the runs of an ensemble. Others have no phase.
    #[must_use]
    pub fn build_at_phase(&self, phase_ns: u64) -> DeviceModel {
        match self {
            Self::Hdd(spec) => DeviceModel::Hdd(Hdd::new(spec, phase_ns)),
            Self::Fixed(spec) => DeviceModel::Fixed(Fixed::new(spec)),
            Self::Raid5(spec) => DeviceModel::Raid5(Raid5::new(spec, phase_ns)),
            Self::Ssd(spec) => DeviceModel::Ssd(Ssd::new(spec)),
            Self::Null(spec) => DeviceModel::Null(Null::new(spec)),
        }
    }

    /// The kind as catalogue files name it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Hdd(_) => "hdd",
            Self::Fixed(_) => "fixed",
            Self::Raid5(_) => "raid5",
            Self::Ssd(_) => "ssd",
            Self::Null(_) => "null",
        }
    }

    /// Whether it has a head to move, or is not known to have none.
    #[must_use]
    pub const fn is_rotational(&self) -> bool {
        !matches!(self, Self::Ssd(_))
    }

    /// How many sectors the device has.
    #[must_use]
    pub const fn capacity_sectors(&self) -> u64 {
        match self {
            Self::Hdd(spec) => spec.params().capacity_sectors,
            Self::Fixed(spec) => spec.params().capacity_sectors,
            Self::Raid5(spec) => spec.params().capacity_sectors(),
            Self::Ssd(spec) => spec.params().capacity_sectors,
            Self::Null(spec) => spec.params().capacity_sectors,
        }
    }
}

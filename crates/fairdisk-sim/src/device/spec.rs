//! Device specifications. Parameters are checked once, when a [`DeviceSpec`] is made, so every
//! specification that exists can be built.

use super::{
    DeviceModel, Fixed, FixedSpec, Hdd, HddSpec, Measured, MeasuredSpec, Null, NullSpec, Raid5,
    Raid5Spec, Ssd, SsdSpec, VirtualDisk, VirtualDiskSpec,
};
use std::fmt;

/// Why parameters do not describe a device: the parameter, its value and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The parameter's path, with dots between its parts (`write_cache.depth`) as in catalogue
    /// files.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// The values that are allowed.
    pub allowed: String,
}

impl SpecError {
    /// An error for `field`, whose `value` is not among those `allowed`.
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

/// Returns an error unless `low <= value <= high`.
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

/// Parameters that can be checked.
pub trait Check {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns a [`SpecError`] for the first parameter that is not allowed.
    fn check(&self) -> Result<(), SpecError>;
}

/// Parameters that have been checked and can no longer change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked<P>(P);

impl<P: Check> Checked<P> {
    /// Checks `params`.
    ///
    /// # Errors
    /// Returns a [`SpecError`] for the first parameter that is not allowed.
    pub fn new(params: P) -> Result<Self, SpecError> {
        params.check()?;
        Ok(Self(params))
    }

    /// The checked parameters.
    pub const fn params(&self) -> &P {
        &self.0
    }
}

/// A complete description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSpec {
    /// A rotating disk.
    Hdd(HddSpec),
    /// A device with a fixed time per request.
    Fixed(FixedSpec),
    /// An array of rotating disks with parity.
    Raid5(Raid5Spec),
    /// A solid-state disk.
    Ssd(SsdSpec),
    /// A device that does as much as was measured.
    Measured(MeasuredSpec),
    /// The disk of a virtual machine.
    Virtual(Box<VirtualDiskSpec>),
    /// A device that takes no time.
    Null(NullSpec),
}

impl DeviceSpec {
    /// Builds a device in its initial state.
    #[must_use]
    pub fn build(&self) -> DeviceModel {
        self.build_at_phase(0)
    }

    /// Builds a device whose platters start `phase_ns` (modulo a rotation) further into their
    /// rotation than the parameters say, or whose pauses follow from it. The runs of an ensemble
    /// differ in this phase. Other devices ignore it.
    #[must_use]
    pub fn build_at_phase(&self, phase_ns: u64) -> DeviceModel {
        match self {
            Self::Hdd(spec) => DeviceModel::Hdd(Hdd::new(spec, phase_ns)),
            Self::Fixed(spec) => DeviceModel::Fixed(Fixed::new(spec)),
            Self::Raid5(spec) => DeviceModel::Raid5(Raid5::new(spec, phase_ns)),
            Self::Ssd(spec) => DeviceModel::Ssd(Ssd::new(spec)),
            Self::Measured(spec) => DeviceModel::Measured(Measured::new(spec, phase_ns)),
            Self::Virtual(spec) => DeviceModel::Virtual(VirtualDisk::new(spec, phase_ns)),
            Self::Null(spec) => DeviceModel::Null(Null::new(spec)),
        }
    }

    /// The kind of device as catalogue files name it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Hdd(_) => "hdd",
            Self::Fixed(_) => "fixed",
            Self::Raid5(_) => "raid5",
            Self::Ssd(_) => "ssd",
            Self::Measured(_) => "measured",
            Self::Virtual(_) => "virtual",
            Self::Null(_) => "null",
        }
    }

    /// Whether the device has a moving head, or is not known to have none.
    #[must_use]
    pub fn is_rotational(&self) -> bool {
        match self {
            Self::Ssd(_) => false,
            Self::Measured(spec) => spec.params().rotational,
            Self::Virtual(spec) => spec.params().below.is_rotational(),
            _ => true,
        }
    }

    /// The device's size in sectors.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        match self {
            Self::Hdd(spec) => spec.params().capacity_sectors,
            Self::Fixed(spec) => spec.params().capacity_sectors,
            Self::Raid5(spec) => spec.params().capacity_sectors(),
            Self::Ssd(spec) => spec.params().capacity_sectors,
            Self::Measured(spec) => spec.params().capacity_sectors,
            Self::Virtual(spec) => spec.params().below.capacity_sectors(),
            Self::Null(spec) => spec.params().capacity_sectors,
        }
    }
}

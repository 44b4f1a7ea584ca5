//! What requests cost the device, told or not.

use fairdisk_core::{Cost, CostModel, Request, Span};

/// Where nobody told: a disk with a head, of 100 MB/s and 8 ms.
const DISK: CostModel = {
    let cost = Cost { sequential: Span::from_us(100), random: Span::from_ms(8), byte_ps: 10_000 };
    CostModel { depth: 1, read: cost, write: cost }
};

/// And one without a head: 500 MB/s and 10 000 I/Os a second.
const NO_HEAD: CostModel = {
    let cost = Cost { sequential: Span::from_us(50), random: Span::from_us(100), byte_ps: 2_000 };
    CostModel { depth: 1, read: cost, write: cost }
};

/// The model that is charged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    told: Option<CostModel>,
    rotational: bool,
}

impl Costs {
    /// Of a device of which nothing was told.
    pub(crate) const fn new() -> Self {
        Self { told: None, rotational: true }
    }

    pub(crate) const fn tell(&mut self, model: CostModel) {
        self.told = Some(model);
    }

    /// Whether it is of this device, and not of a common one.
    pub(crate) const fn are_told(&self) -> bool {
        self.told.is_some()
    }

    pub(crate) const fn set_rotational(&mut self, rotational: bool) {
        self.rotational = rotational;
    }

    /// What the request costs.
    pub(crate) const fn of(&self, request: &Request, is_sequential: bool) -> Span {
        let model = match self.told {
            Some(model) => model,
            None if self.rotational => DISK,
            None => NO_HEAD,
        };
        model.cost(request.op, is_sequential, request.sectors.bytes())
    }
}

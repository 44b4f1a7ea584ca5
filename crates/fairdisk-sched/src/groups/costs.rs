//! What requests cost the device, told or not.

use fairdisk_core::{Cost, CostModel, Request, Span};

/// Where nobody told: a disk with a head, of 100 MB/s and 8 ms.
const DISK: CostModel = {
    let byte_ps = 10_000;
    let (sequential, random) = (Span::from_us(100), Span::from_ms(8));
    let cost = Cost { sequential, random, byte_ps, random_byte_ps: byte_ps };
    CostModel { depth: 1, saturation: Span::ZERO, read: cost, write: cost }
};

/// And one without a head: 500 MB/s and 10 000 I/Os a second.
const NO_HEAD: CostModel = {
    let byte_ps = 2_000;
    let (sequential, random) = (Span::from_us(50), Span::from_us(100));
    let cost = Cost { sequential, random, byte_ps, random_byte_ps: byte_ps };
    CostModel { depth: 1, saturation: Span::ZERO, read: cost, write: cost }
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

    /// Schedulers that charge by this know one cost of a byte.
    pub(crate) const fn tell(&mut self, model: CostModel) {
        self.told = Some(model.linear());
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

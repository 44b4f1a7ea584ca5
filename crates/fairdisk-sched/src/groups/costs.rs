//! Request costs: those of the device's cost model, or of an assumed one if none was given.

use fairdisk_core::{Cost, CostModel, Request, Span};

/// Assumed cost model of a disk with a moving head: 100 MB/s and 8 ms per seek.
const DISK: CostModel = {
    let byte_ps = 10_000;
    let (sequential, random) = (Span::from_us(100), Span::from_ms(8));
    let cost = Cost { sequential, random, byte_ps, random_byte_ps: byte_ps };
    CostModel { depth: 1, saturation: Span::ZERO, alone: Span::ZERO, read: cost, write: cost }
};

/// Assumed cost model of a device without a moving head: 500 MB/s and 10 000 I/Os per second.
const NO_HEAD: CostModel = {
    let byte_ps = 2_000;
    let (sequential, random) = (Span::from_us(50), Span::from_us(100));
    let cost = Cost { sequential, random, byte_ps, random_byte_ps: byte_ps };
    CostModel { depth: 1, saturation: Span::ZERO, alone: Span::ZERO, read: cost, write: cost }
};

/// The cost model by which requests are charged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    told: Option<CostModel>,
    rotational: bool,
}

impl Costs {
    /// The costs of a device of which nothing is known yet.
    pub(crate) const fn new() -> Self {
        Self { told: None, rotational: true }
    }

    /// Sets the device's cost model. Schedulers that use this type know a single cost per byte.
    pub(crate) const fn tell(&mut self, model: CostModel) {
        self.told = Some(model.linear());
    }

    /// Whether the costs are those of this device and not assumed.
    pub(crate) const fn are_told(&self) -> bool {
        self.told.is_some()
    }

    pub(crate) const fn set_rotational(&mut self, rotational: bool) {
        self.rotational = rotational;
    }

    /// The cost of one request.
    pub(crate) const fn of(&self, request: &Request, is_sequential: bool) -> Span {
        let model = match self.told {
            Some(model) => model,
            None if self.rotational => DISK,
            None => NO_HEAD,
        };
        model.cost(request.op, is_sequential, request.sectors.bytes())
    }
}

//! The module below the Python package `fairdisk`: the lab's own functions, with arguments and
//! results as Python has them. Nothing is decided here, and nothing is computed that the program
//! `fairdisk` does not compute the same way.
//!
//! Every function that runs something lets go of the interpreter meanwhile, and ends early at
//! Ctrl-C.

mod arrow;
mod errors;
mod replay;
mod request;
mod results;
mod sweep;
mod tables;
mod work;

use pyo3::prelude::*;

/// The functions of the lab.
#[pymodule]
mod _fairdisk {
    #[pymodule_export]
    use crate::request::{catalog, cells, device_keys, schedulers_of_today, tunables};
    #[pymodule_export]
    use crate::results::{Outcome, advise, blame, compare, explain, run, trace};
    #[pymodule_export]
    use crate::sweep::{DirectoryStore, Sweep, is_complete};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

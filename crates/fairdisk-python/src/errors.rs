//! Faults as the exceptions of the package, `fairdisk.errors`.

use fairdisk_lab::spec::SpecError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const MODULE: &str = "fairdisk.errors";

/// An exception of the class `name` with the parts of a fault; Python's own import error if the
/// package is not there.
fn exception(py: Python<'_>, name: &str, error: &SpecError) -> PyResult<PyErr> {
    let parts = PyDict::new(py);
    parts.set_item("file", error.file.as_deref())?;
    parts.set_item("line", error.line)?;
    parts.set_item("key", error.key.as_deref())?;
    parts.set_item("remedy", error.remedy.as_deref())?;
    let class = py.import(MODULE)?.getattr(name)?;
    Ok(PyErr::from_value(class.call((error.message.as_str(),), Some(&parts))?))
}

/// Something given is wrong: `SpecError`.
pub(crate) fn bad_input(py: Python<'_>, error: &SpecError) -> PyErr {
    exception(py, "SpecError", error).unwrap_or_else(|failed| failed)
}

/// As [`bad_input`], of a message alone.
pub(crate) fn bad_text(py: Python<'_>, message: String) -> PyErr {
    bad_input(py, &SpecError::new(message))
}

/// A run failed: `RunError`.
pub(crate) fn failed(py: Python<'_>, message: String) -> PyErr {
    exception(py, "RunError", &SpecError::new(message)).unwrap_or_else(|failed| failed)
}

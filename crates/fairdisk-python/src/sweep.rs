//! Sweeps: cells by number, run here or wherever a program sends them.

use crate::arrow::{Table, batch};
use crate::errors::{bad_input, failed};
use crate::work::without_interpreter;
use fairdisk_lab::threads::cores;
use fairdisk_sweep::{Definition, Done, Folder, Nothing, Shard, Store};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// A directory that keeps finished cells, as that of `fairdisk sweep --store`.
#[pyclass(frozen, module = "fairdisk._fairdisk")]
pub(crate) struct DirectoryStore {
    path: PathBuf,
    folder: Folder,
}

#[pymethods]
impl DirectoryStore {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let folder = Folder::open(&path).map_err(|error| not_kept(py, &path, &error))?;
        Ok(Self { path, folder })
    }

    /// The texts that there are.
    fn known(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<HashMap<String, String>> {
        let found: io::Result<_> = py.detach(|| {
            let text = |key: String| Ok(self.folder.get(&key)?.map(|text| (key, text)));
            keys.into_iter().filter_map(|key| text(key).transpose()).collect()
        });
        found.map_err(|error| not_kept(py, &self.path, &error))
    }

    /// Keeps a text.
    fn keep(&self, py: Python<'_>, key: &str, text: &str) -> PyResult<()> {
        let kept = py.detach(|| self.folder.put(key, text));
        kept.map_err(|error| not_kept(py, &self.path, &error))
    }
}

/// The store cannot be read or written: `RunError`.
fn not_kept(py: Python<'_>, path: &Path, error: &io::Error) -> PyErr {
    let remedy = "make room there, or give another place";
    failed(py, format!("store {}: {error}; {remedy}", path.display()))
}

/// Where a program keeps cells.
#[derive(FromPyObject)]
enum Place {
    /// A directory.
    Directory(Py<DirectoryStore>),
    /// A store of its own.
    Other(Own),
}

/// A store of the program's own, which has been asked before for what it has.
#[derive(FromPyObject)]
#[pyo3(transparent)]
struct Own(Py<PyAny>);

impl Store for Own {
    fn get(&self, _key: &str) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn put(&self, key: &str, text: &str) -> io::Result<()> {
        let kept = Python::attach(|py| self.0.call_method1(py, "keep", (key, text)));
        kept.map(drop).map_err(io::Error::other)
    }
}

/// Whether a store's text is all of a cell's records.
#[pyfunction]
pub(crate) fn is_complete(text: &str) -> bool {
    fairdisk_sweep::is_complete(text)
}

/// A sweep, of the definition as JSON.
#[pyclass(frozen, module = "fairdisk._fairdisk")]
pub(crate) struct Sweep(fairdisk_sweep::Sweep);

/// What came of a cell: its number, its key, its records as JSON, and whether it was known.
type Cell = (usize, Option<String>, String, bool);

#[pymethods]
impl Sweep {
    #[new]
    fn new(py: Python<'_>, definition: &str) -> PyResult<Self> {
        let sweep = Definition::of_json(definition).and_then(fairdisk_sweep::Sweep::new);
        Ok(Self(sweep.map_err(|error| bad_input(py, &error))?))
    }

    /// The number of cells.
    fn __len__(&self) -> usize {
        self.0.cells()
    }

    /// The numbers of the cells of a shard, as `3/16`.
    fn shard(&self, py: Python<'_>, shard: &str) -> PyResult<Vec<usize>> {
        let shard = Shard::parse(shard)
            .map_err(|error| crate::errors::bad_text(py, format!("shard {error}")))?;
        Ok(self.0.shard(shard))
    }

    /// The keys under which cells are kept; `None` for one that cannot be planned.
    fn keys(&self, py: Python<'_>, cells: Vec<usize>) -> PyResult<Vec<Option<String>>> {
        without_interpreter(py, None, |_, stop| self.0.keys(&cells, stop))
    }

    /// Runs cells on so many threads, or all cores. A `DirectoryStore` is asked for each before,
    /// and every store is given what is new at once.
    #[pyo3(signature = (cells, store = None, progress = None, threads = None))]
    fn run(
        &self,
        py: Python<'_>,
        cells: Vec<usize>,
        store: Option<Place>,
        progress: Option<Py<PyAny>>,
        threads: Option<NonZero<usize>>,
    ) -> PyResult<Vec<Cell>> {
        let kept: &dyn Store = match &store {
            Some(Place::Directory(store)) => &store.get().folder,
            Some(Place::Other(store)) => store,
            None => &Nothing,
        };
        let threads = threads.unwrap_or_else(cores);
        let done = without_interpreter(py, progress.as_ref(), |tell, stop| {
            self.0.run(&cells, kept, threads, tell, stop)
        })?;
        let done = done.map_err(|error| match (&store, error.downcast::<PyErr>()) {
            (_, Ok(raised)) => raised,
            (Some(Place::Directory(store)), Err(error)) => not_kept(py, &store.get().path, &error),
            (_, Err(error)) => failed(py, error.to_string()),
        })?;
        Ok(done
            .into_iter()
            .map(|Done { cell, key, text, known }| (cell, key, text, known))
            .collect())
    }

    /// The rows of these cells, each with its number and its records as JSON.
    fn table(&self, py: Python<'_>, cells: Vec<(usize, String)>) -> PyResult<Table> {
        let batch = py.detach(|| {
            let texts: Vec<(usize, &str)> =
                cells.iter().map(|(cell, text)| (*cell, text.as_str())).collect();
            batch(&self.0.rows(&texts)?).map_err(|error| error.to_string())
        });
        Ok(Table(batch.map_err(|error| failed(py, error))?))
    }
}

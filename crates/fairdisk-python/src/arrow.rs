//! Rows of results as an Arrow table, which others take over without copying.

use arrow_array::builder::{Float64Builder, ListBuilder, StringViewBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use fairdisk_sweep::columns::{Column, Value, changed, columns, value_of};
use fairdisk_sweep::{Record, Row};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A table with a row for each group of each run.
#[pyclass(frozen, module = "fairdisk._fairdisk")]
pub(crate) struct Table(pub(crate) RecordBatch);

#[pymethods]
impl Table {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The table as a stream of the Arrow C data interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types, and gets those that there are.
        drop(requested_schema);
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The rows as one batch of columns: what points change first, then the figures.
pub(crate) fn batch(rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let own: Vec<(String, ArrayRef)> =
        changed(rows).into_iter().map(|key| (key.to_owned(), settings(rows, key))).collect();
    let figures = columns().map(|it| (it.name.to_owned(), figures(rows, &it)));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = (own.into_iter().chain(figures))
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// What points change a key to: numbers, if all are.
fn settings(rows: &[Row], key: &str) -> ArrayRef {
    let values = || rows.iter().map(|row| value_of(row, key));
    let numbers = || values().map(|value| value.map(str::parse::<f64>));
    if numbers().flatten().all(|number| number.is_ok()) {
        let numbers: Float64Array = numbers().map(|number| number?.ok()).collect();
        return Arc::new(numbers);
    }
    texts(values())
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut builder = StringViewBuilder::new().with_deduplicate_strings();
    values.for_each(|value| builder.append_option(value));
    Arc::new(builder.finish())
}

/// The values of a column.
fn figures(rows: &[Row], column: &Column) -> ArrayRef {
    let values = || rows.iter().map(|row| (column.value)(&row.record));
    match (column.value)(&Record::default()) {
        Value::Text(_) => texts(values().map(|value| match value {
            Value::Text(text) => text,
            _ => None,
        })),
        Value::Whole(_) => {
            let numbers = values().map(|value| match value {
                Value::Whole(number) => number,
                _ => None,
            });
            Arc::new(numbers.collect::<UInt64Array>())
        }
        Value::Number(_) => {
            let numbers = values().map(|value| match value {
                Value::Number(number) => number,
                _ => None,
            });
            Arc::new(numbers.collect::<Float64Array>())
        }
        Value::Numbers(_) => {
            let mut lists = ListBuilder::new(Float64Builder::new());
            for value in values() {
                if let Value::Numbers(numbers) = value {
                    lists.values().append_slice(numbers);
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
        Value::Wholes(_) => {
            let mut lists = ListBuilder::new(UInt64Builder::new());
            for value in values() {
                if let Value::Wholes(numbers) = value {
                    lists.values().append_slice(numbers);
                }
                lists.append(true);
            }
            Arc::new(lists.finish())
        }
    }
}

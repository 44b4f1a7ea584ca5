//! `fairdisk sweep`: many points of one load, in parts, kept and put together.

use crate::failure::Failure;
use crate::records::{Record, to_csv, to_json_lines};
use crate::{interrupt, output, progress};
use clap::ValueHint;
use fairdisk_lab::run::Silent;
use fairdisk_lab::text_file;
use fairdisk_lab::threads::cores;
use fairdisk_sweep::columns::{Value, changed, columns, value_of};
use fairdisk_sweep::{Definition, Done, Folder, Nothing, Row, Shard, Store, Sweep, is_complete};
use serde_json::{Value as Json, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Run a load with many combinations of values, on one machine or in parts on many
#[derive(Debug, clap::Args)]
#[command(after_help = "A file says what is run (docs/sweeps.md):\n  \
    spec = \"two-groups\"\n  \
    seeds = 3\n  \
    [over]\n  \
    scheduler = [\"fair\", \"bfq\"]\n  \
    \"host.memory.mib\" = \"256..1024+256\"\n\n\
    Examples:\n  \
    fairdisk sweep memory.toml > memory.csv\n  \
    fairdisk sweep memory.toml --store runs --shard 3/16\n  \
    fairdisk sweep memory.toml --store runs --merge > memory.csv")]
pub(crate) struct Args {
    /// The file that says what is run
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Keep finished runs in this directory, and do not repeat those it has
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    store: Option<PathBuf>,
    /// Run only this part, as 3/16, and print nothing
    #[arg(
        long, value_name = "PART/PARTS", value_parser = Shard::parse, requires = "store",
        conflicts_with = "merge", value_hint = ValueHint::Other
    )]
    shard: Option<Shard>,
    /// Run nothing, and print what all parts have left in the store
    #[arg(long, requires = "store")]
    merge: bool,
    /// Print JSON Lines in place of CSV: an object for each group of each run
    #[arg(long)]
    json_lines: bool,
    /// No progress and no remarks on standard error
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let sweep = read(&args.file)?;
    let store = store(args.store.as_deref())?;
    let stop = interrupt::stop_flag()?;
    let cells = sweep.shard(args.shard.unwrap_or(Shard::WHOLE));
    let failed = |error: io::Error| {
        let place = args.store.as_deref().unwrap_or(Path::new("")).display();
        Failure::Run(format!("--store {place}: {error}; make room there, or give another place"))
    };
    let done = match args.merge {
        true => merged(&sweep, &cells, &*store, &stop).map_err(failed)?,
        false => {
            progress::of_runs(args.quiet, |tell| sweep.run(&cells, &*store, cores(), tell, &stop))
                .map_err(failed)?
        }
    };
    if args.shard.is_none() && (!args.merge || done.len() == cells.len()) {
        print(args, &sweep, &done)?;
    }
    let missing = cells.len() - done.len();
    if stop.load(Ordering::Relaxed) && missing > 0 {
        let kept = if args.store.is_some() { "; the store has them" } else { "" };
        return Err(Failure::Interrupted(format!(
            "{} of {} runs are done{kept}",
            done.len(),
            cells.len()
        )));
    }
    if missing > 0 {
        return Err(Failure::Run(format!(
            "{missing} of {} runs are not in the store yet; run the same without --merge",
            cells.len()
        )));
    }
    if !args.quiet && args.store.is_some() {
        let known = done.iter().filter(|it| it.known).count();
        output::diagnose(&format!("note: {known} of {} runs were in the store", cells.len()));
    }
    Ok(())
}

fn read(file: &Path) -> Result<Sweep, Failure> {
    let path = file.display().to_string();
    let text = text_file::read(file);
    let text =
        text.map_err(|error| Failure::BadInput(format!("{path}: cannot be read: {error}")))?;
    let sweep = Definition::parse(&path, &text).and_then(|mut definition| {
        // A path in a file is relative to that file.
        let beside = file.parent().map(|folder| folder.join(&definition.spec));
        if let Some(beside) = beside.filter(|beside| beside.is_file()) {
            definition.spec = beside.to_string_lossy().into_owned();
        }
        Sweep::new(definition)
    });
    sweep.map_err(|error| match error.file {
        Some(_) => Failure::BadInput(error.message),
        None => Failure::BadInput(format!("{path}: {error}")),
    })
}

fn store(path: Option<&Path>) -> Result<Box<dyn Store>, Failure> {
    let Some(path) = path else { return Ok(Box::new(Nothing)) };
    let folder = Folder::open(path)
        .map_err(|error| Failure::BadInput(format!("--store {}: {error}", path.display())))?;
    Ok(Box::new(folder))
}

/// What the store has of these cells. What cannot be planned is found out again.
fn merged(
    sweep: &Sweep,
    cells: &[usize],
    store: &dyn Store,
    stop: &AtomicBool,
) -> io::Result<Vec<Done>> {
    let keys = sweep.keys(cells, stop);
    let (mut done, mut unplanned) = (Vec::new(), Vec::new());
    for (&cell, key) in cells.iter().zip(keys) {
        match key {
            None => unplanned.push(cell),
            Some(key) => {
                let text = store.get(&key)?.filter(|text| is_complete(text));
                done.extend(text.map(|text| Done { cell, key: Some(key), text, known: true }));
            }
        }
    }
    done.extend(sweep.run(&unplanned, store, cores(), &Silent, stop)?);
    Ok(done)
}

fn print(args: &Args, sweep: &Sweep, done: &[Done]) -> Result<(), Failure> {
    let texts: Vec<(usize, &str)> = done.iter().map(|it| (it.cell, it.text.as_str())).collect();
    let rows = sweep.rows(&texts).map_err(Failure::Run)?;
    let keys = changed(&rows);
    let records: Vec<Record> = rows.iter().map(|row| record(row, &keys)).collect();
    let text = if args.json_lines { to_json_lines(&records) } else { to_csv(&records) };
    Ok(output::print(&text)?)
}

fn record(row: &Row, keys: &[&str]) -> Record {
    let changed = keys.iter().map(|key| ((*key).to_owned(), json!(value_of(row, key))));
    let figures = columns().map(|it| (it.name.to_owned(), to_json((it.value)(&row.record))));
    changed.chain(figures).collect()
}

fn to_json(value: Value<'_>) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Whole(number) => json!(number),
        Value::Number(number) => json!(number),
        Value::Numbers(numbers) => json!(numbers),
        Value::Wholes(numbers) => json!(numbers),
    }
}

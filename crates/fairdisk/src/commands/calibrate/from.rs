//! `fairdisk calibrate --from`: refines a device's file by a recording.

use super::Args;
use crate::commands::validate::{failure, recorded};
use crate::failure::Failure;
use crate::own_file::OwnFile;
use crate::results::command;
use crate::selection::overrides;
use crate::{interrupt, output, progress};
use fairdisk_lab::catalog::library::{Kind, find};
use fairdisk_lab::plan::Options;
use fairdisk_lab::run::Progress;
use fairdisk_lab::validate::{Fit, KeyChange, fit};
use std::path::Path;
use std::sync::atomic::Ordering;
use toml_edit::DocumentMut;

/// A value is changed at most so often; most recordings need a few.
const ROUNDS_MOST: u32 = 12;

pub(super) fn execute(args: &Args, trace: &Path) -> Result<(), Failure> {
    let bad = |text: String| Failure::BadInput(text);
    let name = args.path.to_str().ok_or_else(|| bad("a device's name is text".to_owned()))?;
    let file = find(Kind::Device, name)?;
    let trace = trace.to_str().ok_or_else(|| bad("a trace's name is text".to_owned()))?;
    let schedulers = args.scheduler.iter().cloned().collect();
    let overrides = overrides("--set", &args.overrides)?;
    if let Some(of_device) = overrides.iter().find(|change| change.scope() == "device") {
        return Err(bad(format!(
            "--set {}: {name} is written anew with what fits; change it there",
            of_device.key()
        )));
    }
    let options = Options {
        device: Some(name.to_owned()),
        schedulers,
        overrides,
        replay: args.replay.replay(),
        ..Options::default()
    };
    let recorded = recorded(trace, &options)?;
    let stop = interrupt::stop_flag()?;
    let fit = |progress: &dyn Progress| {
        fit(&recorded, &options, ROUNDS_MOST, progress, &stop).map_err(failure)
    };
    let found = progress::of_runs(args.quiet, fit)?;
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted("nothing was written".to_owned()));
    }
    let text = refined(&file.text, &found, args.id_of_output()?.as_deref(), name)
        .map_err(|error| Failure::Run(format!("{name}: {error}")))?;
    match &args.output {
        Some(path) => OwnFile::DEVICE.write(path, &text)?,
        None => output::print(&text)?,
    }
    if !args.quiet {
        notes(&found).iter().for_each(|note| output::diagnose(note));
    }
    Ok(())
}

/// The device's file with the values that fit, and a beginning that says so.
fn refined(
    text: &str,
    found: &Fit,
    id: Option<&str>,
    name: &str,
) -> Result<String, toml_edit::TomlError> {
    let mut file: DocumentMut = text.parse()?;
    for KeyChange { key, is, is_whole, .. } in &found.changes {
        let mut at = file.as_item_mut();
        for part in key.split('.') {
            at = &mut at[part];
        }
        let before = at.as_value().map(|value| value.decor().clone());
        *at = if *is_whole { toml_edit::value(*is as i64) } else { toml_edit::value(*is) };
        if let Some((value, decor)) = at.as_value_mut().zip(before) {
            *value.decor_mut() = decor;
        }
    }
    if let Some(id) = id {
        file["id"] = toml_edit::value(id);
    }
    let command = command();
    let command = output::plain(&command);
    let mut head = format!("# Measured by `{command}`\n# It begins with {name}.\n");
    notes(found).iter().for_each(|note| head.push_str(&format!("# {note}\n")));
    Ok(format!("{head}{file}"))
}

/// What was learned and what was not.
fn notes(found: &Fit) -> Vec<String> {
    let mut notes = vec![format!(
        "The replay of the recording is {:.1} % off in the mean, {:.1} % before.",
        found.after, found.before
    )];
    notes.extend(found.changes.iter().map(|change| format!("{change}.")));
    let unknown = found.keys.iter().filter(|key| key.is_unknown);
    let unknown: Vec<&str> = unknown.map(|key| &*key.key).collect();
    if !unknown.is_empty() {
        notes.push(format!("The recording says nothing about {}.", unknown.join(", ")));
    }
    notes
}

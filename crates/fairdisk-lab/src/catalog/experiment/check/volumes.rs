//! Checks of volumes.

use super::check_names;
use crate::catalog::allowed::{Wrong, demand};
use crate::catalog::experiment::{Volume, VolumeType};

/// The largest sizes; no disk is larger, and sums stay far from overflowing.
const GIB_MAX: f64 = (1u64 << 30) as f64;
pub(super) const MIB_MAX: u64 = 1 << 40;
/// The most files; more would take more memory than a run is worth.
const FILES_MAX: u64 = 1_000_000;

/// Checks the volumes of an experiment.
pub(super) fn check_volumes(volumes: &[Volume]) -> Result<(), Wrong> {
    let names = volumes.iter().map(|volume| &volume.name);
    check_names("volume", names, |at| format!("volume.{at}.name"))?;
    let mut files = 0;
    for (at, volume) in volumes.iter().enumerate() {
        let path = format!("volume.{at}");
        check_keys(&path, volume)?;
        check_volume(&path, volume)?;
        let before = files;
        files += volume.files.map_or(1, u64::from);
        let allowed = format!("1 to {}", FILES_MAX.saturating_sub(before));
        let count = volume.files.unwrap_or(1);
        demand(files <= FILES_MAX, &format!("{path}.files"), count, allowed)?;
    }
    Ok(())
}

/// Checks the keys of a volume: a raw volume has no files, and a file system is as large as its
/// files.
fn check_keys(path: &str, volume: &Volume) -> Result<(), Wrong> {
    let is_raw = volume.kind == VolumeType::Raw;
    let keys = [
        ("size_gib", volume.size_gib.is_some() && !is_raw, "raw"),
        ("files", volume.files.is_some() && is_raw, "ext2 and ext3"),
        ("file_mib", volume.file_mib.is_some() && is_raw, "ext2 and ext3"),
        ("shuffled", volume.shuffled.is_some() && is_raw, "ext2 and ext3"),
        ("cached", volume.cached.is_some() && is_raw, "ext2 and ext3"),
        ("journal", volume.journal.is_some() && volume.kind != VolumeType::Ext3, "ext3"),
    ];
    let Some((key, _, kinds)) = keys.into_iter().find(|(_, is_odd, _)| *is_odd) else {
        return Ok(());
    };
    let name = &volume.name;
    let message = format!("volume `{name}`: `{key}` is about volumes of kind {kinds}; drop it");
    Err((format!("{path}.{key}"), message.into()))
}

fn check_volume(path: &str, volume: &Volume) -> Result<(), Wrong> {
    let key = |key: &str| format!("{path}.{key}");
    let needs = |name: &str| {
        Err((key(name), format!("volume `{}` needs `{name}`, more than 0", volume.name).into()))
    };
    demand((0.0..=GIB_MAX).contains(&volume.start_gib), &key("start_gib"), volume.start_gib, SIZE)?;
    if volume.kind == VolumeType::Raw {
        let Some(size) = volume.size_gib else { return needs("size_gib") };
        let fits = size <= GIB_MAX && volume.file_bytes() > 0;
        return demand(fits, &key("size_gib"), size, "a block of 4 KiB or more, up to 1073741824");
    }
    let Some(files) = volume.files else { return needs("files") };
    let Some(mib) = volume.file_mib else { return needs("file_mib") };
    demand((1..=FILES_MAX).contains(&files.into()), &key("files"), files, "1 to 1000000")?;
    let most = MIB_MAX / u64::from(files);
    demand((1..=most).contains(&mib), &key("file_mib"), mib, format!("1 to {most}"))
}

const SIZE: &str = "0 to 1073741824";

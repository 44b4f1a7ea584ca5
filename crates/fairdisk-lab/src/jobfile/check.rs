//! Checks of a job's settings in combination: conflicts that prevent a run, and remarks that do
//! not.

use super::draft::{self, Draft, Slot, value};
use super::error::{Error, ErrorKind, Place};
use super::finish;
use super::job::Job;
use super::note::Notes;
use super::pattern::{Direction, Distribution, Kind};
use super::per_op::PerOp;
use super::setting::Placed;
use super::source::Section;
use super::span::{Extent, FileBytes, FileSystem};
use super::submission::{self, EngineKind};
use super::{flow, priority, read_back, serving, watch, zoned};

/// All conflicts that keep a job from running.
pub(super) fn conflicts(section: &Section, draft: &Draft) -> Vec<Error> {
    let found = [
        size_is_missing(section, draft),
        percentage_of_nothing(draft),
        file_is_shorter(draft),
        block_is_larger(draft),
        time_without_end(draft),
        group_keys(draft),
        two_shares(draft),
        unaligned_range(draft),
        offload_through_cache(draft),
        alignment_of_a_map(draft),
        modifier(draft),
        identical_without_random(draft),
        flush_after_passes(draft),
        split_sectors(draft),
        zoned::one_alone(draft),
        watch::least_exceeds_rate(draft),
    ];
    found.into_iter().flatten().collect()
}

fn conflict(place: &Place, text: impl Into<String>) -> Error {
    Error { place: place.clone(), kind: ErrorKind::Conflict { text: text.into() } }
}

fn unsupported<T>(placed: &Placed<T>, value: impl Into<String>, remedy: &str) -> Error {
    let kind = ErrorKind::UnsupportedValue {
        key: placed.key.to_owned(),
        value: value.into(),
        remedy: remedy.to_owned(),
    };
    Error { place: placed.place.clone(), kind }
}

/// Whether the size of the job is known before the run: only block devices and files of a given
/// size have one.
fn size_is_known(draft: &Draft) -> bool {
    let files = value(&draft.filename).unwrap_or_default();
    let devices = !files.is_empty() && files.iter().all(|name| name.starts_with("/dev/"));
    devices || draft.filesize.is_some()
}

fn size_is_missing(section: &Section, draft: &Draft) -> Option<Error> {
    if value(&draft.size).flatten().is_some() || size_is_known(draft) {
        return None;
    }
    let place = draft.size.as_ref().map_or(&section.place, |size| &size.place);
    let name = &section.name;
    Some(conflict(place, format!("job `{name}` has no size; add size=, or name a block device")))
}

fn percentage_of_nothing(draft: &Draft) -> Option<Error> {
    let slots = [&draft.size, &draft.offset, &draft.offset_increment];
    let percent = |placed: &&Placed<_>| matches!(placed.value, Some(Extent::Percent(_)));
    let Placed { place, key, .. } = slots.into_iter().flatten().find(percent)?;
    let text = if !size_is_known(draft) {
        "files whose size is not known; add filesize=, name a block device, or write bytes"
    } else if matches!(value(&draft.filesize), Some(FileBytes::Range { .. })) {
        "files that differ in size; write bytes, or one filesize"
    } else {
        return None;
    };
    Some(conflict(place, format!("{key} is a percentage of {text}")))
}

fn direction(draft: &Draft) -> Direction {
    value(&draft.rw).unwrap_or_default()
}

fn mix_uses(draft: &Draft) -> PerOp<bool> {
    finish::mix(draft).uses()
}

/// The number of files by which a job's size is divided.
pub(super) fn file_count(draft: &Draft) -> u64 {
    let named = draft.filename.as_ref().map(|names| names.value.len() as u64);
    named.unwrap_or_else(|| u64::from(value(&draft.nrfiles).unwrap_or(1))).max(1)
}

/// The size of the shortest file of the job, if `filesize=` gives it.
fn shortest_file(draft: &Draft) -> Option<u64> {
    match value(&draft.filesize)? {
        FileBytes::Fixed { bytes } | FileBytes::Range { min_bytes: bytes, .. } => Some(bytes),
        FileBytes::ShareOfSize => None,
    }
}

/// Where the work of the first clone starts, and how much further that of the last one does, in a
/// file of `file` bytes.
fn starts(draft: &Draft, file: u64) -> (u64, u64) {
    let of = |slot: &Slot<Option<Extent>>| value(slot).flatten().map_or(0, |at| at.of(file));
    let last = u64::from(value(&draft.numjobs).unwrap_or(1).saturating_sub(1));
    (of(&draft.offset), of(&draft.offset_increment).saturating_mul(last))
}

/// Every clone must have something to work on after its offset.
fn file_is_shorter(draft: &Draft) -> Option<Error> {
    let file = shortest_file(draft)?;
    let (first, further) = starts(draft, file);
    let last = first.saturating_add(further);
    if last < file {
        return None;
    }
    let slot = if first < file { &draft.offset_increment } else { &draft.offset };
    let Placed { place, key, .. } = slot.as_ref()?;
    let text = format!(
        "the work would begin at byte {last} of a file of {file} bytes; lower {key}, or raise \
         filesize"
    );
    Some(conflict(place, text))
}

fn block_is_larger(draft: &Draft) -> Option<Error> {
    let size = value(&draft.size).flatten();
    let each = match (size, shortest_file(draft)) {
        (Some(Extent::Bytes(size)), None) => size / file_count(draft),
        (size, Some(file)) => {
            let behind = file.checked_sub(starts(draft, file).0).filter(|bytes| *bytes > 0)?;
            size.map_or(behind, |size| size.of(file).min(behind))
        }
        (_, None) => return None,
    };
    let blocks = finish::blocks(draft);
    let uses = mix_uses(draft);
    let used = blocks.iter().zip(uses.iter()).filter(|(_, used)| **used);
    let smallest = used.map(|(block, _)| block.min_bytes()).max()?;
    let set = [&draft.bssplit, &draft.bsrange, &draft.bs].into_iter().flatten().next();
    let place = set
        .map(|placed| &placed.place)
        .or_else(|| draft.size.as_ref().map(|placed| &placed.place))
        .or_else(|| draft.filesize.as_ref().map(|placed| &placed.place))?;
    (smallest > each).then(|| {
        conflict(
            place,
            format!(
                "blocks of {smallest} bytes do not fit in the {each} bytes each file has; lower \
                 bs or raise size"
            ),
        )
    })
}

fn time_without_end(draft: &Draft) -> Option<Error> {
    let time_based = draft.time_based.as_ref().filter(|placed| placed.value)?;
    let endless = value(&draft.runtime_ns).unwrap_or(0) == 0;
    endless.then(|| conflict(&time_based.place, "time_based has no end; add runtime="))
}

fn group_keys(draft: &Draft) -> Option<Error> {
    let (group, cgroup) = (draft.group.as_ref(), draft.cgroup.as_ref());
    if let (Some(_), Some(cgroup)) = (group, cgroup) {
        return Some(conflict(&cgroup.place, "cgroup and group both name the group; keep one"));
    }
    let lonely = |place: &Place, key: &str, needed: &str| {
        Some(conflict(place, format!("{key} has no group to apply to; add {needed}")))
    };
    match (&draft.group_weight, &draft.group_ioprio, &draft.cgroup_weight) {
        (Some(weight), ..) if group.is_none() => lonely(&weight.place, "group_weight", "group="),
        (_, Some(prio), _) if group.is_none() => lonely(&prio.place, "group_ioprio", "group="),
        (.., Some(weight)) if cgroup.is_none() => lonely(&weight.place, "cgroup_weight", "cgroup="),
        _ => {
            let limit = draft.group_limits.values().find(|_| group.or(cgroup).is_none())?;
            lonely(&limit.place, limit.key, "group=")
        }
    }
}

fn two_shares(draft: &Draft) -> Option<Error> {
    let (_, prio) = (draft.group_weight.as_ref()?, draft.group_ioprio.as_ref()?);
    Some(conflict(
        &prio.place,
        "group_weight and group_ioprio both say what the group is due; keep one",
    ))
}

/// The number in `rw=randread:8` counts requests if the order is random.
fn modifier(draft: &Draft) -> Option<Error> {
    let rw = draft.rw.as_ref().filter(|placed| placed.value.random)?;
    let count = rw.value.modifier?;
    let fits = u32::try_from(count).is_ok_and(|count| count > 0);
    (!fits).then(|| {
        unsupported(
            rw,
            format!("{}:{count}", rw.value.word()),
            "behind a random pattern write how many requests each offset serves",
        )
    })
}

/// How fio 3.33 draws unaligned sizes from a range is not modelled.
fn unaligned_range(draft: &Draft) -> Option<Error> {
    let unaligned = draft.unaligned.as_ref().filter(|placed| placed.value)?;
    let is_ranged = draft.bssplit.is_none() && draft.bsrange.is_some();
    is_ranged.then(|| unsupported(unaligned, "1", "it is modelled for bssplit only"))
}

/// How fio 3.33 finds free blocks in units of its map with another alignment is not modelled.
fn alignment_of_a_map(draft: &Draft) -> Option<Error> {
    let align = draft.align.as_ref()?;
    let is_other = finish::align_bytes(draft).iter().any(Option::is_some);
    let is_free = match value(&draft.distribution).unwrap_or(Distribution::Uniform) {
        Distribution::Uniform => value(&draft.norandommap).unwrap_or(false),
        Distribution::Zoned(_) => true,
        _ => false,
    };
    let remedy = "it is modelled with norandommap or zones; add norandommap, or remove it";
    (is_other && !is_free).then(|| {
        let written = list_of(align);
        unsupported(align, written, remedy)
    })
}

/// A list as it could be written.
fn list_of(list: &Placed<PerOp<Option<u64>>>) -> String {
    let parts = list.value.iter().map(|one| one.map_or_else(String::new, |one| one.to_string()));
    let parts: Vec<String> = parts.collect();
    let is_one = parts.iter().all(|part| *part == parts[0]);
    if is_one { parts[0].clone() } else { parts.join(",") }
}

fn offload_through_cache(draft: &Draft) -> Option<Error> {
    let offloads = draft.offloads.as_ref().filter(|placed| placed.value)?;
    let is_deep = value(&draft.iodepth).is_some_and(|depth| depth > 1);
    let is_buffered = !draft.is_direct();
    (is_deep && is_buffered).then(|| {
        unsupported(
            offloads,
            "offload",
            "with iodepth it is modelled around the page cache only; set direct=1",
        )
    })
}

fn identical_without_random(draft: &Draft) -> Option<Error> {
    let identical = draft.identical.as_ref().filter(|placed| placed.value)?;
    let rw = direction(draft);
    (rw.modifier.is_some() && !rw.random).then(|| {
        unsupported(
            identical,
            "identical",
            "repeating offsets is supported for random patterns only; use rw=randread:8",
        )
    })
}

/// fio considers only the jobs above, and accepts any of that name.
pub(super) fn waits_for_nobody(draft: &Draft, above: &[Job]) -> Option<Error> {
    let Placed { value, place, .. } = draft.wait_for.as_ref()?;
    let text = match above.iter().filter(|job| job.name == *value).count() {
        0 => "there is no job of that name above; name one, or use stonewall",
        1 => return None,
        _ => "there are several jobs of that name above; give each its own",
    };
    Some(conflict(place, format!("wait_for={value}: {text}")))
}

/// fio flushes at the end of every pass.
fn flush_after_passes(draft: &Draft) -> Option<Error> {
    let flush = draft::end_flush(draft).filter(|_| mix_uses(draft).write)?;
    let more = |bytes| match value(&draft.size).flatten() {
        Some(Extent::Bytes(size)) => bytes > size,
        _ => true,
    };
    let io_size = value(&draft.io_size).flatten();
    let passes = value(&draft.loops).is_some_and(|loops| loops > 1)
        || matches!(io_size, Some(Extent::Bytes(bytes)) if more(bytes));
    (passes && !value(&draft.time_based).unwrap_or(false)).then(|| {
        let remedy = "it flushes after every pass, which is not modelled yet; give the job one \
                      pass, without loops and an io_size above size";
        unsupported(flush, "1", remedy)
    })
}

/// No disk has smaller sectors, and `direct=1` allows only whole ones.
const SECTOR: u64 = 512;

fn split_sectors(draft: &Draft) -> Option<Error> {
    let direct = draft.direct.as_ref().filter(|placed| placed.value)?;
    if value(&draft.ioengine).is_some_and(|engine| engine.kind == EngineKind::Null) {
        return None;
    }
    let whole = |bytes: &u64| bytes.is_multiple_of(SECTOR);
    let (blocks, uses) = (finish::blocks(draft), mix_uses(draft));
    let used = blocks.iter().zip(uses.iter()).filter(|(_, used)| **used);
    let block = used.flat_map(|(block, _)| block.units()).find(|bytes| !whole(bytes));
    let bytes = |slot: &Slot<Option<Extent>>| match value(slot).flatten() {
        Some(Extent::Bytes(bytes)) => Some(bytes).filter(|bytes| !whole(bytes)),
        _ => None,
    };
    let keys = [
        ("bs", block),
        ("offset", bytes(&draft.offset)),
        ("offset_increment", bytes(&draft.offset_increment)),
    ];
    let (key, bytes) = keys.into_iter().find_map(|(key, wrong)| Some((key, wrong?)))?;
    Some(conflict(
        &direct.place,
        format!(
            "direct=1 needs multiples of {SECTOR} bytes, or the system refuses the I/O, and {key} is \
             {bytes}; change {key}, or set direct=0"
        ),
    ))
}

/// Remarks about a job that can run.
pub(super) fn remarks(draft: &Draft) -> Notes {
    let mut notes = Notes::default();
    about_pattern(draft, &mut notes);
    about_random(draft, &mut notes);
    about_blocks(draft, &mut notes);
    about_size(draft, &mut notes);
    about_queue(draft, &mut notes);
    about_order(draft, &mut notes);
    about_writes(draft, &mut notes);
    about_rest(draft, &mut notes);
    read_back::remarks(draft, &mut notes);
    zoned::remarks(draft, &mut notes);
    serving::remarks(draft, &mut notes);
    flow::remarks(draft, &mut notes);
    watch::remarks(draft, &mut notes);
    priority::remarks(draft, &mut notes);
    notes
}

/// What is said of a value that changes nothing.
pub(super) const NEUTRAL: &str = "no effect: the value of fio without the key";

pub(super) fn say<T>(notes: &mut Notes, slot: &Slot<T>, applies: bool, text: &str) {
    if let Some(placed) = slot.as_ref().filter(|_| applies) {
        notes.add(&placed.place, placed.key, text);
    }
}

fn about_pattern(draft: &Draft, notes: &mut Notes) {
    let rw = direction(draft);
    say(
        notes,
        &draft.read_percent,
        rw.kind != Kind::ReadWrite,
        "no effect: the pattern is not a mix of reads and writes",
    );
    say(
        notes,
        &draft.identical,
        rw.modifier.is_none(),
        "no effect: rw has no count, as in rw=randread:8",
    );
}

fn about_random(draft: &Draft, notes: &mut Notes) {
    const TEXT: &str = "no effect: the pattern is sequential";
    let sequential = !direction(draft).random;
    say(notes, &draft.distribution, sequential, TEXT);
    say(notes, &draft.random_percent, sequential, TEXT);
    say(notes, &draft.norandommap, sequential, TEXT);
    let is_default = finish::align_bytes(draft).iter().all(Option::is_none);
    say(notes, &draft.align, sequential, TEXT);
    let text = "no effect: offsets are multiples of the smallest block without it";
    say(notes, &draft.align, !sequential && is_default, text);
}

fn about_blocks(draft: &Draft, notes: &mut Notes) {
    let split = draft.bssplit.is_some();
    let rounds = finish::blocks(draft) != finish::written_blocks(draft);
    let text =
        "sizes are rounded down to multiples of the smallest, as in fio without bs_unaligned";
    say(notes, &draft.bssplit, rounds, text);
    let is_fixed = !split && draft.bsrange.is_none();
    say(notes, &draft.unaligned, is_fixed, "no effect: all blocks have one size");
    say(notes, &draft.bsrange, split, "bssplit decides the block sizes where it is set");
    say(
        notes,
        &draft.bs,
        split || draft.bsrange.is_some(),
        "bssplit or bsrange decides the block sizes where it is set",
    );
}

fn about_size(draft: &Draft, notes: &mut Notes) {
    let Some(FileBytes::Fixed { bytes }) = value(&draft.filesize) else { return };
    let (start, _) = starts(draft, bytes);
    let all = bytes.saturating_sub(start).saturating_mul(file_count(draft));
    let more = matches!(value(&draft.size).flatten(), Some(Extent::Bytes(size)) if size > all);
    say(notes, &draft.size, more, &format!("more than the files have: {all} bytes are used"));
}

fn about_queue(draft: &Draft, notes: &mut Notes) {
    let engine = value(&draft.ioengine).unwrap_or(submission::DEFAULT);
    let depth = value(&draft.iodepth).unwrap_or(1);
    let reason = finish::one_by_one(draft);
    let one_by_one = reason.is_some();
    let text = format!("no effect: {}", reason.unwrap_or_default());
    say(notes, &draft.iodepth, one_by_one && depth > 1, &text);
    say(notes, &draft.iodepth_batch, one_by_one, &text);
    say(notes, &draft.iodepth_low, one_by_one, &text);
    say(notes, &draft.completes_min, one_by_one, &text);
    let above = |slot: &Slot<u32>| !one_by_one && value(slot).is_some_and(|count| count > depth);
    let text = format!("more than iodepth: {depth} is used");
    say(notes, &draft.iodepth_batch, above(&draft.iodepth_batch), &text);
    say(notes, &draft.iodepth_low, above(&draft.iodepth_low), &text);
    say(
        notes,
        &draft.ioengine,
        engine.kind == EngineKind::Null,
        "requests end at once, no device is touched",
    );
}

fn about_order(draft: &Draft, notes: &mut Notes) {
    let direction = value(&draft.rw).unwrap_or_default();
    let goes_on = !direction.random && direction.modifier.is_some_and(|hole| hole > 0);
    let text = "no effect: no bytes are left out after each request, as with rw=read:64k";
    say(notes, &draft.interleave, !goes_on, text);
    let is_alone = value(&draft.exitall) != Some(true);
    say(notes, &draft.completes, is_alone, "no effect: exitall does not end the job");
    say(notes, &draft.exit_what, is_alone, "no effect: there is no exitall");
}

fn about_writes(draft: &Draft, notes: &mut Notes) {
    const TEXT: &str = "no effect: the pattern does not write";
    let dry = !mix_uses(draft).write;
    say(notes, &draft.fsync, dry, TEXT);
    say(notes, &draft.fdatasync, dry, TEXT);
    say(notes, &draft.end_fsync, dry, TEXT);
    say(notes, &draft.fsync_on_close, dry, TEXT);
    say(notes, &draft.sync, dry, TEXT);
    let is_bare = value(&draft.filesystem).unwrap_or_default() == FileSystem::None;
    let text = "no effect: files exist before the run, but with filesystem=ext2";
    say(notes, &draft.overwrite, is_bare, text);
}

fn about_rest(draft: &Draft, notes: &mut Notes) {
    let unlevelled = draft.prio.is_none() && matches!(value(&draft.prioclass), Some(1 | 2));
    say(notes, &draft.prioclass, unlevelled, "prio is not set: level 0, the highest, is used");
    let unclassed = value(&draft.prioclass).unwrap_or(0) == 0;
    say(notes, &draft.prio, unclassed, "prioclass is not set: best effort is used");
    say(notes, &draft.arrivals, !draft.has_rate(), "no effect: there is no rate");
    say(notes, &draft.think_blocks, draft.think_ns.is_none(), "no effect: thinktime is not set");
    say(notes, &draft.nrfiles, draft.filename.is_some(), "no effect: filename lists the files");
    say(notes, &draft.create_only, value(&draft.create_only) == Some(false), NEUTRAL);
    say(notes, &draft.randrepeat, draft.randseed.is_some(), "no effect: randseed is set");
    if let Some(weight) = &draft.cgroup_weight {
        let effect = super::group::GroupShare::CgroupWeight(weight.value).weight();
        let text = format!(
            "{} of cgroup v1, where 500 is the default, stands for group_weight {effect}",
            weight.value
        );
        notes.add(&weight.place, weight.key, text);
    }
}

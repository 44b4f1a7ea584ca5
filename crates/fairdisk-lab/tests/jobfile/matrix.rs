//! A matrix of small jobs: random combinations of the settings that determine numbers and positions
//! of I/Os, under fio and in the lab.

use fairdisk_core::Prng;

use crate::average;
use crate::fio;

const RW: &[&str] = &[
    "rw=read",
    "rw=write",
    "rw=rw",
    "rw=read:4k",
    "rw=read:-8k",
    "rw=write:20k",
    "rw=rw:4k",
    "rw=randread",
    "rw=randwrite",
    "rw=randrw",
    "rw=randread:3",
    "rw=randrw:4",
    "rw=randrw:3 percentage_random=30",
    "rw=randread:3 rw_sequencer=identical",
    "rw=randwrite:2 rw_sequencer=identical norandommap",
    "rw=randread percentage_random=0",
    "rw=randwrite percentage_random=40",
    "rw=randrw percentage_random=80,20",
    "rw=randread norandommap",
    "rw=randrw norandommap",
    "rw=randwrite random_distribution=zipf:0.7",
    "rw=randrw random_distribution=zipf:1.3",
    "rw=randread random_distribution=pareto:0.3",
    "rw=randread random_distribution=zipf:0.9 percentage_random=50",
];
const BLOCKS: &[&str] = &[
    "",
    "",
    "bs=8k",
    "bs=3k",
    "bs=12k",
    "bs=4k,8k",
    "bs=8k,4k",
    "bs=4k,4k,2k",
    "bsrange=4k-16k",
    "bsrange=3k-10k",
    "bsrange=4k-18k",
    "bsrange=4k-8k,8k-16k",
    "bssplit=4k/50:16k/50",
    "bssplit=4k/90:20k/10",
    "bssplit=4k/20:8k/80,16k/100",
];
const SIZES: &[&str] = &[
    "size=64k",
    "size=100k",
    "size=66k",
    "size=250k",
    "size=128k offset=12k",
    "filesize=130k",
    "filesize=128k size=96k",
    "filesize=128k offset=20k",
    "filesize=128k offset=36k size=40k",
    "filesize=100k size=50%",
    "filesize=100k size=70% offset=40k",
    "size=192k nrfiles=3",
    "size=201k nrfiles=3",
    "size=154k nrfiles=7",
    "filesize=70k size=100k nrfiles=2",
    "filesize=60k offset=10k nrfiles=2",
    "filesize=60k size=50% nrfiles=3",
];
const AMOUNTS: &[&str] = &[
    "",
    "",
    "",
    "loops=2",
    "loops=3",
    "io_size=50k",
    "io_size=300k",
    "io_size=80%",
    "io_size=170k loops=2",
    "number_ios=9",
    "number_ios=30 loops=2",
];
const MIXES: &[&str] = &["", "rwmixread=20", "rwmixread=85", "rwmixread=100", "fsync=5"];

/// The number of combinations tried. fio's seeds are the same in every run, and so are ours.
const PROBES: usize = 240;
/// Another seed gives another matrix.
const SEED: u64 = 3;

#[test]
fn any_combination_is_what_it_is_under_fio() {
    if !fio::is_installed() {
        return;
    }
    let mut prng = Prng::new(SEED);
    let mut pick = |list: &[&str]| list[prng.below(list.len() as u64) as usize].to_owned();
    let mut probe = || [RW, BLOCKS, SIZES, AMOUNTS, MIXES].map(&mut pick).join(" ");
    let probes: Vec<String> = (0..PROBES).map(|_| probe()).collect();
    let off = average::differences("matrix", &probes);
    assert!(off.is_empty(), "{} of {PROBES}:\n{}", off.len(), off.join("\n"));
}

//! Readers survive any bytes, and sound files of which a few bytes are changed.

use fairdisk_trace::{Format, Options, Source, Summary, Writer, open};
use proptest::prelude::*;
use std::fs;

/// Beginnings of files that get far into a reader.
const STARTS: [&str; 8] = [
    "fio version 3 iolog\n0 f add\n0 f read 0 4096\n",
    "fio version 2 iolog\nf add\nf wait 9 0\nf write 4096 4096\n",
    "  8,0    1        3     0.000252703 17852  Q   W 24803160 + 8 [kworker/u256:1]\n",
    "fio-4711 [001] d..1. 1000.000100: block_bio_queue: 7,3 R 64 + 8 [fio]\n",
    "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    "1538323200,12910952,128,0,1063\n",
    "10.000000000,0.000100000,R,4,4096,8192\n",
    "0.5 0 2048 8 1\n",
];

/// Reads a file as each format, sums it up, and writes what can be read in each format.
fn survives(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = dir.path().join("any");
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{error}"));
    for (_, format) in Format::ALL {
        let options = Options { format: Some(format), skip_bad: 1000 };
        let Ok(mut reader) = open(&path, &options) else { continue };
        let mut summary = Summary::new(Default::default());
        let outs = [Format::Fdt, Format::Csv, Format::Iolog, Format::Blkparse, Format::Blktrace];
        let mut outs: Vec<_> = outs
            .iter()
            .filter_map(|it| Writer::new(Vec::new(), *it, &reader.about()).ok())
            .collect();
        while let Ok(Some(request)) = reader.next() {
            summary.add(&request, reader.origins());
            for out in &mut outs {
                out.add(&request, reader.origins()).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        outs.into_iter().for_each(|out| drop(out.finish()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survives(&bytes);
    }

    #[test]
    fn changed_text_is_survived(
        start in 0..STARTS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9,.+ RWFNDQC\n-]"), 1..6),
    ) {
        let mut text = STARTS[start].repeat(3).into_bytes();
        for (at, to) in changes {
            let at = at.index(text.len());
            text[at] = to.as_bytes()[0];
        }
        survives(&text);
    }

    #[test]
    fn changed_recordings_are_survived(
        blktrace in any::<bool>(),
        requests in prop::collection::vec(any::<(u64, u64, u32, u64)>(), 1..20),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut csv = String::from(
            "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors\n",
        );
        for (at, place, length, took) in requests {
            let (at, done) = (at >> 2, (at >> 2) + (took >> 3));
            csv += &format!("{at},,{done},8,g,t-{length},write,,{},{length}\n", place >> 10);
        }
        let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let path = dir.path().join("load.csv");
        fs::write(&path, csv).unwrap_or_else(|error| panic!("{error}"));
        let mut reader = open(&path, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let format = if blktrace { Format::Blktrace } else { Format::Fdt };
        let mut out = Writer::new(Vec::new(), format, &reader.about())
            .unwrap_or_else(|error| panic!("{error}"));
        while let Some(request) = reader.next().unwrap_or_else(|error| panic!("{error}")) {
            out.add(&request, reader.origins()).unwrap_or_else(|error| panic!("{error}"));
        }
        let mut bytes = out.finish().unwrap_or_else(|error| panic!("{error}"));
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        survives(&bytes);
        survives(&bytes[..cut.index(bytes.len())]);
    }
}

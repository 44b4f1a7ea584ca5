//! Readers survive any bytes, and sound files of which a few bytes are changed.

use fairdisk_fuzz::Parser;
use fairdisk_trace::{Format, Options, Source, Writer, open};
use proptest::prelude::*;
use std::path::Path;
use std::{fs, io};

/// What each parser is to survive: seeds, and what a fuzzer found.
fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let of = |name: &'static str| {
        let files = fs::read_dir(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = |file: io::Result<fs::DirEntry>| fs::read(file?.path());
        files.map(move |file| (name, read(file).unwrap_or_else(|error| panic!("{error}"))))
    };
    Parser::all().flat_map(|(name, _)| of(name)).collect()
}

/// Has every parser read them.
fn survives(bytes: &[u8]) {
    Parser::all().for_each(|(_, parser)| parser.read(bytes));
}

#[test]
fn the_corpus_is_survived_by_every_parser() {
    let corpus = corpus();
    corpus.iter().for_each(|(_, bytes)| survives(bytes));
    assert!(Parser::all().all(|(name, _)| corpus.iter().any(|(of, _)| *of == name)));
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survives(&bytes);
    }

    #[test]
    fn changed_text_is_survived(
        start in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[0-9,.+ RWFNDQC\n-]"), 1..6),
    ) {
        let corpus: Vec<_> = corpus().into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
        let (name, bytes) = &corpus[start.index(corpus.len())];
        // A document has each key once, others have many lines.
        let is_document = ["experiment", "sweep"].contains(name);
        let mut text = if is_document { bytes.clone() } else { bytes.repeat(3) };
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

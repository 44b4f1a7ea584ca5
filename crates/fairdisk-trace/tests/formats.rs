//! Every format: what is read of files as they are found, and that what is written is read again.

use fairdisk_core::{Instant, IoClass, IoPrio, Lba, Op, Prng, Qos, Sectors};
use fairdisk_trace::fdt::{Recorder, append_to};
use fairdisk_trace::{
    About, Format, Options, Origin, Origins, Request, Settings, Source, TraceError, Traits, Writer,
    open,
};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// A directory for the files of a test.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"))
}

fn file(dir: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
    path
}

/// A request in words: device, group, task; what; and its times in us.
fn words(request: &Request, origins: &Origins) -> String {
    let Origin { device, group, task, .. } = origins.get(request.origin);
    let us = |at: Option<Instant>| {
        at.map_or("-".to_owned(), |at| format!("{}", at.as_ns() as f64 / 1000.0))
    };
    let Request { op, traits, start, sectors, .. } = request;
    let sync = if traits.contains(Traits::SYNC) { " sync" } else { "" };
    let times = [Some(request.queued), request.issued, request.done].map(us).join(" ");
    format!("{device}|{group}|{task}| {} {}+{}{sync} at {times}", op.name(), start.0, sectors.0)
}

/// All that is read of a file.
fn read(path: &Path, options: Options) -> Result<(Format, Vec<String>, u64), TraceError> {
    let mut reader = open(path, &options)?;
    let mut all = Vec::new();
    while let Some(request) = reader.next()? {
        all.push(words(&request, reader.origins()));
    }
    Ok((reader.format, all, reader.skipped()))
}

/// A file: its name, its text, its format, and what is read of it.
type Found<'a> = (&'a str, &'a str, Format, Vec<&'a str>);

/// Reads files as they are found.
fn demand_read(files: &[Found<'_>]) {
    let dir = scratch();
    for (name, text, format, requests) in files {
        let path = file(dir.path(), &name.replace(' ', "_"), text);
        let read =
            read(&path, Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let requests = requests.iter().map(|request| String::from(*request)).collect();
        assert_eq!(read, (*format, requests, 0), "{name}");
    }
}

#[test]
fn columns_of_public_traces_are_read() {
    demand_read(&[
        (
            "msr, and no end of its last line",
            "128166372003061629,usr,0,Read,7014609920,24576,41286\r\n\
             128166372003061729,usr,0,Write,7014634496,512,100",
            Format::Msr,
            vec![
                "0|usr|| read 13700410+48 sync at 0 - 4128.6",
                "0|usr|| write 13700458+1 at 10 - 20",
            ],
        ),
        (
            "systor, sorted by its ends",
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             10.000000000,0.000100000,R,4,4096,8192\n\
             10.000010000,,W,4,0,4096\n\
             10.000005000,0.5,W,6,512,512\n",
            Format::Systor,
            vec![
                "4|4|| read 8+16 sync at 0 - 100",
                "6|6|| write 1+1 at 5 - 500005",
                "4|4|| write 0+8 at 10 - -",
            ],
        ),
        (
            "tencent",
            "1538323200,12910952,128,0,1063\n1538323201,6265288,8,1,1071\n",
            Format::Tencent,
            vec![
                "1063|1063|| read 12910952+128 sync at 0 - -",
                "1071|1071|| write 6265288+8 at 1000000 - -",
            ],
        ),
        (
            "alibaba",
            "419,W,8792731648,16384,1577808144360767\n725,R,100,1024,1577808144360768\n",
            Format::Alibaba,
            vec!["419|419|| write 17173304+32 at 0 - -", "725|725|| read 0+3 sync at 1 - -"],
        ),
        (
            "disksim",
            "0.5 0 2048 8 1\n\n1.25 1 16 2 0x0\n",
            Format::Disksim,
            vec!["0||| read 2048+8 sync at 500 - -", "1||| write 16+2 at 1250 - -"],
        ),
        (
            "columns of its own",
            "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors\n\
             1000,,3000,d,\"a \"\"b\"\", c\",t,write,sync durable,8,8\n",
            Format::Csv,
            vec!["d|a \"b\", c|t| write 8+8 sync at 1 - 3"],
        ),
    ]);
}

#[test]
fn logs_of_fio_are_read() {
    demand_read(&[
        (
            "iolog of version 3",
            "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n163 /dev/sda read 4096 4096\n\
             567 /dev/sda write 0 512\n600 /dev/sda trim 0 4096\n601 /dev/sda datasync 0 0\n\
             700 /dev/sda close\n",
            Format::Iolog,
            vec![
                "/dev/sda||| read 8+8 sync at 163 - -",
                "/dev/sda||| write 0+1 at 567 - -",
                "/dev/sda||| discard 0+8 at 600 - -",
                "/dev/sda||| flush 0+0 sync at 601 - -",
            ],
        ),
        (
            "iolog of version 2",
            "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf wait 250 0\nf write 4096 4096\n",
            Format::Iolog,
            vec!["f||| read 0+8 sync at 0 - -", "f||| write 8+8 at 250 - -"],
        ),
    ]);
}

#[test]
fn events_of_the_block_layer_are_read() {
    demand_read(&[
        (
            "blkparse, with a merge, a flush and its summary",
            "  8,0    1        3     0.000252703 17852  Q   W 24803160 + 8 [kworker/u256:1]\n\
             \x20 8,0    1        4     0.000253000 17852  Q   W 24803168 + 8 [kworker/u256:1]\n\
             \x20 8,0    1        5     0.000253500 17852  M   W 24803168 + 8 [kworker/u256:1]\n\
             \x20 8,0    1        6     0.000300000 17852  D   W 24803160 + 16 [kworker/u256:1]\n\
             \x20 8,0    0        1     0.000400000 17853  Q FWS [jbd2/sda1-8]\n\
             \x20 8,0    0        2     0.000410000 17853  D FWS [jbd2/sda1-8]\n\
             \x20 8,0    0        3     0.000900000     0  C   W 24803160 + 16 [0]\n\
             \x20 8,0    0        4     0.001000000     0  C FWS [0]\n\
             \x20 8,0    0        5     0.001100000     0  m   N cfq123 dispatch\n\
             CPU0 (sda):\n Reads Queued:  0,  0KiB\n",
            Format::Blkparse,
            vec![
                "8,0||kworker/u256:1-17852| write 24803160+8 at 252.703 300 900",
                "8,0||kworker/u256:1-17852| write 24803168+8 at 253 300 900",
                "8,0||jbd2/sda1-8-17853| flush 0+0 sync at 400 410 1000",
            ],
        ),
        (
            "blkparse under a head, with a flush of which the end is told twice",
            "#Maj,Mn CPU   SeqNo     Seconds     PID  Evt Typ Sector   +Len Description\n\
             259,0    6        2     0.000100000 1390665  Q FWS [kworker/u24:6]\n\
             259,0    6        4     0.000110000   507  D  FN [kworker/6:1H]\n\
             259,0    6        5     0.000900000     0  C  FN 0 [0]\n\
             259,0    7        1     0.000904000 1390666  Q FWS [jbd2/dm-4-8]\n\
             259,0    6        6     0.000910000     0  C  WS 2048 [0]\n\
             259,0    7        2     0.000920000   507  D  FN [kworker/6:1H]\n\
             259,0    7        3     0.001700000     0  C  FN 0 [0]\n",
            Format::Blkparse,
            vec![
                "259,0||kworker/u24:6-1390665| flush 0+0 sync at 100 110 900",
                "259,0||jbd2/dm-4-8-1390666| flush 0+0 sync at 904 920 1700",
            ],
        ),
        (
            "the kernel's trace",
            "# tracer: nop\n#\n\
             \x20            fio-4711    [001] d..1.  1000.000100: block_bio_queue: 7,3 R 64 + 8 [fio]\n\
             \x20            fio-4711    [001] d..1.  1000.000110: block_getrq: 7,3 R 64 + 8 [fio]\n\
             \x20            fio-4711    [001] d..1.  1000.000200: block_rq_issue: 7,3 R 4096 () 64 + 8 none,0,0 [fio]\n\
             CPU:1 [LOST 12 EVENTS]\n\
             \x20         <idle>-0       [000] d.h1.  1000.000500: block_rq_complete: 7,3 R () 64 + 8 none,0,0 [0]\n",
            Format::Tracepoints,
            vec!["7,3||fio-4711| read 64+8 sync at 0 100 400"],
        ),
        (
            "perf script",
            "fio 30946 [003] 28544.123456789: block:block_rq_issue: 259,0 WS 4096 () 1024 + 8 [fio]\n\
             swapper     0 [003] 28544.123556789: block:block_rq_complete: 259,0 WS () 1024 + 8 [0]\n",
            Format::Tracepoints,
            vec!["259,0||fio-30946| write 1024+8 sync at 0 0 100"],
        ),
    ]);
}

#[test]
fn a_broken_line_is_named_and_can_be_passed_over() {
    let dir = scratch();
    let msr = "128166372003061629,usr,0,Read,7014609920,24576,41286\n";
    for (name, bad, why) in [
        ("op", "128166372003061629,usr,0,Raed,7014609920,24576,1", "with Read or Write, found"),
        ("cut", "128166372003061629,usr,0,Read,70146", "expected Timestamp,Hostname"),
        ("escape", "\u{1b}]0;x\u{7}", "found `\\u{1b}]0;x\\u{7}`"),
        ("long", &"x".repeat(100 << 10), "the line is longer than 64 KiB"),
        ("huge", "128166372003061629,usr,0,Read,18446744073709551615,24576,1", "expected"),
    ] {
        let path = file(dir.path(), name, format!("{msr}{bad}\n{msr}"));
        let error = read(&path, Options::default()).map_err(|error| error.to_string());
        let error = error.expect_err(name);
        assert!(error.contains(&format!("{name}:2: ")) && error.contains(why), "{name}: {error}");
        let skipping = Options { skip_bad: 1, ..Options::default() };
        let (_, all, skipped) = read(&path, skipping).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((all.len(), skipped), (2, 1), "{name}");
    }
    let path = file(dir.path(), "alien", "GIF89a what is this\n");
    let error = read(&path, Options::default()).map_err(|error| error.to_string());
    assert!(error.is_err_and(|it| it.contains("name it with --format, one of fdt, blktrace")));
}

/// Random reads and writes of 4 KiB by a few tasks at the pace of a fast disk, as a recording has
/// them: by their ends.
fn random_load(requests: usize) -> (Vec<Request>, Origins) {
    let (mut origins, mut prng) = (Origins::default(), Prng::new(7));
    let numbers: Vec<_> = (0..4)
        .map(|task| {
            let level = IoPrio { class: IoClass::BestEffort, level: task as u8 };
            origins.number(
                "8,16",
                ["/db", "/backup"][task % 2],
                &format!("fio-{}", 100 + task),
                level,
            )
        })
        .collect();
    let (mut all, mut at) = (Vec::new(), 0);
    for _ in 0..requests {
        at += 20_000 + prng.below(20_000);
        let op = if prng.chance(3, 4) { Op::Read } else { Op::Write };
        let issued = at + prng.below(100_000);
        let done = issued + 60_000 + prng.below(400_000);
        all.push(Request {
            origin: numbers[prng.below(4) as usize],
            op,
            traits: Traits::SYNC,
            start: Lba(8 * prng.below(1 << 24)),
            sectors: Sectors(8),
            queued: Instant::from_ns(at),
            issued: Some(Instant::from_ns(issued)),
            done: Some(Instant::from_ns(done)),
        });
    }
    (all, origins)
}

fn write(path: &Path, format: Format, load: &(Vec<Request>, Origins)) {
    let out = File::create(path).unwrap_or_else(|error| panic!("{error}"));
    let out = std::io::BufWriter::new(out);
    let about = About { device: "/dev/sdb".into(), ..About::default() };
    let mut writer = Writer::new(out, format, &about).unwrap_or_else(|error| panic!("{error}"));
    for request in &load.0 {
        writer.add(request, &load.1).unwrap_or_else(|error| panic!("{error}"));
    }
    writer.finish().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_is_written_is_read_again() {
    let (dir, load) = (scratch(), random_load(2000));
    let expected = |of: &dyn Fn(&Request) -> Request, origin: &dyn Fn(&Origin) -> Origin| {
        let mut origins = Origins::default();
        let words_of = |request: &Request| {
            let number = origins.put(origin(load.1.get(request.origin)));
            words(&Request { origin: number, ..of(request) }, &origins)
        };
        load.0.iter().map(words_of).collect::<Vec<_>>()
    };
    let same = |request: &Request| *request;
    // fio's log has microseconds and neither tasks nor times of the device.
    let of_fio = |request: &Request| Request {
        queued: Instant::from_ns(request.queued.as_ns() / 1000 * 1000),
        issued: None,
        done: None,
        traits: Traits::NONE.with(Traits::SYNC, request.op == Op::Read),
        ..*request
    };
    let no_group = |origin: &Origin| Origin { group: String::new(), ..origin.clone() };
    let only_device = |origin: &Origin| Origin { task: String::new(), ..no_group(origin) };
    // Times of blktrace begin with its first event.
    let first = load.0[0].queued;
    let from_first = |request: &Request| {
        let moved = |at: Instant| Instant::from_ns(at.as_ns() - first.as_ns());
        Request {
            queued: moved(request.queued),
            issued: request.issued.map(moved),
            done: request.done.map(moved),
            ..*request
        }
    };
    for (format, requests) in [
        (Format::Fdt, expected(&same, &Origin::clone)),
        (Format::Csv, expected(&same, &Origin::clone)),
        (Format::Iolog, expected(&of_fio, &only_device)),
        (Format::Blkparse, expected(&same, &no_group)),
        (Format::Blktrace, expected(&from_first, &no_group)),
    ] {
        let path = dir.path().join(format!("load.{format}"));
        write(&path, format, &load);
        let (found, all, _) =
            read(&path, Options::default()).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(found, format);
        assert_eq!(all.len(), requests.len(), "{format}");
        for (read, written) in all.iter().zip(&requests) {
            assert_eq!(read, written, "{format}");
        }
    }
}

#[test]
fn a_recording_takes_sixteen_bytes_a_request() {
    let (dir, load) = (scratch(), random_load(100_000));
    let path = dir.path().join("load.fdt");
    write(&path, Format::Fdt, &load);
    let bytes = fs::metadata(&path).unwrap_or_else(|error| panic!("{error}")).len();
    let each = bytes as f64 / load.0.len() as f64;
    assert!(each <= 16.0, "{each} bytes a request");
}

#[test]
fn a_torn_recording_is_read_up_to_its_last_whole_block_and_can_go_on() {
    let (dir, load) = (scratch(), random_load(10_000));
    let path = dir.path().join("load.fdt");
    write(&path, Format::Fdt, &load);
    let whole = fs::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let count = |bytes: &[u8]| {
        let path = file(dir.path(), "torn.fdt", bytes);
        read(&path, Options::default()).unwrap_or_else(|error| panic!("{error}")).1.len()
    };
    assert_eq!(count(&whole), 10_000);
    assert_eq!(count(&whole[..whole.len() - 1]), 8192, "its last block is torn");
    assert_eq!(count(&whole[..whole.len() / 2]), 4096);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    let path = file(dir.path(), "damaged.fdt", &damaged);
    let error = read(&path, Options::default()).map_err(|error| error.to_string());
    assert!(error.is_err_and(|it| it.contains("it is damaged")), "a checksum does not hold");
    let sound = OpenOptions::new().read(true).write(true).open(&path);
    let sound = sound.unwrap_or_else(|error| panic!("{error}"));
    assert!(append_to(sound, &About::default()).is_err(), "nothing sound is cut off");
    // More is written behind the last whole block.
    let path = file(dir.path(), "torn.fdt", &whole[..whole.len() - 1]);
    let out = OpenOptions::new().read(true).write(true).open(&path);
    let mut more = append_to(out.unwrap_or_else(|error| panic!("{error}")), &About::default())
        .unwrap_or_else(|error| panic!("{error}"));
    for request in &load.0[..10] {
        more.add(request, &load.1).unwrap_or_else(|error| panic!("{error}"));
    }
    let settings = [("/db".to_owned(), Settings::new(800, Qos::NONE))].into();
    more.settings(&settings).unwrap_or_else(|error| panic!("{error}"));
    more.lost(3).and_then(|()| more.finish()).unwrap_or_else(|error| panic!("{error}"));
    let mut reader = open(&path, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut count = 0;
    while reader.next().unwrap_or_else(|error| panic!("{error}")).is_some() {
        count += 1;
    }
    assert_eq!((count, reader.lost(), reader.origins().all().len()), (8202, 3, 4));
    assert_eq!(reader.about().settings, settings);
}

#[test]
fn a_recording_that_runs_is_read_up_to_what_was_flushed() {
    let load = random_load(10);
    let mut recorder =
        Recorder::new(Vec::new(), &About::default()).unwrap_or_else(|error| panic!("{error}"));
    for request in &load.0 {
        recorder.add(request, &load.1).unwrap_or_else(|error| panic!("{error}"));
    }
    recorder.flush().unwrap_or_else(|error| panic!("{error}"));
    let dir = scratch();
    let bytes = recorder.finish().unwrap_or_else(|error| panic!("{error}"));
    let path = file(dir.path(), "now.fdt", bytes);
    let (_, all, _) = read(&path, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all.len(), 10);
}

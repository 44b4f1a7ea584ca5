//! The requests of a job that maps its files (`ioengine=mmap`) or reads them through the page
//! cache.

use fairdisk_core::{Bio, Entry, Instant, Op, Record, Span};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_sim::World;

/// A request, in pages of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    op: Op,
    start: u64,
    pages: u64,
}

const fn read(start: u64, pages: u64) -> Asked {
    Asked { op: Op::Read, start, pages }
}

fn plan(text: &str, sets: &[&str]) -> Plan {
    let text = format!("[global]\nioengine=mmap\ndevice=fixed-8ms\nscheduler=noop\n{text}");
    let resolved = JobFile::parse("test.fio", &text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { keep_journal: true, overrides, ..Options::default() };
    Plan::job_file("test.fio", &resolved, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The journal of a run of the jobs.
fn journal(text: &str, sets: &[&str]) -> Vec<Entry> {
    let plan = plan(text, sets);
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until_done(Instant::ZERO + Span::from_s(3600));
    assert!(world.machine().is_done());
    let accounts = world.machine().engine(0).accounts();
    assert_eq!((accounts.submitted, accounts.in_flight()), (accounts.completed, 0));
    world.machine_mut().drain_journal(0).collect()
}

fn requests(text: &str, sets: &[&str]) -> Vec<Asked> {
    let asked = |entry: Entry| match entry.record {
        Record::Submitted(Bio { op, start, sectors, .. }) => {
            Some(Asked { op, start: start.0 / 8, pages: u64::from(sectors.0) / 8 })
        }
        _ => None,
    };
    journal(text, sets).into_iter().filter_map(asked).collect()
}

fn pages_read(requests: &[Asked]) -> u64 {
    requests.iter().filter(|asked| asked.op == Op::Read).map(|asked| asked.pages).sum()
}

/// A block of 64 KiB somewhere inside a file of 1 GiB.
const BLOCK: &str = "[a]\nrw=randread\nbs=64k\nsize=1g\nnumber_ios=1\n";

#[test]
fn a_random_job_reads_page_after_page() {
    let requests = requests(BLOCK, &[]);
    let first = requests[0].start;
    assert!(first > 0 && first.is_multiple_of(16), "{first}");
    assert_eq!(requests, (first..first + 16).map(|page| read(page, 1)).collect::<Vec<_>>());
}

#[test]
fn each_fault_waits_for_the_page_before() {
    let mut under_way = 0;
    for entry in journal(BLOCK, &[]) {
        match entry.record {
            Record::Submitted(_) => under_way += 1,
            Record::Finished(..) => under_way -= 1,
            _ => {}
        }
        assert!(under_way <= 1);
    }
}

#[test]
fn without_advice_the_block_is_read_around() {
    let first = requests(BLOCK, &[])[0].start;
    let around = requests(&format!("{BLOCK}fadvise_hint=0\n"), &[]);
    assert_eq!(around, [read(first - 16, 32)]);
    let no_read_ahead = requests(&format!("{BLOCK}fadvise_hint=random\n"), &[]);
    assert_eq!(no_read_ahead.len(), 16);
    let half = requests(&format!("{BLOCK}fadvise_hint=0\n"), &["host.read_ahead_kib=64"]);
    // The second request follows the first, and reads ahead as far again.
    assert_eq!(half, [read(first - 8, 16), read(first + 8, 32)]);
}

#[test]
fn a_sequential_job_reads_ahead_and_every_page_once() {
    for (hint, first) in [("1", 128), ("0", 64), ("random", 1)] {
        let job = format!("[a]\nrw=read\nbs=64k\nsize=8m\nfadvise_hint={hint}\n");
        let requests = requests(&job, &[]);
        assert_eq!(requests[0], read(0, first), "fadvise_hint={hint}");
        assert_eq!(pages_read(&requests), 2048, "fadvise_hint={hint}");
    }
}

/// A job that starts inside a file reads around its page first, but then has the next window on its
/// way while this one is used, like a job that starts at the beginning.
#[test]
fn a_sequential_job_that_begins_inside_a_file_keeps_the_disk_busy() {
    let under_way = |offset: &str| {
        let job = format!("[a]\nrw=read\nbs=64k\nsize=8m\nfadvise_hint=0\noffset={offset}\n");
        let (mut asked, mut most) = (0, 0);
        for entry in journal(&job, &[]) {
            match entry.record {
                Record::Submitted(_) => asked += 1,
                Record::Finished(..) => asked -= 1,
                _ => {}
            }
            most = most.max(asked);
        }
        most
    };
    assert_eq!((under_way("0"), under_way("4k")), (2, 2));
}

#[test]
fn reads_through_the_page_cache_go_by_what_is_said_of_the_file() {
    for (hint, first) in [("1", 128), ("0", 64), ("random", 64), ("sequential", 128)] {
        let job = format!("[a]\nioengine=psync\nrw=read\nbs=256k\nsize=8m\nfadvise_hint={hint}\n");
        let requests = requests(&job, &[]);
        assert_eq!(requests[0], read(0, first), "fadvise_hint={hint}");
        assert_eq!(pages_read(&requests), 2048, "fadvise_hint={hint}");
    }
    let random = |hint| {
        let job = "[a]\nioengine=psync\nrw=randread\nbs=4k\nsize=256k\nfadvise_hint";
        requests(&format!("{job}={hint}\n"), &[])
    };
    let told = random("1");
    assert!(told.len() == 64 && told.iter().all(|asked| asked.pages == 1), "{told:?}");
    let silent = random("0");
    assert!(silent.iter().any(|asked| asked.pages > 1), "some follow others, and read ahead");
    assert_eq!(pages_read(&silent), 64, "what was read ahead is there when its turn comes");
}

#[test]
fn a_write_fault_reads_its_page_first() {
    let requests = requests("[a]\nrw=randwrite\nbs=16k\nsize=1g\nnumber_ios=1\n", &[]);
    let start = requests[0].start;
    let mut expected: Vec<Asked> = (start..start + 4).map(|page| read(page, 1)).collect();
    expected.push(Asked { op: Op::Write, start, pages: 4 });
    assert_eq!(requests, expected);
}

#[test]
fn a_page_in_memory_is_written_without_reading() {
    let jobs = "[a]\nrw=write\nbs=4k\nsize=64k\nfilename=/x\n\
                [b]\nstonewall\nrw=write\nbs=64k\nsize=64k\nfilename=/x\n";
    // fio drops a file from memory before opening it, so the second job reads it again.
    assert_eq!(pages_read(&requests(jobs, &[])), 32);
    // A job whose clones use the file at the same time does not.
    let again = "[a]\nrw=randwrite\nbs=4k\nsize=64k\nnorandommap\nio_size=1m\n";
    let requests = requests(again, &[]);
    assert!(pages_read(&requests) <= 16, "{requests:?}");
    assert!(requests.iter().filter(|asked| asked.op == Op::Write).count() > 200);
}

#[test]
fn direct_has_every_write_synchronised() {
    let job = "[a]\nrw=randwrite\nbs=4k\nsize=1m\nnumber_ios=8\n";
    let waits = |extra: &str| {
        let mut writes_under_way = 0u32;
        let mut together = 0;
        let mut writes = std::collections::BTreeSet::new();
        for entry in journal(&format!("{job}{extra}"), &[]) {
            match entry.record {
                Record::Submitted(Bio { id: bio, op: Op::Write, .. }) => {
                    writes.insert(bio);
                    writes_under_way += 1;
                }
                Record::Submitted(Bio { op: Op::Read, .. }) => together += writes_under_way,
                Record::Finished(bio, _) if writes.remove(&bio) => writes_under_way -= 1,
                _ => {}
            }
        }
        together
    };
    assert!(waits("") > 0, "the next page is read while the last is written");
    assert_eq!(waits("direct=1\n"), 0);
}

#[test]
fn a_file_that_fits_memory_is_read_once_and_a_larger_one_again() {
    let job =
        |mib: u64| format!("[a]\nrw=randread\nbs=4k\nsize={mib}m\nnorandommap\nnumber_ios=20000\n");
    let small = pages_read(&requests(&job(16), &["host.memory.mib=32"]));
    assert!(small <= 4096, "{small}");
    // Half of the file fits: once memory is full, every second access finds its page.
    let large = pages_read(&requests(&job(64), &["host.memory.mib=32"]));
    assert!((10_000..12_000).contains(&large), "{large}");
}

#[test]
fn jobs_of_one_file_share_its_pages() {
    let jobs = "[a]\nrw=read\nbs=64k\nsize=4m\nfilename=/x\nnumjobs=4\n";
    let requests = requests(jobs, &[]);
    assert_eq!(pages_read(&requests), 1024, "each page is read by whoever comes first");
}

#[test]
fn every_pass_reads_the_file_again() {
    let requests = requests("[a]\nrw=randread\nbs=4k\nsize=64k\nloops=3\n", &[]);
    assert_eq!(pages_read(&requests), 48);
}

/// A job of plain system calls on a file of 4 MiB, which is 1,024 pages.
fn calls(keys: &str) -> String {
    format!("[a]\nioengine=psync\nrw=read\nbs=64k\nsize=4m\nfilename=/x\n{keys}\n")
}

#[test]
fn what_one_has_read_the_others_need_not_read_again() {
    let pages = |keys: &str| pages_read(&requests(&calls(keys), &[]));
    assert_eq!(pages("numjobs=4"), 1024);
    assert_eq!(pages("loops=3"), 3 * 1024, "fio drops a file it begins with from memory");
    assert_eq!(pages("loops=3\ninvalidate=0"), 1024);
    let anywhere = "rw=randread\nbs=4k\nnorandommap\nio_size=80m";
    assert!((1000..=1024).contains(&pages(anywhere)));
    let small = "bs=1k\nloops=2\ninvalidate=0";
    assert_eq!(pages(small), 1024, "four reads to a page");
}

#[test]
fn what_does_not_fit_memory_is_read_again() {
    let job = calls("size=64m\nfilesize=64m\nloops=2\ninvalidate=0");
    let pages = |mib: u64| pages_read(&requests(&job, &[&format!("host.memory.mib={mib}")]));
    assert_eq!(pages(128), 16 * 1024);
    // The pages read first are evicted first: when the job comes to one again, it has just been
    // evicted.
    assert_eq!(pages(32), 2 * 16 * 1024);
}

#[test]
fn what_was_written_is_in_memory_unless_it_was_written_past_it() {
    let pages = |keys: &str| {
        let again = "[b]\nstonewall\nioengine=psync\nrw=read\nbs=64k\nsize=4m\nfilename=/x\n";
        let jobs = format!("{}{again}invalidate=0\n", calls(keys));
        pages_read(&requests(&jobs, &[]))
    };
    assert_eq!(pages("rw=write"), 0);
    assert_eq!(pages("rw=write\nsync=1"), 0);
    assert_eq!(pages("rw=write\nbs=1k"), 1024, "no page was written as a whole");
    assert_eq!(pages("rw=write\ndirect=1"), 1024);
    assert_eq!(pages(""), 1024, "and in memory from then on");
    // The first job has read everything; a quarter of it is overwritten past the cache before the
    // last job reads.
    let overtaken = "[c]\nstonewall\nioengine=psync\nrw=write\nbs=64k\nsize=1m\ndirect=1\n\
                     filesize=4m\nfilename=/x\ninvalidate=0\n";
    assert_eq!(pages(&format!("\n{overtaken}")), 1024 + 256);
}

#[test]
fn a_run_repeats_itself() {
    let jobs = "[a]\nrw=randrw\nbs=64k\nsize=256m\nnumjobs=8\nnumber_ios=50\n";
    assert_eq!(journal(jobs, &["host.memory.mib=16"]), journal(jobs, &["host.memory.mib=16"]));
}

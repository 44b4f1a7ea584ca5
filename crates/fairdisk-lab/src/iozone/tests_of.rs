//! The tests of iozone, in the order in which it does them.

use super::options::Options;
use crate::plan::Children;

/// A test.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// The name of its jobs.
    pub(super) job: &'static str,
    /// The lines in the table of its processes.
    pub(super) children: Children,
    way: Way,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A writer of a new file, which is whole in the end.
    Create,
    Write,
    Read,
    Backward,
    Stride,
    RandomRead,
    RandomWrite,
    /// The processes in turn read and write at random.
    Mixed,
}

/// Whether a process reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Read,
    Write,
}

/// The number behind `-i`, whether it is left out without retests, the names of the jobs and of the
/// processes in iozone's report.
const TESTS: [(u32, bool, &str, &str, Way); 9] = [
    (0, false, "initial-writer", "initial writers", Way::Create),
    (0, true, "rewriter", "rewriters", Way::Write),
    (1, false, "reader", "readers", Way::Read),
    (1, true, "re-reader", "re-readers", Way::Read),
    (3, false, "reverse-reader", "reverse readers", Way::Backward),
    (5, false, "stride-reader", "stride readers", Way::Stride),
    (2, false, "random-reader", "random readers", Way::RandomRead),
    (8, false, "mixed", "mixed workload", Way::Mixed),
    (2, false, "random-writer", "random writers", Way::RandomWrite),
];

/// The numbers of the tests that can be run.
pub(super) fn is_known(number: u32) -> bool {
    TESTS.iter().any(|test| test.0 == number)
}

impl Test {
    /// The tests of a command with so many processes.
    pub(super) fn of(options: &Options, processes: u32) -> Vec<Self> {
        let wanted = TESTS.iter().filter(|(number, is_retest, ..)| {
            options.tests.contains(number) && !(*is_retest && options.no_retests)
        });
        let test = |(at, &(_, _, job, name, way)): (usize, &(u32, bool, _, _, Way))| {
            let lines = at * processes as usize..(at + 1) * processes as usize;
            let each = options.lists_children;
            Self { job, children: Children { name, lines, each }, way }
        };
        wanted.enumerate().map(test).collect()
    }

    /// What else a job file says of its processes.
    pub(super) fn keys(&self, options: &Options) -> String {
        let keys = match self.way {
            // Other tests read the file, so one that was stopped does the rest, uncounted.
            Way::Create => "completes\n",
            Way::Write => "overwrite=1\n",
            Way::Stride => return stride(options),
            // Every process has the same order, in every test.
            Way::RandomRead => "randseed=1\n",
            Way::RandomWrite | Way::Mixed => "randseed=1\noverwrite=1\n",
            Way::Read | Way::Backward => "",
        };
        keys.to_owned()
    }

    /// The pattern of a process as job files write it.
    pub(super) fn pattern(&self, options: &Options, process: u32) -> (String, Side) {
        let record = options.record_bytes;
        let reads = process.is_multiple_of(2);
        match self.way {
            Way::Create | Way::Write => ("write".to_owned(), Side::Write),
            Way::Read => ("read".to_owned(), Side::Read),
            Way::Backward => (format!("read:-{}", 2 * record), Side::Read),
            Way::Stride => (format!("read:{}", (options.stride - 1) * record), Side::Read),
            Way::RandomRead => ("randread".to_owned(), Side::Read),
            Way::Mixed if reads => ("randread".to_owned(), Side::Read),
            Way::RandomWrite | Way::Mixed => ("randwrite".to_owned(), Side::Write),
        }
    }
}

/// The keys of a reader in strides. iozone reads as many records as the file has, but neither of
/// the last two: it begins a second round instead.
fn stride(options: &Options) -> String {
    let Options { bytes, record_bytes, .. } = options;
    let end = bytes.saturating_sub(2 * record_bytes);
    let size = if end > 0 { format!("size={end}\nio_size={bytes}\n") } else { String::new() };
    format!("interleave\n{size}")
}

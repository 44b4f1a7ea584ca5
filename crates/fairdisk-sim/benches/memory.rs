//! The cost of a page that is read through full memory: taken, added, used once, reclaimed. Run
//! with `cargo bench -p fairdisk-sim --bench memory`.

#[path = "../tests/memory/support.rs"]
mod support;

use fairdisk_sim::host::memory::{CHUNK_PAGES, Mark, MemorySpec, PRIORITY_MAX, Reclaimer};
use support::{Reader, kernel, page};

const WINDOW: u32 = 128;
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` only checks that it runs.
    let pages = if std::env::args().any(|word| word == "--bench") { 2_000_000 } else { 20_000 };
    for mib in [64, 256, 4096] {
        for release in ["2.6.24", "2.6.30", "2.6.32", "2.6.37"] {
            let mut reader = Reader::with(MemorySpec::new(kernel(release), mib, 4));
            reader.fill(Mark::Min);
            let mut rates: Vec<u64> = (0..ROUNDS).map(|_| rate(&mut reader, pages)).collect();
            rates.sort_unstable();
            let million = rates[ROUNDS / 2] as f64 / 1e6;
            let name = format!("read, reclaimed: {mib} MiB, {release}");
            println!("{name:<52} {million:>14.2}  million pages per CPU-second");
        }
    }
}

/// Pages per second of CPU time.
fn rate(reader: &mut Reader, pages: u64) -> u64 {
    let begin = cpu_ns();
    let (mut from, end) = (reader.next, reader.next + pages);
    while reader.next < end {
        if reader.read(WINDOW, Mark::Low) < WINDOW {
            reclaim(reader);
        }
        for at in from..reader.next {
            // Whether a use is the first is not asked here.
            let _ = reader.memory.used(page(at));
        }
        from = reader.next;
    }
    pages * 1_000_000_000 / (cpu_ns() - begin).max(1)
}

/// Passes with falling priority until there are enough.
fn reclaim(reader: &mut Reader) {
    let mut freed = 0;
    for priority in (0..=PRIORITY_MAX).rev() {
        freed += reader.pass(Reclaimer::Direct, priority).freed();
        if freed >= CHUNK_PAGES {
            return;
        }
    }
}

/// CPU time of this thread, or elapsed time on systems that do not report it.
fn cpu_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let field = schedstat.split_whitespace().next().and_then(|field| field.parse().ok());
    field.unwrap_or_else(wall_ns)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn wall_ns() -> u64 {
    use std::sync::LazyLock;
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed().as_nanos() as u64
}

//! Instructions as counted by valgrind, which runs this program again for each figure and counts
//! while [`counted`] runs.

use super::{CROWDS, Loop, Named, Part, WRITES_PERCENT, crowd, specs};
use std::process::Command;

/// The first argument of the program when it runs under valgrind.
pub(super) const COUNT: &str = "count";
/// The number of requests that are counted; covers several periods of every scheduler that has
/// periods.
const REQUESTS: u64 = 20_000;
/// Prints a table of instructions per request.
pub(super) fn count(specs: &[Named]) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed, no instructions are counted");
        return;
    }
    print!("{:<16}{:>8}  {:<12}", "instructions", "writes", "measured");
    CROWDS.iter().for_each(|(groups, tasks)| print!("{:>12}", format!("{groups} x {tasks}")));
    println!("{:>8}", "ratio");
    for (name, _) in specs {
        for (writes, part) in WRITES_PERCENT.into_iter().flat_map(|w| Part::ALL.map(|p| (w, p))) {
            print!("{name:<16}{writes:>6} %  {:<12}", part.words());
            let counts = CROWDS.map(|of| instructions(name, part, of, writes));
            counts.iter().for_each(|count| print!("{:>12}", shown(*count)));
            let ratio =
                counts[CROWDS.len() - 1].zip(counts[0]).map(|(all, few)| all as f64 / few as f64);
            println!("{:>8}", ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}")));
        }
    }
}

fn shown(count: Option<u64>) -> String {
    count.map_or("?".to_owned(), |count| count.to_string())
}

/// Instructions per request; `None` if valgrind does not report them.
fn instructions(
    name: &str,
    part: Part,
    (groups, tasks): (u32, u32),
    writes_percent: u64,
) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg("--toggle-collect=*instructions::counted*").arg(std::env::current_exe().ok()?);
    valgrind.args([COUNT, name, part.words()]);
    valgrind.args([groups.into(), tasks.into(), writes_percent].map(|number| number.to_string()));
    let said = String::from_utf8(valgrind.output().ok()?.stderr).ok()?;
    let (_, collected) = said.split_once("Collected : ")?;
    let all: u64 = collected.split_whitespace().next()?.parse().ok()?;
    Some(all / REQUESTS)
}

/// Serves the requests that are counted, with the scheduler, part and crowd given in `words`.
pub(super) fn serve(words: &[String]) {
    let [name, part, groups, tasks, writes_percent] = words else { panic!("{words:?}") };
    let (_, spec) = specs().into_iter().find(|(one, _)| one == name).expect("a scheduler");
    let part = Part::ALL.into_iter().find(|one| one.words() == part).expect("a part");
    let number = |word: &String| word.parse().expect("a number");
    let writes_percent = writes_percent.parse().expect("a percentage");
    let of = (number(groups), number(tasks));
    let mut served = Loop::new(spec, part, crowd(of, writes_percent));
    counted(&mut served);
}

#[inline(never)]
fn counted(served: &mut Loop) {
    served.serve(REQUESTS);
}

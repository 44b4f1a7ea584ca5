//! Job files run by the installed fio and in the lab give equal counts: every clone does as many
//! reads, writes, trims and flushes of as many bytes, and in the same order unless it is random.

use crate::average;
use crate::done::{self, Done};
use crate::fio;

/// The parts of `counts.txt` under headings that begin with `kind`.
fn parts<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let part = |part: &'a str| {
        let (heading, lines) = part.split_once('\n')?;
        heading.starts_with(kind).then_some(lines)
    };
    text.split("\n## ").filter_map(part).collect()
}

/// The jobs of these parts, one per line.
fn jobs(kind: &str) -> Vec<String> {
    let text = counts();
    let lines = parts(&text, kind).into_iter().flat_map(str::lines);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn counts() -> String {
    std::fs::read_to_string(fio::corpus().join("counts.txt")).expect("readable")
}

fn agree(name: &str, text: &str, same: impl Fn(&Done, &Done) -> bool) {
    let scratch = fio::Scratch::in_memory(name);
    let (fio, us) = (done::by_fio(&scratch, text), done::by_us(text));
    assert_eq!(fio.len(), us.len(), "clones");
    let pairs = fio.iter().zip(&us).filter(|(fio, us)| !same(fio, us));
    let off: Vec<String> = pairs.map(|(fio, us)| format!("fio {fio:?}\nlab {us:?}")).collect();
    assert!(off.is_empty(), "{} of {}:\n{}", off.len(), fio.len(), off.join("\n"));
}

/// All parts form one job file, because fio takes longer to start than to run them.
#[test]
fn numbers_are_those_of_fio() {
    if fio::is_installed() {
        let text = counts();
        let parts = parts(&text, "exactly");
        assert!(parts.len() > 15, "they are there");
        let text = format!("{}{}", done::GLOBAL, parts.concat());
        agree("numbers", &text, Done::same_numbers);
    }
}

#[test]
fn orders_are_those_of_fio() {
    if fio::is_installed() {
        let jobs = jobs("in order");
        assert!(jobs.len() > 20, "they are there");
        agree("orders", &done::sections(jobs.iter()), Done::eq);
    }
}

#[test]
fn averages_are_those_of_fio() {
    if fio::is_installed() {
        let jobs = jobs("on average");
        assert!(jobs.len() > 15, "they are there");
        let off = average::differences("averages", &jobs);
        assert!(off.is_empty(), "{} of {}:\n{}", off.len(), jobs.len(), off.join("\n"));
    }
}

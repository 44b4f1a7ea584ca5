//! The page on CFQ lists every switch as the table in the code does. `UPDATE=1` rewrites it.

use fairdisk_sched::cfq::{SWITCHES, Switch};
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- switches -->\n";
const END: &str = "<!-- /switches -->\n";

fn line(switch: &Switch) -> String {
    let Switch { name, id, commit, author, release, summary, .. } = switch;
    let needs: Vec<String> = switch.needs.iter().map(|need| format!("`{need}`")).collect();
    let needs = needs.join(", ");
    format!("| `{name}` | {id} | {summary} | {commit}, {author}, {release} | {needs} |\n")
}

fn table() -> String {
    let head = "| switch | number | what it does | commit, author, first release | needs |\n\
                |---|---|---|---|---|\n";
    SWITCHES.iter().fold(head.to_owned(), |text, switch| text + &line(switch))
}

#[test]
fn the_page_lists_every_switch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cfq.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (listed, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("UPDATE").is_some() {
        let text = [before, BEGIN, &table(), END, after].concat();
        fs::write(&path, text).expect("a writable page");
    } else {
        assert_eq!(listed, table(), "(UPDATE=1 rewrites the page)");
    }
}

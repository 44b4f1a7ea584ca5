//! The pages on CFQ and BFQ list every switch as the tables in the code do. `UPDATE=1` rewrites
//! them.

use fairdisk_sched::{SchedulerSpec, Switch};
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

fn table(family: &str) -> String {
    let head = "| switch | number | what it does | commit, author, first release | needs |\n\
                |---|---|---|---|---|\n";
    let switches = SchedulerSpec::switches_of(Some(family));
    switches.fold(head.to_owned(), |text, switch| text + &line(switch))
}

#[test]
fn the_pages_list_every_switch() {
    for family in ["cfq", "bfq"] {
        demand_page(family);
    }
}

fn demand_page(family: &str) {
    let page = format!("../../docs/{family}.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (listed, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("UPDATE").is_some() {
        let text = [before, BEGIN, &table(family), END, after].concat();
        fs::write(&path, text).expect("a writable page");
    } else {
        assert_eq!(listed, table(family), "(UPDATE=1 rewrites the page)");
    }
}

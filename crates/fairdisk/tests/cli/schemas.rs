//! JSON Schemas: what commands print is what `fairdisk schema` says.

use crate::program::fairdisk;
use crate::schema::{closed_schema, demand_valid};

/// Commands by the names of their schemas. Rows with published figures, changes, estimates, tasks,
/// disks, memory, events and two regimes are among what they print, and what is partial.
const PRINTED: &str = "
run: run two-groups --arm fair --duration 2s
run: run satoshi-2008-04-03-dd --seeds 1 --duration 2s
run: run satoshi-2008-05-27-test1 --row '#1' --seeds 9 --duration 2s
run: run tiobench-threads --seeds 1 --duration 2s
run: run buffered-writers --seeds 1 --duration 31s
run: run righi-2008-05-30-oops --seeds 1
run: run ehrhardt-2010-04-19-buffers --seeds 1 --duration 91s
run-sweep: run two-groups --arm fair --duration 1s --sweep host.hz=100,1000
compare: compare two-groups --seeds 2 --duration 1s
advise: advise two-groups --want 'database: share=60' --duration 2s
memory: memory tiobench-threads --arm 2.6.34 --row 'random read' --seeds 2 --duration 2s
blame: blame cfq-2.6.30 cfq-2.6.32 two-groups --seeds 2 --duration 1s
blame: blame cfq-2.6.30 cfq-2.6.34 two-groups --seeds 2 --duration 1s --runs 5
explain: explain two-groups/fair 100
explain-slowest: explain two-groups/fair --slowest 3
catalog-published: catalog published ryo-2008-04-25 --seeds 2
";

#[test]
fn commands_print_what_their_schemas_say() {
    for line in PRINTED.trim().lines() {
        let (schema, words) = line.split_once(": ").unwrap();
        let words = shlex::split(words).unwrap().into_iter().chain(["--json".to_owned()]);
        let ended = fairdisk(&words.collect::<Vec<_>>());
        let printed = serde_json::from_str(&ended.out);
        demand_valid(schema, &printed.unwrap_or_else(|error| panic!("{line}: {error}: {ended:?}")));
    }
}

#[test]
fn a_name_that_a_schema_does_not_know_is_found() {
    let schema = closed_schema("run");
    let mut printed =
        fairdisk(&["run", "two-groups", "--arm", "fair", "--duration", "1s", "--json"]).json();
    printed["rows"][0]["groups"][0]["unknown"] = 1.into();
    assert!(!jsonschema::draft202012::is_valid(&schema, &printed));
}

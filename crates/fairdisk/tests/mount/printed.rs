//! What commands about mounts print as JSON is what `fairdisk schema` says.

use crate::host::{Host, fairdisk, finish, lacks_something, text};
use crate::schema::demand_valid;

#[test]
fn commands_about_mounts_print_what_their_schemas_say() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let group = host.group("busy", "weight=300");
    finish(host.start(&group, &format!("dd if=/dev/zero of={} bs=64K count=16", host.file("a"))));
    let marked = host.ctl(&["mark", "noon"]);
    assert!(marked.status.success(), "{}", text(&marked));
    let said = |words: &[&str]| serde_json::from_str(&text(&host.ctl(words))).unwrap();
    for (schema, words) in [
        ("ctl-list", &["list", "--json"][..]),
        ("ctl-get", &["get", &group, "--json"]),
        ("ctl-status", &["status", "--json"]),
        ("ctl-scheduler", &["scheduler", "--json"]),
        ("top", &["list", "--since", "noon", "--json"]),
    ] {
        demand_valid(schema, &said(words));
    }
    // `none` is another name of the kernel's for it.
    let switched = host.ctl(&["scheduler", "none"]);
    assert!(switched.status.success(), "{}", text(&switched));
    assert_eq!(host.status()["scheduler"], "noop");
    let at = host.at().display().to_string();
    let top = fairdisk(&["top", "--at", &at, "--json", "--once"]);
    demand_valid("top", &serde_json::from_str(&text(&top)).unwrap());
    host.unmount();
}

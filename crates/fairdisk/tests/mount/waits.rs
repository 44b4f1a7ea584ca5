//! Why groups wait, as `top` shows it.

use crate::host::{Host, fairdisk, lacks_something, wait_until};
use crate::process::signal;
use rustix::process::Signal;
use serde_json::Value;

/// What `top` shows.
fn top(host: &Host) -> Value {
    let at = host.at();
    let top = fairdisk(&["top", "--at", at.to_str().unwrap(), "--json", "--once"]);
    serde_json::from_slice(&top.stdout).unwrap()
}

/// The commonest thing that a group waited for.
fn waits_for(top: &Value, group: &str) -> Option<String> {
    let groups = top["groups"].as_array().unwrap();
    let shown = groups.iter().find(|entry| entry["name"] == group)?;
    shown["waits"][0]["why"].as_str().map(str::to_owned)
}

#[test]
fn a_group_at_its_ceiling_waits_for_that_and_another_for_its_turn_or_a_completion() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    ["slow", "a", "b"].iter().for_each(|name| host.make_file(name, 16));
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    let limited = host.group("limited", "max_iops=10");
    let others = [host.group("one", "weight=100"), host.group("two", "weight=100")];
    let fio = |file: &str| {
        format!(
            "fio --name=job --filename={} --size=16M --bs=4k --rw=randread --direct=1 \
             --numjobs=3 --runtime=3600 --time_based --minimal",
            host.file(file)
        )
    };
    let slow = host.start(&limited, &fio("slow"));
    wait_until(|| waits_for(&top(&host), &limited).as_deref() == Some("ceiling"));
    let run = [("a", &others[0]), ("b", &others[1])].map(|(file, of)| host.start(of, &fio(file)));
    wait_until(|| {
        let top = top(&host);
        let both = others.each_ref().map(|group| waits_for(&top, group));
        let own = |why: &Option<String>| {
            ["its turn", "completion", "return of another"].map(Some).contains(&why.as_deref())
        };
        both.iter().all(own) && waits_for(&top, &limited).as_deref() == Some("ceiling")
    });
    assert!(top(&host)["depth"].as_u64() >= Some(1));
    for mut job in run.into_iter().chain([slow]) {
        signal(i32::try_from(job.id()).unwrap(), Signal::TERM);
        job.wait().unwrap();
    }
    // Nobody is there any more.
    wait_until(|| waits_for(&top(&host), &limited).is_none());
    host.unmount();
}

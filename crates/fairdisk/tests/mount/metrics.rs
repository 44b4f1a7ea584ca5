//! `--metrics`: the contents of the page, its readers, and protection against misuse.

use crate::host::{Host, fairdisk, finish, is_missing, lacks_something, text};
use fairdisk_mount::metrics::Address;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The response that `curl` gets, which must not be empty.
fn curl(args: &[&str]) -> String {
    let output = Command::new("curl").args(["-sS", "--max-time", "20"]).args(args).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{args:?}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The value of a sample, spelt as on the page.
fn value(page: &str, sample: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok())
}

fn lint(page: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    assert!(output.status.success() && text(&output).is_empty(), "{}\n{page}", text(&output));
}

/// Checks that bucket counts never decrease and end with the total.
fn check_histogram(page: &str, group: &str) {
    let of = |line: &str, part: &str| {
        let start = format!("fairdisk_group_latency_seconds{part}{{group=\"{group}\",op=\"read\"");
        line.strip_prefix(&start).map(|rest| rest.rsplit(' ').next().unwrap().parse().unwrap())
    };
    let counts: Vec<u64> = page.lines().filter_map(|line| of(line, "_bucket")).collect();
    let total: u64 = page.lines().find_map(|line| of(line, "_count")).unwrap();
    assert!(counts.len() == 23 && counts.is_sorted(), "{counts:?}");
    assert!(counts.last() == Some(&total) && total > 0, "{counts:?} {total}");
}

#[test]
fn prometheus_is_told_what_groups_got() {
    if lacks_something() || is_missing("curl") || is_missing("promtool") {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 16);
    let address = format!("127.0.0.1:{}", free_port());
    host.mount_well(&["--device-model", "hdd-7200-2007", "--metrics", &address]);
    let group = host.group("a\"b\\c", "ioprio=2");
    let set = host.ctl(&["set", &group, "max_bps=40000000", "fsync_p99_ms=10"]);
    assert!(set.status.success(), "{}", text(&set));
    let command = format!(
        "fio --name=job --filename='{}' --size=16M --bs=4k --rw=randread --direct=1 \
         --number_ios=50 --minimal",
        host.file("data")
    );
    finish(host.start(&group, &command));
    let page = curl(&[&format!("http://{address}/metrics")]);
    lint(&page);
    let name = group.replace('\\', "\\\\").replace('"', "\\\"");
    check_histogram(&page, &name);
    let disk = host.status()["disk"].as_str().unwrap().to_owned();
    let of = |family: &str, more: &str| {
        let sample = format!("fairdisk_group_{family}{{group=\"{name}\"{more},disk=\"{disk}\"}}");
        value(&page, &sample).unwrap_or_else(|| panic!("no {sample} in\n{page}"))
    };
    assert_eq!(of("requests_total", ",op=\"read\""), 50.0);
    assert_eq!(of("bytes_total", ",op=\"read\""), 50.0 * 4096.0);
    assert_eq!(of("bytes_total", ",op=\"write\""), 0.0);
    assert_eq!((of("weight", ""), of("ioprio", "")), (150.0, 2.0));
    assert_eq!(of("limit", ",limit=\"max_bps\""), 40e6);
    assert_eq!(of("target_seconds", ",op=\"flush\""), 0.01);
    assert_eq!(of("floor_refused", ""), 0.0);
    assert_eq!((of("queued_requests", ""), of("in_flight_requests", "")), (0.0, 0.0));
    let (busy, longest) =
        (of("device_seconds_total", ""), of("longest_wait_seconds", ",op=\"read\""));
    assert!(busy > 0.05 && busy < 10.0 && longest < busy, "{busy} s, {longest} s");
    let latency = of("latency_seconds_sum", ",op=\"read\"");
    assert!(latency >= busy && latency < 60.0, "{latency} s for {busy} s of the disk");
    let at = host.at().display().to_string();
    let limit = format!("fairdisk_dirty_limit_bytes{{mountpoint=\"{at}\",disk=\"{disk}\"}}");
    assert_eq!(value(&page, &limit), Some(f64::from(32 << 20)));
    assert!(value(&page, "process_resident_memory_bytes") > Some(1e6), "{page}");
    for info in [
        format!("fairdisk_scheduler_info{{scheduler=\"fair\",disk=\"{disk}\"}} 1"),
        format!("mountpoint=\"{}\",cgroups=\"", host.at().display()),
        format!("fairdisk_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(page.contains(&info), "no {info} in\n{page}");
    }
    host.unmount();
}

#[test]
fn nobody_at_the_port_does_harm() {
    if lacks_something() || is_missing("curl") {
        return;
    }
    let mut host = Host::new();
    let port = free_port();
    host.mount_well(&["--metrics", &format!("[::1]:{port}")]);
    let url = format!("http://[::1]:{port}");
    let status = |args: &[&str]| curl(&[&["-o", "/dev/null", "-w", "%{http_code}"], args].concat());
    let metrics = format!("{url}/metrics");
    assert_eq!(status(&[&metrics]), "200");
    assert!(curl(&[&url]).contains("<a href=\"/metrics\">"));
    assert_eq!(status(&["--head", &metrics]), "200");
    assert_eq!(status(&[&format!("{url}/elsewhere")]), "404");
    assert_eq!(status(&["-X", "POST", "-d", "x", &metrics]), "405");
    let long = format!("X-Long: {}", "x".repeat(20_000));
    assert_eq!(status(&["-H", &long, &metrics]), "431");
    for garbage in [&b"\0\xff\r\n\r\n"[..], b"\x16\x03\x01\x02\x00", &[b'\n'; 9000][..]] {
        let mut stream = TcpStream::connect(("::1", port)).unwrap();
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "), "{answer:?}");
    }
    // Of silent connections, only as many are kept as there are places, and not for long.
    let silent: Vec<TcpStream> =
        (0..40).map(|_| TcpStream::connect(("::1", port)).unwrap()).collect();
    let hung_up = silent.iter().filter(|stream| {
        stream.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
        matches!((&mut &**stream).read(&mut [0]), Ok(0))
    });
    assert!(hung_up.count() >= 24, "more are kept than there is room for");
    fs::write(host.file("a"), "the mount works").unwrap();
    for stream in &silent {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        assert_eq!((&mut &*stream).read(&mut [0]).unwrap_or(0), 0, "all are hung up on");
    }
    assert_eq!(status(&[&metrics]), "200", "and there is room again");
    host.unmount();
}

#[test]
fn an_address_that_cannot_be_is_said_before_anything_is_mounted() {
    if lacks_something() || is_missing("curl") {
        return;
    }
    let mut host = Host::new();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap().to_string();
    for (address, code, says) in [
        ("localhost:9470", 2, "not an address and port such as 127.0.0.1:9470"),
        (&busy, 1, "cannot listen there: Address already in use"),
        ("unix:/nonexistent/socket", 1, "cannot listen there: No such file"),
    ] {
        let output = host.mount(&["--metrics", address]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains(says), "{}", text(&output));
        assert!(text(&output).starts_with("error: "), "{}", text(&output));
    }
    let socket = host.at().with_file_name("metrics.sock");
    let address = Address::Unix(socket.clone()).to_string();
    host.mount_well(&["--metrics", &address]);
    let page = curl(&["--unix-socket", socket.to_str().unwrap(), "http://localhost/metrics"]);
    assert!(page.contains("fairdisk_uptime_seconds{disk="), "{page}");
    host.unmount();
    while UnixStream::connect(&socket).is_ok() {}
    for (option, value) in [("--metrics", &*address), ("--scheduler", "fair")] {
        let both = ["mount", "/tmp", "/tmp", "--unscheduled", option, value];
        assert_eq!(fairdisk(&both).status.code(), Some(2), "{option}");
    }
}

/// At a running mount, and without a word about it at the start.
#[test]
fn metrics_are_turned_on_and_off_at_a_running_mount() {
    if lacks_something() || is_missing("curl") {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let address = format!("127.0.0.1:{}", free_port());
    let answers = || TcpStream::connect(&address).is_ok();
    assert!(!answers());
    let turn = |to: &str| {
        let done = host.ctl(&["metrics", to]);
        (done.status.code(), text(&done))
    };
    assert_eq!(turn(&address), (Some(0), String::new()));
    let page = curl(&[&format!("http://{address}/metrics")]);
    assert!(page.contains("fairdisk_uptime_seconds"), "{page}");
    let status = text(&host.ctl(&["status"]));
    assert!(status.contains(&format!("metrics at {address}")), "{status}");
    // Somebody else's port changes nothing.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (status, why) = turn(&taken.local_addr().unwrap().to_string());
    assert!(status == Some(1) && why.contains("cannot listen there"), "{status:?} {why}");
    assert!(answers());
    let (status, why) = turn("nowhere");
    assert_eq!(status, Some(2), "{why}");
    assert_eq!(turn("off"), (Some(0), String::new()));
    assert!(!answers());
    host.unmount();
}

fn packaging(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name)
}

/// The expressions of the dashboard, as Prometheus gets them.
fn dashboard_expressions() -> Vec<String> {
    let text = fs::read_to_string(packaging("grafana/fairdisk.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: std::collections::BTreeSet<i64> =
        panels.iter().map(|panel| panel["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let expressions = targets.map(|target| target["expr"].as_str().unwrap());
    let plain = |text: &str| {
        let text = text.replace("$__rate_interval", "5m");
        ["$instance", "$disk", "$group"].iter().fold(text, |text, it| text.replace(it, ".*"))
    };
    expressions.map(plain).collect()
}

/// Prometheus reads them, and all that they are about is on the page.
#[test]
fn the_dashboard_and_the_alerts_are_about_what_is_there() {
    if lacks_something() || is_missing("curl") || is_missing("promtool") {
        return;
    }
    let promtool = |args: &[&str], file: &std::path::Path| {
        let output = Command::new("promtool").args(args).arg(file).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    };
    promtool(&["test", "rules"], &packaging("prometheus/fairdisk.rules.test.yml"));
    let expressions = dashboard_expressions();
    assert!(expressions.len() > 10, "{expressions:?}");
    let rule = |(at, expr): (usize, &String)| {
        let expr = serde_json::to_string(expr).unwrap();
        format!("      - record: dashboard:{at}\n        expr: {expr}\n")
    };
    let rules: String = expressions.iter().enumerate().map(rule).collect();
    let mut host = Host::new();
    let file = host.scratch().join("rules.yml");
    fs::write(&file, format!("groups:\n  - name: dashboard\n    rules:\n{rules}")).unwrap();
    promtool(&["check", "rules"], &file);
    let address = format!("127.0.0.1:{}", free_port());
    host.make_file("data", 1);
    host.mount_well(&["--metrics", &address]);
    let group = host.group("tenant", "fsync_p99_ms=5");
    let set = host.ctl(&["set", &group, "max_iops=100000", "max_bps=4GB/s"]);
    assert!(set.status.success(), "{}", text(&set));
    let read = format!("dd if={} of=/dev/null iflag=direct bs=4k count=1", host.file("data"));
    finish(host.start(&group, &read));
    let page = curl(&[&format!("http://{address}/metrics")]);
    let alerts = fs::read_to_string(packaging("prometheus/fairdisk.rules.yml")).unwrap();
    let named = expressions.iter().chain([&alerts]).flat_map(|text| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        text.split(move |letter| !is_of_name(letter)).filter(|it| it.starts_with("fairdisk_"))
    });
    for name in named {
        let is_there = |line: &str| line.starts_with(&format!("{name}{{"));
        assert!(page.lines().any(is_there), "no {name} in\n{page}");
    }
    host.unmount();
}

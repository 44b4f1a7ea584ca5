//! Any text is parsed or refused without a panic, and a shown job parses as the same job again.

use fairdisk_lab::jobfile::{Context, JobFile, keys};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fio;

/// Parses a text; if it resolves, what is shown must resolve to the same jobs.
fn read(text: &str) {
    let Ok(first) = fio::ours("any.fio", text, &[("V", "4k")]) else { return };
    let shown = first.to_string();
    let again = JobFile::parse("shown.fio", &shown, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}\nfrom\n{shown}\nof\n{text}"));
    assert_eq!(first.jobs, again.jobs, "{shown}");
}

/// A key of the table, with a value of the kinds that fio has, valid or invalid.
fn setting() -> impl Strategy<Value = String> {
    let names: Vec<&str> = keys::all().map(|key| key.name).collect();
    let value = prop_oneof![
        "[0-9]{1,6}(k|m|g|kib|%|s|ms|us|z|)",
        "[0-9]{1,3}(k|)(-|,|/|:)[0-9]{1,3}(k|m|)",
        "(rand|)(read|write|rw|trim|trimwrite)(:[0-9]{1,2}|)",
        "(zipf|pareto):[01]\\.[0-9]{1,3}",
        "(libaio|sync|mmap|null|io_uring)",
        "[0-9]{1,2}k/[0-9]{0,2}:[0-9]{1,2}k/",
        "/?[a-z]{1,4}(:|/|)[a-z]{0,3}",
        "[01]",
        "\\$\\{V\\}|\\$ncpus\\*[0-9]{1,3}|\\(\\$pagesize",
        "\\PC{0,12}",
    ];
    (proptest::sample::select(names), proptest::option::weighted(0.9, value)).prop_map(
        |(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        },
    )
}

/// Only settings that usually resolve, so that the second half of [`read`] is often reached.
fn sound_setting() -> impl Strategy<Value = String> {
    prop_oneof![
        "(bs|blocksize)=[1-9][0-9]?k(,[1-9]k|,,[1-9]k|)",
        "bsrange=[1-9]k-[1-9]{2}k(,[1-9]k-16k|)",
        "bssplit=4k/[1-4][0-9]:8k/:16k/",
        "rw=(read|write|trim|trimwrite|rw)(:-?[1-9]k|)",
        "rw=rand(read|write|trim|trimwrite|rw)(:[1-9]|)",
        "rw_sequencer=(sequential|identical)",
        "(offset|io_size|offset_increment)=[1-9]m",
        "(offset|io_size|offset_increment|size)=[1-9][0-9]?%",
        "(startdelay|ramp_time|runtime|timeout)=[0-9]{1,3}(ms|us|s|)",
        "startdelay=[0-9]{1,3}-[0-9]{1,3}",
        "thinktime=[0-9]{1,4}(us|ms|)",
        "thinktime_blocks=[1-9]",
        "(rate|rate_iops)=[0-9]{1,5}(,[0-9]{0,5}|)",
        "ioengine=(libaio|sync|mmap|null|io_uring|psync)",
        "(iodepth|numjobs|loops|nrfiles)=[1-9][0-9]?",
        "(iodepth_batch_complete_min|iodepth_batch_complete)=[0-9]",
        "rate_process=(linear|poisson)",
        "(ba|blockalign)=(4k|16k)",
        "bs_unaligned=[01]",
        "io_submit_mode=(inline|offload)",
        "(iodepth_batch|iodepth_low|fsync|fdatasync|number_ios|prio)=[0-7]",
        "(direct|buffered|randrepeat|allrandrepeat)=[01]",
        "(stonewall|new_group|group_reporting|thread|norandommap)(=[01]|)",
        "prioclass=[0-3]",
        "nice=-?1[0-9]",
        "sync=(none|0|1|sync|dsync)",
        "random_distribution=(zipf:[02]\\.[1-9]|pareto:0\\.[1-9]|random|normal:[1-9]0)",
        "random_distribution=(zoned:60/10:40/[1-8]0|zoned:50/5:50/|zoned_abs:30/1m:70/2m)",
        "percentage_random=[0-9]{1,2}(,[0-9]{1,2}|)",
        "rwmix(read|write)=[0-9]{1,2}",
        "randseed=[0-9]{1,9}",
        "filename=/dev/[a-z]{1,3}(:/dev/[a-z]{1,3}|)",
        "directory=/[a-z]{1,3}",
        "filesize=[1-9]g(-[1-9][0-9]g|)",
        "(name|description|device|scheduler)=[a-zA-Z][a-z ]{0,8}[a-z]",
        "group=/?[a-z]{1,3}(/[a-z]{1,3}|)",
        "kb_base=(1000|1024)",
    ]
}

fn section(setting: impl Strategy<Value = String>, count: usize) -> impl Strategy<Value = String> {
    let name = prop_oneof![3 => "[a-z]{1,6}", 1 => Just("global".to_owned())];
    (name, vec(setting, 0..count)).prop_map(|(name, settings)| {
        let first = if name == "global" { "" } else { "size=1g\n" };
        format!("[{name}]\n{first}{}\n", settings.join("\n"))
    })
}

/// Failing cases are printed; they belong into the corpus, not into a file of their own.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_lines_are_survived(lines in vec("[\\[\\]a-z=;#$ {}():,/%0-9*-]{0,24}", 0..12)) {
        read(&format!("[j]\nsize=1g\n{}", lines.join("\n")));
    }

    #[test]
    fn any_settings_are_survived(text in vec(section(setting(), 4), 1..4)) {
        read(&text.concat());
    }

    #[test]
    fn what_is_shown_reads_back(text in vec(section(sound_setting(), 10), 1..4)) {
        read(&text.concat());
    }
}

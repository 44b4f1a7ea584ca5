//! Metric families, as the client library of Prometheus writes them.

use prometheus::TextEncoder;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily};

pub(super) use prometheus::proto::MetricType as Kind;

/// A label: its name and value.
pub(super) type Label<'a> = (&'static str, &'a str);

/// A page being made, one metric family after the other.
#[derive(Debug, Default)]
pub(super) struct Families {
    all: Vec<MetricFamily>,
    /// The disk that samples are about, which is their last label.
    pub(super) disk: Option<String>,
}

impl Families {
    /// Begins a family. One without samples is left out.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        self.all.push(family);
    }

    /// Adds a sample to the current family, a counter or a gauge.
    pub(super) fn sample(&mut self, labels: &[Label<'_>], value: f64) {
        let mut metric = self.labelled(labels);
        let (mut counter, mut gauge) = (Counter::default(), Gauge::default());
        counter.set_value(value);
        gauge.set_value(value);
        metric.set_counter(counter);
        metric.set_gauge(gauge);
        self.push(metric);
    }

    /// Adds a histogram to the current family: upper ends and cumulative counts, the number of
    /// values and their sum.
    pub(super) fn histogram(
        &mut self,
        labels: &[Label<'_>],
        buckets: impl IntoIterator<Item = (f64, u64)>,
        (count, sum): (u64, f64),
    ) {
        let bucket = |(end, count)| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(end);
            bucket.set_cumulative_count(count);
            bucket
        };
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.into_iter().map(bucket).collect());
        histogram.set_sample_count(count);
        histogram.set_sample_sum(sum);
        let mut metric = self.labelled(labels);
        metric.set_histogram(histogram);
        self.push(metric);
    }

    fn labelled(&self, labels: &[Label<'_>]) -> Metric {
        let disk = self.disk.as_deref().map(|disk| ("disk", disk));
        let pair = |(name, value): (&str, &str)| {
            let mut pair = LabelPair::default();
            pair.set_name(name.to_owned());
            pair.set_value(value.to_owned());
            pair
        };
        Metric::from_label(labels.iter().copied().chain(disk).map(pair).collect())
    }

    fn push(&mut self, metric: Metric) {
        let family = self.all.last_mut().expect("a family has begun");
        family.mut_metric().push(metric);
    }

    /// The page in the text format, version 0.0.4.
    pub(super) fn into_text(mut self) -> String {
        self.all.retain(|family| !family.get_metric().is_empty());
        TextEncoder::new().encode_to_string(&self.all).expect("families have names and samples")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_samples_of_its_families() {
        let mut page = Families::default();
        page.family("a_total", Kind::COUNTER, "What a is.");
        page.sample(&[("group", "/a\"b\\c\nd{},=é"), ("op", "read")], 7.0);
        page.family("empty", Kind::GAUGE, "Nothing.");
        page.disk = Some("sda".to_owned());
        page.family("b", Kind::GAUGE, "What b is.");
        page.sample(&[], 40_000_000.5);
        page.family("c", Kind::HISTOGRAM, "What c is.");
        page.histogram(&[("op", "read")], [(0.5, 3)], (4, 2.25));
        let expected = "# HELP a_total What a is.\n# TYPE a_total counter\n\
             a_total{group=\"/a\\\"b\\\\c\\nd{},=é\",op=\"read\"} 7\n\
             # HELP b What b is.\n# TYPE b gauge\nb{disk=\"sda\"} 40000000.5\n\
             # HELP c What c is.\n# TYPE c histogram\n\
             c_bucket{op=\"read\",disk=\"sda\",le=\"0.5\"} 3\n\
             c_bucket{op=\"read\",disk=\"sda\",le=\"+Inf\"} 4\n\
             c_sum{op=\"read\",disk=\"sda\"} 2.25\nc_count{op=\"read\",disk=\"sda\"} 4\n";
        assert_eq!(page.into_text(), expected);
    }
}

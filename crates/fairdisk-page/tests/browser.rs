//! A browser shows each kind of chart, with few series and with many.

#[path = "support/browser.rs"]
mod browser;

use browser::{LOOKS, browser, look};
use fairdisk_page::charts::{
    Axis, Bar, Bars, Cell, Dot, Dots, Heat, Line, Lines, Range, Ranges, Stretch, Tone, Tracks,
};
use fairdisk_page::{Chart, Film, Made, Page, Part, Section};

fn name(at: usize) -> String {
    match at % 3 {
        0 => format!("/{at}"),
        1 => format!("/database/replica-{at}"),
        _ => format!("a group with a rather long name of its own, number {at}"),
    }
}

fn bars(series: usize) -> Chart {
    let bar = |at: usize| Bar {
        sd: Some(at as f64 * 3.0),
        mark: at.is_multiple_of(2).then_some(1_000.0),
        tone: [Tone::Neutral, Tone::Loss, Tone::Gain][at % 3],
        ..Bar::new(name(at), 90_000.0 / (at as f64 + 1.0))
    };
    let bars = Bars::new(Axis::linear("I/Os per second"), (0..series).map(bar).collect());
    bars.with_marks("published").chart(format!("{series} bars"))
}

fn dots(lines: usize, series: usize) -> Chart {
    let dot = |at: usize| Dot {
        name: name(at / series),
        series: format!("scheduler-{}", at % series),
        value: (at * 37 % 100) as f64,
        sd: Some(2.0),
        mark: Some(50.0),
    };
    let dots = (0..lines * series).map(dot).collect();
    let words = ["group", "scheduler", "asked %"];
    Dots { axis: Axis::linear("got, %"), words, dots }.chart(format!("{lines} lines of {series}"))
}

fn ranges(lines: usize, series: usize) -> Chart {
    let range = |at: usize| Range {
        name: name(at / series),
        series: format!("scheduler-{}", at % series),
        values: [0.1, 3.0, 40.0, 1200.0].map(|ms| ms * (1.0 + at as f64 / 10.0)).to_vec(),
    };
    let ranges = (0..lines * series).map(range).collect();
    let ranks = vec!["p50", "p99", "p99.9", "longest"];
    let axis = Axis::log("latency, ms");
    Ranges { axis, words: ["group", "scheduler"], ranks, ranges }
        .chart(format!("latency of {lines} by {series}"))
}

fn lines(series: usize) -> Chart {
    let line = |at: usize| Line {
        name: name(at),
        points: (1..60)
            .map(|x| (f64::from(x) / 7.0, (x != 30).then(|| f64::from(x) + at as f64)))
            .collect(),
        dots: vec![(2.0, 20.0)],
        rings: vec![(3.0, 50.0)],
    };
    let (x, y) = (Axis::log("latency, ms"), Axis::linear("of all, %"));
    let lines = (0..series).map(line).collect();
    Lines { x, y, has_steps: false, lines }.chart(format!("{series} curves"))
}

fn heat() -> Chart {
    let cell = |at: u32| {
        let (x, y) = (f64::from(at % 40), f64::from(at / 40));
        Cell { x: [x, x + 1.0], y: [y, y + 1.0], value: x * y }
    };
    let (x, y) = (Axis::linear("time, s"), Axis::linear("place, GB"));
    Heat { x, y, value: "requests".to_owned(), cells: (0..800).map(cell).collect() }.chart("Places")
}

fn tracks(series: usize) -> Chart {
    let stretch = |at: usize| Stretch {
        name: name(at % series),
        x: [at as f64, at as f64 + 1.0],
        part: (at % 5) as f64 / 4.0,
    };
    let x = Axis::linear("time, s");
    let stretches = (0..series * 20).map(stretch).collect();
    Tracks { x, value: "of the disk, %".to_owned(), stretches }.chart(format!("{series} tracks"))
}

fn page(charts: Vec<Chart>) -> String {
    let section = |chart: Chart| {
        Section::new(chart.title.clone(), "A sentence about it.").with(Part::Chart(chart))
    };
    let mut page = Page::new("Charts", "Every kind of chart");
    page.summary = vec![Part::Verdict("What is to know comes first.".to_owned())];
    page.sections = charts.into_iter().map(section).collect();
    page.results = serde_json::json!({ "schema": 1 });
    page.to_html(&Made::by("fairdisk run --report page.html two-groups"))
}

/// Every kind of chart, with so many series.
fn charts(series: usize) -> Vec<Chart> {
    let few = series.min(8);
    vec![
        bars(series),
        dots(series, 1),
        dots(5, few),
        ranges(series, 1),
        ranges(4, few),
        lines(series),
        heat(),
        tracks(series),
    ]
}

#[test]
fn a_browser_shows_every_chart_with_5_to_50_series() {
    let Some(browser) = browser() else { return println!("skipped: no browser here") };
    for series in [5, 50] {
        let charts = charts(series);
        let count = charts.len();
        let html = page(charts);
        for one in LOOKS {
            let place = format!("{series} series, {}", one.name);
            let seen = look(browser, &html, &format!("charts-{series}"), one);
            seen.demand_good(&place);
            assert_eq!(seen.charts.len(), count, "{place}");
        }
    }
}

#[test]
fn a_browser_plays_a_film() {
    let Some(browser) = browser() else { return println!("skipped: no browser here") };
    let request = |at: usize| {
        let asked = at * 900;
        serde_json::json!([at % 3, at % 2, at * 7 % 50, asked, asked + 3_000, asked + 4_000])
    };
    let frames = serde_json::json!({
        "groups": ["/a", name(2), "/b"], "length_us": 60_000,
        "requests": (0..60).map(request).collect::<Vec<_>>(),
    });
    let film = Film { title: "noop".to_owned(), frames, ..Film::default() };
    let page = Page::new("Film", "Film").with_section(Section::new("a", "").with(Part::Film(film)));
    let html = page.to_html(&Made::by("fairdisk run two-groups --animate film.html"));
    for one in LOOKS {
        let seen = look(browser, &html, "film", one);
        seen.demand_good(one.name);
        assert_eq!(seen.charts.len(), 1, "{seen:?}");
    }
}

//! Opens pages in a browser without a window and says what a reader would see there.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The name, also of the picture.
    pub(crate) name: &'static str,
    width: u32,
    is_dark: bool,
}

/// A page of this width in pixels has room for the longest names.
const WIDE: u32 = 800;

/// On a desk by day and by night, and on a telephone.
pub(crate) const LOOKS: [Look; 3] = [
    Look { name: "light", width: 1200, is_dark: false },
    Look { name: "dark", width: 1200, is_dark: true },
    Look { name: "narrow", width: 390, is_dark: false },
];

/// What a browser found on a page.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Messages of errors.
    pub(crate) errors: Vec<String>,
    /// Titles of charts, each with the number of marks that were drawn.
    pub(crate) charts: Vec<(String, u64)>,
    /// Pairs of texts of a chart that lie over each other.
    pub(crate) collisions: Vec<String>,
    /// What is wider than the page.
    pub(crate) wide: Vec<String>,
    /// Texts of charts that can hardly be told from the page.
    pub(crate) faint: Vec<String>,
    /// Names in legends that are not whole though the page is wide.
    pub(crate) cut: Vec<String>,
}

impl Seen {
    /// Panics if a reader would see less than there is.
    pub(crate) fn demand_good(&self, place: &str) {
        assert!(self.errors.is_empty(), "{place}: {:?}", self.errors);
        let empty: Vec<&(String, u64)> =
            self.charts.iter().filter(|(_, marks)| *marks == 0).collect();
        assert!(empty.is_empty(), "{place}: empty charts: {empty:?}");
        assert!(self.collisions.is_empty(), "{place}: {:#?}", self.collisions);
        assert!(self.wide.is_empty(), "{place}: wider than the page: {:#?}", self.wide);
        assert!(self.faint.is_empty(), "{place}: hardly seen: {:#?}", self.faint);
        assert!(self.cut.is_empty(), "{place}: cut: {:#?}", self.cut);
    }
}

/// The browser; `None` if there is none.
#[must_use]
pub(crate) fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let runs = |name: &str| Command::new(name).arg("--version").output();
    names.into_iter().find(|name| runs(name).is_ok_and(|output| output.status.success()))
}

/// Opens the page, calls it `name` in pictures, and looks at it. Pictures go to the directory
/// `PAGE_PICTURES`, if that is set.
pub(crate) fn look(browser: &str, html: &str, name: &str, look: Look) -> Seen {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let dark = match look.is_dark {
        // What the reader's system says, told to the page before it asks.
        true => "<script>window.isDark = true</script>",
        false => "",
    };
    let begin = format!("<head>{dark}<script>{BEFORE}</script>");
    let end = format!("<script>{AFTER}</script></body>");
    let html = html.replacen("<head>", &begin, 1);
    let at = html.rfind("</body>").expect("a body");
    fs::write(&path, format!("{}{end}{}", &html[..at], &html[at + 7..])).expect("can be written");
    let dom = run(browser, folder.path(), &path, look, &["--dump-dom".to_owned()]);
    if let Some(pictures) = env::var_os("PAGE_PICTURES") {
        let picture = Path::new(&pictures).join(format!("{name}-{}.png", look.name));
        let picture = format!("--screenshot={}", picture.display());
        run(browser, folder.path(), &path, look, &[picture, "--hide-scrollbars".to_owned()]);
    }
    let found = dom
        .split_once("<pre id=\"seen\" hidden=\"\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"));
    let found = found.unwrap_or_else(|| panic!("{name}: the page was not drawn: {dom:.3000}")).0;
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let texts = |key: &str| {
        let texts = found[key].as_array().into_iter().flatten();
        texts.filter_map(|text| Some(text.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let chart = |chart: &Value| Some((chart[0].as_str()?.to_owned(), chart[1].as_u64()?));
    Seen {
        errors: texts("errors"),
        charts: found["charts"].as_array().into_iter().flatten().filter_map(chart).collect(),
        collisions: texts("collisions"),
        wide: texts("wide"),
        faint: texts("faint"),
        cut: if look.width < WIDE { Vec::new() } else { texts("cut") },
    }
}

fn run(browser: &str, home: &Path, page: &Path, look: Look, more: &[String]) -> String {
    let dark = if look.is_dark { "0" } else { "1" };
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={dark}"))
        .arg(format!("--window-size={},{}", look.width, 2400))
        .args(["--virtual-time-budget=60000", "--timeout=60000"])
        .args(more)
        .arg(page)
        .output()
        .expect("the browser runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Notes errors, from before the page's own scripts on.
const BEFORE: &str = "
window.seenErrors = [];
window.addEventListener('error', (event) => window.seenErrors.push(String(event.message)));
window.addEventListener('unhandledrejection', (event) => window.seenErrors.push(String(event.reason)));
for (const kind of ['error', 'warn']) {
  const tell = console[kind];
  console[kind] = (...words) => { window.seenErrors.push(words.join(' ')); tell(...words); };
}";

/// Looks at the page once it is drawn, and writes what there is into it.
const AFTER: &str = "
(async () => {
  const drawn = () => document.documentElement.dataset.drawn === 'yes'
    || !document.querySelector('figure.chart');
  for (let wait = 0; wait < 500 && !drawn(); wait += 1) await new Promise((go) => setTimeout(go, 50));
  // What is folded is looked at as well.
  const folded = [...document.querySelectorAll('details')].filter((one) => one.querySelector('.plot'));
  folded.forEach((one) => { one.open = true; });
  if (folded.length) await new Promise((go) => setTimeout(go, 400));
  for (let wait = 0; wait < 500 && !drawn(); wait += 1) await new Promise((go) => setTimeout(go, 50));
  const seen = { errors: window.seenErrors, charts: [], collisions: [], wide: [], faint: [], cut: [] };
  const rgb = (text) => (text.match(/[0-9.]+/g) || []).slice(0, 3).map(Number);
  const light = (text) => {
    const [r, g, b] = rgb(text).map((part) => {
      const of = part / 255;
      return of <= 0.04045 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = light(getComputedStyle(document.body).backgroundColor);
  if (window.isDark && page > 0.2) seen.errors.push('the page is light by night');
  for (const figure of document.querySelectorAll('figure.chart, figure.film')) {
    const title = figure.querySelector('figcaption').textContent;
    seen.charts.push([title, figure.querySelectorAll(
      'svg .mark-rect path, svg .mark-symbol path, svg .mark-line path, svg .mark-rule line, .stage rect')
      .length]);
    const texts = [...figure.querySelectorAll('svg text')].filter((text) =>
      text.textContent.trim() && Number(getComputedStyle(text).opacity) > 0);
    for (const name of figure.querySelectorAll('svg .role-legend-label text')) {
      if (name.textContent.endsWith('…')) seen.cut.push(`${title}: ${name.textContent}`);
    }
    const boxes = texts.map((text) => [text, text.getBoundingClientRect()]);
    boxes.forEach(([one, a], at) => {
      const ours = light(getComputedStyle(one).fill);
      const contrast = (Math.max(ours, page) + 0.05) / (Math.min(ours, page) + 0.05);
      if (contrast < 4) seen.faint.push(`${title}: ${one.textContent}`);
      for (const [other, b] of boxes.slice(at + 1)) {
        const over = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (over > 1 && down > 3) {
          seen.collisions.push(`${title}: ${one.textContent} | ${other.textContent}`);
        }
      }
      if (a.right > window.innerWidth + 1 || a.left < -1) seen.wide.push(`${title}: ${one.textContent}`);
    });
  }
  const width = document.scrollingElement.scrollWidth;
  if (width > window.innerWidth + 1) seen.wide.push(`the page: ${width} of ${window.innerWidth}`);
  const out = document.createElement('pre');
  out.id = 'seen';
  out.hidden = true;
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();";

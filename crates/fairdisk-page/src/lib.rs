//! Reports as pages: one file that any browser shows offline, in light or dark colours as the
//! reader's system is set.
//!
//! A [`Page`] is what a report says: a summary, and sections of charts, tables and words. It knows
//! nothing of HTML. [`Page::to_html`] writes it: the summary, a table of contents, the sections,
//! and how the page was made. A chart is drawn by Vega-Lite, which the page carries; its values are
//! also a table, for readers who cannot see it. The results are inside as JSON, in the element with
//! the id `results`.
//!
//! ```
//! use fairdisk_page::charts::{Axis, Bar, Bars};
//! use fairdisk_page::{Made, Page, Part, Section};
//!
//! let bars = [Bar::new("fair", 940.0), Bar::new("noop", 1000.0).with_sd(12.0)];
//! let chart = Bars::new(Axis::linear("I/Os per second"), bars.to_vec()).chart("Throughput");
//! let section = Section::new("All rows", "Longer is better.").with(Part::Chart(chart));
//! let page = Page::new("Report", "Two schedulers").with_section(section);
//! let html = page.to_html(&Made::by("fairdisk compare x.toml"));
//! assert!(html.contains("Two schedulers") && html.contains("<td class=\"n\">940</td>"));
//! ```

pub mod charts;
mod model;
mod write;

pub use model::{Chart, Film, Made, Page, Part, Section, Table};

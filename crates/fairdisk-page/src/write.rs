//! Pages as HTML.

use crate::model::{Made, Page, Part, Section, Table};
use askama::Template;
use serde_json::Value;

/// The libraries that draw charts, in the order in which they are loaded.
const LIBRARIES: [&str; 2] =
    [include_str!("../vendor/vega.min.js"), include_str!("../vendor/vega-lite.min.js")];
const STYLE: &str = include_str!("../templates/style.css");
/// Draws the charts with the libraries.
const DRAW: &str = include_str!("../templates/draw.js");
/// Plays the films.
const PLAY: &str = include_str!("../templates/film.js");

#[derive(Template)]
#[template(path = "body.html")]
struct Body<'a> {
    page: &'a Page,
    made: &'a Made<'a>,
}

#[derive(Template)]
#[template(path = "parts.html")]
struct Parts<'a> {
    parts: &'a [Part],
}

#[derive(Template)]
#[template(path = "table.html")]
struct TableBody<'a> {
    table: &'a Table,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Document<'a> {
    title: &'a str,
    style: &'a str,
    body: &'a str,
    results: Option<String>,
    /// What draws charts and plays films; empty without any.
    scripts: Vec<&'a str>,
}

impl Page {
    /// The page as HTML. `made` tells how it came about; partial results are named in its title and
    /// before all else.
    #[must_use]
    pub fn to_html(&self, made: &Made<'_>) -> String {
        let title = match made.partial {
            Some(_) => format!("Partial: {}", self.title),
            None => self.title.clone(),
        };
        let body = rendered(&Body { page: self, made });
        let mut scripts = Vec::new();
        if self.has(|part| matches!(part, Part::Chart(_))) {
            scripts.extend(LIBRARIES);
            scripts.push(DRAW);
        }
        if self.has(|part| matches!(part, Part::Film(_))) {
            scripts.push(PLAY);
        }
        rendered(&Document {
            title: &visible(&title),
            style: STYLE,
            body: &visible(&body),
            results: (!self.results.is_null()).then(|| embedded(&self.results)),
            scripts,
        })
    }

    fn has(&self, is: fn(&Part) -> bool) -> bool {
        let sections = self.sections.iter().flat_map(|section| &section.parts);
        self.summary.iter().chain(sections).any(|part| has(part, is))
    }
}

/// Whether a part is such a one, or one that is folded inside.
fn has(part: &Part, is: fn(&Part) -> bool) -> bool {
    match part {
        Part::Folded(_, parts) => parts.iter().any(|part| has(part, is)),
        part => is(part),
    }
}

impl Parts<'_> {
    fn rendered(parts: &[Part]) -> String {
        rendered(&Parts { parts })
    }

    fn table(table: &Table) -> String {
        rendered(&TableBody { table })
    }

    fn json(value: &Value) -> String {
        embedded(value)
    }
}

impl Body<'_> {
    fn parts(parts: &[Part]) -> String {
        Parts::rendered(parts)
    }

    /// The anchor of a section, by its place on the page.
    fn anchor(at: &usize) -> String {
        format!("section-{}", at + 1)
    }

    /// Whether there is enough to list in a table of contents.
    const fn has_contents(sections: &[Section]) -> bool {
        sections.len() > 1
    }
}

/// The text of a template. Writing into memory cannot fail.
fn rendered(template: &impl Template) -> String {
    template.render().unwrap_or_default()
}

/// JSON that no text inside can end early.
fn embedded(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Text without letters that act on the reader's program.
fn visible(text: &str) -> String {
    let shown = |letter: char| match letter {
        letter if letter.is_control() && letter != '\n' => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Chart;
    use serde_json::json;

    #[test]
    fn names_of_others_are_text_and_nothing_else() {
        let name = "</script><b>&\"\u{7}";
        let table = Table::new(&["name"], 1, vec![vec![name.to_owned()]]);
        let chart = Chart { title: name.to_owned(), spec: json!({"a": name}), values: table };
        let section = Section::new(name, name).with(Part::Chart(chart));
        let mut page = Page::new(name, name).with_section(section);
        page.results = json!({ name: name });
        let html = page.to_html(&Made { command: name, partial: Some(name) });
        assert!(!html.contains("<b>") && !html.contains('\u{7}'), "{}", &html[..2000]);
        assert!(html.contains("&#60;b&#62;") && html.contains("\\u003cb>"));
        assert_eq!(html.matches("</script>").count(), 5, "charts, results, two libraries, drawing");
    }

    #[test]
    fn only_a_page_with_charts_carries_the_libraries() {
        let folded = |part| Part::Folded("more".to_owned(), vec![part]);
        let with = |part: Part| {
            let section = Section::new("one", "").with(folded(part));
            Page::new("t", "h").with_section(section).to_html(&Made::by("x")).len()
        };
        assert!(with(Part::Text("words".to_owned())) < 20_000);
        assert!(with(Part::Chart(Chart::default())) > 500_000);
    }

    #[test]
    fn partial_results_say_so_first() {
        let page = Page::new("Rows", "Rows");
        let html = page.to_html(&Made { command: "x", partial: Some("one of two rows") });
        assert!(html.contains("<title>Partial: Rows</title>"));
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(at("one of two rows") < at("<h1>"));
        assert!(!html.contains("Contents"), "nothing to list");
    }
}

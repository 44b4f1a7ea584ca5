//! Reports as HTML pages: a single file without scripts or external resources, in light or dark
//! colours as the reader's system is set.

use std::fmt::Write as _;

const STYLE: &str = include_str!("page/style.css");

/// How the results on a page came about.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// The command that produced them.
    pub command: &'a str,
    /// That they are partial, and what they lack; `None` if they are complete.
    pub partial: Option<&'a str>,
}

impl<'a> Made<'a> {
    /// The complete results of a command.
    #[must_use]
    pub const fn by(command: &'a str) -> Self {
        Self { command, partial: None }
    }
}

/// A page with this body, which ends with the command that produced it. If the results are partial,
/// it begins with that, and its title does.
pub(crate) fn page(title: &str, mut body: String, made: &Made<'_>) -> String {
    let Made { command, partial } = made;
    let _ = write!(body, "<h2>How this was made</h2>\n<pre>{}</pre>\n", escape(command));
    let (of_what, lack) = match partial {
        Some(lack) => ("Partial: ", format!("<p class=\"verdict warn\">{}</p>\n", escape(lack))),
        None => ("", String::new()),
    };
    let title = format!("{of_what}{}", escape(title));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{lack}{body}</main>\n</body>\n</html>\n"
    )
}

/// Text escaped for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() && letter != '\n' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// The width of every picture.
pub(crate) const WIDTH: f64 = 900.0;

/// Opens a picture. Its contents are also described in words, for readers who cannot see it.
pub(crate) fn open_svg(title: &str, description: &str, height: f64) -> String {
    let title = escape(title);
    let description = match description {
        "" => String::new(),
        text => format!("<desc>{}</desc>\n", escape(text)),
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n{description}"
    )
}

/// The number of colours for groups: the classes `g0` and on.
pub(crate) const COLOURS: usize = 6;

/// Writes the legend of colours: names side by side from `left` on in the given width, each cut to
/// the given number of letters.
pub(crate) fn write_legend(
    out: &mut String,
    names: &[&str],
    left: f64,
    room: f64,
    top: f64,
    most: usize,
) {
    let step = room / names.len().clamp(1, COLOURS) as f64;
    for (at, name) in names.iter().enumerate().take(COLOURS) {
        let x = left + step * at as f64;
        let letters = most.min((step / 7.5) as usize).max(2);
        let _ = writeln!(
            out,
            "<rect class=\"g{at}\" x=\"{x:.1}\" y=\"{top:.0}\" width=\"10\" height=\"10\"/><text \
             x=\"{:.1}\" y=\"{:.0}\">{}</text>",
            x + 14.0,
            top + 10.0,
            escape(&shortened(name, letters)),
        );
    }
}

/// A name cut to the given number of letters.
pub(crate) fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let kept: String = name.chars().take(letters - 1).collect();
    format!("{kept}…")
}

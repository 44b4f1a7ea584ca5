//! Reports as pages: one file without scripts and without anything from elsewhere, in the colours
//! of day or night as its reader's system has them.

use std::fmt::Write as _;

const STYLE: &str = include_str!("page/style.css");

/// A page of `body`, which ends with the command that made it.
pub(crate) fn page(title: &str, mut body: String, command: &str) -> String {
    let _ = write!(body, "<h2>How this was made</h2>\n<pre>{}</pre>\n", escape(command));
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Text as it may stand in a page.
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

/// Width of every picture.
pub(crate) const WIDTH: f64 = 900.0;

/// Opens a picture. What it shows is said in words too, for those who do not see it.
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

/// A name that finds room.
pub(crate) fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let kept: String = name.chars().take(letters - 1).collect();
    format!("{kept}…")
}

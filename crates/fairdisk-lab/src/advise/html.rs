//! Advice as an HTML page.

use super::settings::{check, commands, in_a_line, lines};
use super::words::{
    NO_SHARE, answer, file, label, met, of_noop, on_a_mount, others, outcomes, place, proposal,
};
use super::{Advice, Tried};
use crate::compare::write_pictures;
use crate::page::{Made, escape, page};
use crate::sweep;
use std::fmt::Write as _;

/// The advice as an HTML page. `made` tells how it came about.
#[must_use]
pub fn to_html(advice: &Advice, made: &Made<'_>) -> String {
    let mut body = String::new();
    let [experiment, title] = [&advice.experiment, &advice.title].map(|text| escape(text));
    let _ = writeln!(body, "<h1>{experiment}: {title}</h1>");
    if let Some(best) = advice.proposed() {
        let _ = writeln!(body, "<p class=\"dim\">In the lab, {}.</p>", escape(&place(best)));
        write_wishes(&mut body, advice, best);
        write_proposal(&mut body, advice, best);
    }
    write_tried(&mut body, advice);
    if let Some(need) = &advice.memory {
        body.push_str("<h2>Memory</h2>\n");
        let lines = need.answer().into_iter().chain(need.as_options());
        let lines: String = lines.map(|text| format!("<p>{}</p>\n", escape(&text))).collect();
        body.push_str(&lines);
        sweep::write_curves(&mut body, &need.curves);
    }
    write_pictures(&mut body, &advice.comparison);
    if let Some(note) = advice.comparison.note() {
        let _ = writeln!(body, "<p>{}</p>", escape(note));
    }
    page(&format!("Advise: {}", advice.title), body, made)
}

/// Writes the wishes and what the proposal makes of each.
fn write_wishes(body: &mut String, advice: &Advice, best: &Tried) {
    body.push_str(
        "<h2>Wishes, and what comes of them as proposed</h2>\n<table>\n<tr><th>group</th>\
         <th>wish</th><th>comes true</th><th>what it came to</th></tr>\n",
    );
    for (at, wish) in advice.wishes.iter().enumerate() {
        let answer = answer(advice, best, at);
        let columns = [&wish.name, &wish.text, best.verdicts[at].word(), &answer];
        let [name, text, word, answer] = columns.map(escape);
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td>{text}</td><td>{word}</td><td>{answer}</td></tr>"
        );
    }
    for (name, got) in others(advice, best) {
        let [name, got] = [name, got].map(|it| escape(&it));
        let _ =
            writeln!(body, "<tr><td>{name}</td><td>{NO_SHARE}</td><td>-</td><td>{got}</td></tr>");
    }
    body.push_str("</table>\n");
}

fn write_proposal(body: &mut String, advice: &Advice, best: &Tried) {
    let _ = writeln!(body, "<h2>{}</h2>", escape(&capital(&proposal(advice, best))));
    let [place, file] = file(advice);
    let commands = commands(advice, best);
    let mut write = |lead: &str, text: &str| {
        let _ = writeln!(body, "<p>{}</p>", escape(lead));
        if !text.is_empty() {
            let _ = writeln!(body, "<pre>{}</pre>", escape(text.trim_end()));
        }
    };
    write(&format!("In {place}:"), &lines(advice, best));
    write(&format!("To run it again, with that {file} in FILE:"), &check(advice, best));
    write(&capital(&on_a_mount(best, !commands.is_empty())), &commands.join("\n"));
}

/// Writes the results and the settings of every try.
fn write_tried(body: &mut String, advice: &Advice) {
    body.push_str(
        "<h2>What was tried</h2>\n<table>\n<tr><th>scheduler</th><th>wishes</th><th>MB/s</th>\
         <th>of noop</th><th>what the wishes came to</th><th>settings</th></tr>\n",
    );
    for one in &advice.tried {
        let settings = in_a_line(one, &advice.groups);
        let [name, outcomes, settings] =
            [label(one), outcomes(one), settings].map(|it| escape(&it));
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td class=\"n\">{}</td><td class=\"n\">{:.2}</td><td \
             class=\"n\">{}</td><td>{outcomes}</td><td>{settings}</td></tr>",
            met(one),
            one.cell.mb_per_s,
            of_noop(one),
        );
    }
    body.push_str("</table>\n");
    for (name, reason) in &advice.refused {
        let _ = writeln!(body, "<p>{}: {}</p>", escape(name), escape(reason));
    }
}

/// A text that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

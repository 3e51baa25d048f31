//! One self-contained page: findings with their source and path, the ledger, charts. It loads nothing (its content security
//! policy forbids it), so it can be kept, mailed and opened anywhere.
//!
//! The page is plain HTML, CSS and JavaScript under `page/`; this module makes the data that it shows. Of the sources only the
//! lines around the steps are kept. The same result gives the same bytes.

mod data;
mod sources;

use crate::Report;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("page/core.js"),
    include_str!("page/source.js"),
    include_str!("page/findings.js"),
    include_str!("page/ledger.js"),
    include_str!("page/overview.js"),
    include_str!("page/main.js"),
];

pub fn html(report: &Report<'_>) -> String {
    let data = data::Page::new(report);
    // `<` occurs inside of strings only; written this way no text can end the script element.
    let json = serde_json::to_string(&data)
        .unwrap_or_default()
        .replace('<', "\\u003c");
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat());
    let mut out = String::with_capacity(PAGE.len() + STYLE.len() + json.len() + script.len());
    let mut rest = PAGE;
    let parts = [
        ("/*STYLE*/", STYLE),
        ("/*DATA*/", &json),
        ("/*SCRIPT*/", &script),
    ];
    for (marker, text) in parts {
        if let Some((before, after)) = rest.split_once(marker) {
            out.push_str(before);
            out.push_str(text);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

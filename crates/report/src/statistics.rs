//! The engine's counts, for people and for programs. The fields are taken as they come, so that a new count shows up by itself.

use drip_engines::Statistics;
use serde_json::Value;

pub fn statistics_json(statistics: &Statistics) -> String {
    let mut text = serde_json::to_string_pretty(statistics).unwrap_or_default();
    text.push('\n');
    text
}

pub fn statistics_text(statistics: &Statistics) -> String {
    let Ok(Value::Object(fields)) = serde_json::to_value(statistics) else {
        return String::new();
    };
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in &fields {
        out.push_str(&format!("{:<width$}  {value}\n", name.replace('_', " ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_told() {
        let statistics = Statistics {
            functions: 12,
            ..Statistics::default()
        };
        let text = statistics_text(&statistics);
        assert!(
            text.lines()
                .any(|l| l.starts_with("functions ") && l.ends_with(" 12"))
        );
        assert!(statistics_json(&statistics).contains("\"functions\": 12"));
    }
}

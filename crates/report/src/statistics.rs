//! The engine's counts, for people and for programs. The fields are taken as they come, so that a new count shows up by itself.

use drip_engines::Statistics;
use serde_json::{Map, Value};
use std::time::Duration;

pub fn statistics_json(statistics: &Statistics) -> String {
    let mut text = serde_json::to_string_pretty(&with_times(statistics)).unwrap_or_default();
    text.push('\n');
    text
}

/// One line per count; counts of one thing are indented below its name.
pub fn statistics_text(statistics: &Statistics) -> String {
    let mut out = String::new();
    if let Value::Object(fields) = with_times(statistics) {
        write_fields(&fields, 0, &mut out);
    }
    out
}

/// The counts, and the times in milliseconds, which differ from run to run.
fn with_times(statistics: &Statistics) -> Value {
    let mut value = serde_json::to_value(statistics).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        let times: Map<String, Value> = statistics
            .times
            .rows()
            .into_iter()
            .map(|(name, time)| (name.to_owned(), milliseconds(time)))
            .collect();
        fields.insert("milliseconds".to_owned(), Value::Object(times));
    }
    value
}

fn milliseconds(time: Duration) -> Value {
    Value::from((time.as_secs_f64() * 1e6).round() / 1e3)
}

fn write_fields(fields: &Map<String, Value>, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let plain = |value: &&Value| !value.is_object();
    let names = fields.iter().filter(|(_, value)| plain(value));
    let width = names.map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in fields {
        let name = name.replace('_', " ");
        match value {
            Value::Object(parts) if parts.values().all(|part| plain(&part)) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(part, value)| format!("{} {value}", part.replace('_', " ")))
                    .collect();
                out.push_str(&format!("{indent}{name}: {}\n", parts.join(", ")));
            }
            Value::Object(parts) => {
                out.push_str(&format!("{indent}{name}:\n"));
                write_fields(parts, depth + 1, out);
            }
            _ => out.push_str(&format!("{indent}{name:<width$}  {value}\n")),
        }
    }
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

//! Counts of one run, as the paper's tables 4 and 5 and its figures 11 and 12 have them.

use std::time::Duration;

use serde::Serialize;

/// Counts and times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    pub functions: usize,
    /// Functions and clones of allocation wrappers.
    pub instances: usize,
    pub wrappers: usize,
    /// Calls of wrappers that share one body because of a limit.
    pub clones_limited: usize,
    /// Variables of the pointer analysis.
    pub pointers: usize,
    pub pointers_substituted: usize,
    pub pointers_on_cycles: usize,
    /// Variables that can point to too much: what they point to counts as out of sight.
    pub pointers_wide: usize,
    /// Values whose set is smaller, or empty, after the flow-sensitive refinement.
    pub pointers_refined: usize,
    pub constraints: usize,
    pub locations: usize,
    pub loads: usize,
    pub stores: usize,
    pub sources: usize,
    pub sinks: usize,
    pub regions: usize,
    pub svfg_nodes: usize,
    pub svfg_edges: usize,
    /// Nodes of all forward and of all backward slices, and functions in them.
    pub forward_nodes: usize,
    pub backward_nodes: usize,
    pub forward_functions: usize,
    pub backward_functions: usize,
    pub never_freed: usize,
    pub conditional: usize,
    pub freed: usize,
    pub reach_global: usize,
    /// Held when the program ends, or in code that is never reached.
    pub ends_with_program: usize,
    /// Backward slice beyond its bound, forward slice or guards beyond theirs.
    pub slices_too_large: usize,
    pub searches_too_large: usize,
    pub guards_too_large: usize,
    pub pre_analysis_seconds: f64,
    pub sparse_ssa_seconds: f64,
    pub svfg_seconds: f64,
    pub detection_seconds: f64,
}

impl Statistics {
    /// One line per count.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, value: String| out.push_str(&format!("{name:24} {value}\n"));
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(self) else {
            return out;
        };
        for (name, value) in fields {
            let value = match value.as_f64() {
                Some(number) if name.ends_with("seconds") => format!("{number:.3}"),
                _ => value.to_string(),
            };
            line(&name, value);
        }
        out
    }

    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// Seconds of a phase.
pub fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

//! Everything a run of the bench knows, as one JSON document; runs of some programs and tools replace
//! those rows only.

use super::measure::Figures;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    #[serde(default)]
    pub programs: Vec<ProgramRow>,
    #[serde(default)]
    pub growth: Vec<GrowthCurve>,
    #[serde(default)]
    pub injection: Injection,
}

/// Where and with what it was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    pub commit: String,
    pub processor: String,
    pub cores: usize,
    pub memory_gb: f64,
    pub system: String,
    /// Versions by tool.
    pub versions: BTreeMap<String, String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ProgramRow {
    pub name: String,
    pub version: String,
    pub units: usize,
    pub kloc: f64,
    /// `clang-19 -g -O0 -c` of all units.
    pub compile: Figures,
    pub tools: Vec<ToolRow>,
}

/// One tool on one program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ToolRow {
    pub tool: String,
    /// `ok`, or what went wrong; the figures are then those up to that point.
    pub end: String,
    pub figures: Figures,
    pub kloc_per_s: f64,
    /// User CPU relative to that of the compiler.
    pub ratio: f64,
    pub findings: usize,
    /// Units that the tool could not read.
    pub failed_units: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drip: Option<DripDetails>,
}

impl ToolRow {
    pub fn is_complete(&self) -> bool {
        self.end == COMPLETE
    }
}

/// [`ToolRow::end`] of a run that went well.
pub const COMPLETE: &str = "ok";

/// What only drip tells.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct DripDetails {
    /// Making the bitcode, with an empty cache.
    pub capture: Figures,
    /// User CPU of capture and analysis relative to that of the compiler.
    pub ratio_with_capture: f64,
    /// Wall clock seconds by phase.
    pub phases: BTreeMap<String, f64>,
    /// The engine's own counts.
    pub statistics: BTreeMap<String, serde_json::Value>,
    /// Allocation sites by verdict (default engine only).
    pub ledger: BTreeMap<String, usize>,
}

/// Time and memory against one parameter of generated programs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct GrowthCurve {
    pub parameter: String,
    pub points: Vec<GrowthPoint>,
    /// Fitted over the points that stand out from an empty program; none if too few do.
    pub time_exponent: Option<f64>,
    pub memory_exponent: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct GrowthPoint {
    pub n: usize,
    /// None: it did not end within the limits.
    pub figures: Option<Figures>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Injection {
    pub seed: u64,
    pub mutants: Vec<Mutant>,
    /// Sampled calls that were left out, by rule.
    pub excluded: BTreeMap<String, usize>,
    pub repairs: Vec<Repair>,
}

/// One injected leak.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Mutant {
    pub program: String,
    /// What was done to the free call.
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    pub callee: String,
    /// Where the freed pointer comes from, as far as the function tells.
    pub origin: String,
    /// Rule of the new finding, if there is one.
    pub reported: Option<String>,
    /// Why not, by the ledger.
    pub cause: Option<String>,
    /// What LeakSanitizer said: `leak`, `no leak`, `not executed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanitizer: Option<String>,
    /// Did the peers report it? Only for those that could be made in the source of one unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peers: BTreeMap<String, bool>,
}

/// One finding whose object was freed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Repair {
    pub program: String,
    pub rule: String,
    pub file: String,
    pub line: u32,
    /// `vanished`, `stays`, or why it could not be tried.
    pub result: String,
}

impl Results {
    /// The document at `path`, or an empty one if there is none.
    pub fn read(path: &Path) -> anyhow::Result<Results> {
        if !path.exists() {
            return Ok(Results::default());
        }
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))?;
        serde_json::from_str(&text).with_context(|| format!("{path:?}"))
    }

    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {parent:?}"))?;
        }
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        fs::write(path, text).with_context(|| format!("cannot write {path:?}"))
    }

    /// Puts a program's row in place of an older one, whose tools that are not in the new one stay; rows are ordered by
    /// size.
    pub fn put(&mut self, mut row: ProgramRow) {
        if let Some(at) = self.programs.iter().position(|old| old.name == row.name) {
            let old = self.programs.remove(at);
            let is_new = |tool: &ToolRow| row.tools.iter().any(|new| new.tool == tool.tool);
            let kept: Vec<ToolRow> = old.tools.into_iter().filter(|tool| !is_new(tool)).collect();
            row.tools.extend(kept);
            row.tools.sort_by_key(|tool| !tool.tool.starts_with("drip"));
        }
        self.programs.push(row);
        self.programs.sort_by(|a, b| a.kloc.total_cmp(&b.kloc));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_replaced_and_survive_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/results.json");
        let mut results = Results::read(&path).unwrap();
        let row = |name: &str, kloc: f64| ProgramRow {
            name: name.to_owned(),
            kloc,
            tools: vec![ToolRow {
                tool: format!("tool {kloc}"),
                ..ToolRow::default()
            }],
            ..ProgramRow::default()
        };
        results.put(row("big", 9.0));
        results.put(row("small", 1.0));
        results.put(row("big", 8.0));
        results.write(&path).unwrap();
        let again = Results::read(&path).unwrap();
        let names: Vec<(&str, f64)> = again
            .programs
            .iter()
            .map(|p| (p.name.as_str(), p.kloc))
            .collect();
        assert_eq!(names, [("small", 1.0), ("big", 8.0)]);
        let tools: Vec<&str> = again.programs[1]
            .tools
            .iter()
            .map(|t| t.tool.as_str())
            .collect();
        assert_eq!(tools, ["tool 8", "tool 9"]);
    }
}

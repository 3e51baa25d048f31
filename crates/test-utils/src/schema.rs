//! Is this SARIF valid by the schema of the standard?
//!
//! The schema is not ours to keep: it comes with the source of the crate `serde-sarif` (MIT), which Cargo fetches and nobody builds.

use anyhow::{Context, bail};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

const PACKAGE: &str = "serde-sarif";
const FILE: &str = "src/schema.json";

/// What the schema of SARIF 2.1.0 has to say against a document; empty if it is valid.
pub fn sarif_schema_errors(document: &str) -> anyhow::Result<Vec<String>> {
    let schema = std::fs::read_to_string(schema_file()?).context("cannot read the schema")?;
    // The pattern for languages has a bracket that JavaScript takes as itself and that stricter dialects refuse.
    let schema = schema.replace("[a-zA-Z]{2}]?$", r"[a-zA-Z]{2}\\]?$");
    let schema: Value = serde_json::from_str(&schema).context("the schema is no JSON")?;
    let title = schema["title"].as_str().unwrap_or_default();
    if !title.contains("2.1.0") {
        bail!("this is not the schema of SARIF 2.1.0: {title}");
    }
    let document: Value = serde_json::from_str(document).context("the document is no JSON")?;
    let validator = jsonschema::validator_for(&schema).map_err(|e| anyhow::anyhow!("{e}"))?;
    let errors = validator.iter_errors(&document);
    Ok(errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect())
}

/// Asks Cargo where it keeps the package, and has it fetched if it is not there yet.
fn schema_file() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == PACKAGE)
        .find_map(|package| package["manifest_path"].as_str())
        .context("cargo does not know the package with the schema")?;
    let manifest = PathBuf::from(manifest);
    let directory = manifest
        .parent()
        .context("a manifest lies in a directory")?;
    Ok(directory.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_tells_good_from_bad() {
        let good =
            r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}"#;
        assert_eq!(sarif_schema_errors(good).unwrap(), Vec::<String>::new());
        let bad = good.replace("\"results\": []", "\"results\": [{\"level\": \"loud\"}]");
        let errors = sarif_schema_errors(&bad).unwrap();
        assert!(errors.iter().any(|e| e.contains("loud")), "{errors:?}");
    }
}

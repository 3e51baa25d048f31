//! Findings out of SARIF 2.1.0, as `drip check --output-format sarif` prints it.
//!
//! The first location of a result is its place; related locations whose message starts with "lost" are
//! its losing points. Base ids (`%SRCROOT%`) are not resolved: files are matched by the end of their
//! path.

use crate::compare::{Reported, SourceLine};
use anyhow::{Context, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Reads all results of all runs.
pub fn reported_from_sarif(text: &str) -> anyhow::Result<Vec<Reported>> {
    let log: Value = serde_json::from_str(text).context("the SARIF is not JSON")?;
    let runs = log["runs"].as_array().context("the SARIF has no runs")?;
    let mut reports = Vec::new();
    for run in runs {
        let results = run["results"].as_array().context("a run has no results")?;
        for result in results {
            reports.push(reported(result).with_context(|| format!("in result {result}"))?);
        }
    }
    Ok(reports)
}

fn reported(result: &Value) -> anyhow::Result<Reported> {
    let place = location(&result["locations"][0]).context("no first location")?;
    let related = result["relatedLocations"].as_array();
    let lost = related.into_iter().flatten().filter(|location| {
        let message = location["message"]["text"].as_str();
        message.is_some_and(|text| text.to_lowercase().starts_with("lost"))
    });
    Ok(Reported {
        file: place.file,
        line: place.line,
        rule: result["ruleId"].as_str().context("no ruleId")?.to_owned(),
        lost_lines: lost
            .map(|l| location(l).context("a losing point without place"))
            .collect::<anyhow::Result<_>>()?,
    })
}

fn location(location: &Value) -> Option<SourceLine> {
    let physical = &location["physicalLocation"];
    let uri = physical["artifactLocation"]["uri"].as_str()?;
    let line = physical["region"]["startLine"].as_u64()?;
    Some(SourceLine {
        file: path_of_uri(uri),
        line: u32::try_from(line).ok()?,
    })
}

/// `file:///a/b%20c.c` and `a/b%20c.c` as paths.
fn path_of_uri(uri: &str) -> PathBuf {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// An analysis for [`Corpus::run`](crate::Corpus::run) that runs the `drip` binary once per program:
/// `drip check --output-format sarif ARGS… FILES…`. Exit codes 0 and 1 are results; any other is an
/// error with what drip said.
pub fn sarif_runner(
    drip: impl AsRef<Path>,
    args: &[&str],
) -> impl Fn(&[PathBuf]) -> anyhow::Result<Vec<Reported>> + Sync {
    let drip = drip.as_ref().to_path_buf();
    let args: Vec<String> = args.iter().map(|&a| a.to_owned()).collect();
    move |sources| {
        let output = Command::new(&drip)
            .args(["check", "--output-format", "sarif"])
            .args(&args)
            .args(sources)
            .output()
            .with_context(|| format!("cannot run {drip:?}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0 | 1) => reported_from_sarif(&String::from_utf8_lossy(&output.stdout))
                .with_context(|| format!("drip said: {said}")),
            _ => bail!("drip ended with {}: {said}", output.status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"version":"2.1.0","runs":[{"results":[{
        "ruleId":"D003",
        "locations":[{"physicalLocation":{
            "artifactLocation":{"uri":"src/a%20b.c","uriBaseId":"%SRCROOT%"},"region":{"startLine":7}}}],
        "relatedLocations":[
          {"message":{"text":"allocated by xmalloc"},"physicalLocation":{
            "artifactLocation":{"uri":"src/x.c"},"region":{"startLine":3}}},
          {"message":{"text":"lost here"},"physicalLocation":{
            "artifactLocation":{"uri":"file:///p/src/y.c"},"region":{"startLine":9}}}]}]}]}"#;

    #[test]
    fn results_are_read_with_their_losing_points() {
        let expected = Reported {
            file: "src/a b.c".into(),
            line: 7,
            rule: "D003".into(),
            lost_lines: vec![SourceLine {
                file: "/p/src/y.c".into(),
                line: 9,
            }],
        };
        assert_eq!(reported_from_sarif(LOG).unwrap(), [expected]);
    }

    #[test]
    fn broken_sarif_is_an_error() {
        for text in [
            "",
            "{}",
            r#"{"runs":[{}]}"#,
            r#"{"runs":[{"results":[{"ruleId":"D001"}]}]}"#,
            &LOG.replace("\"ruleId\":\"D003\",", ""),
            &LOG.replace("\"startLine\":9", "\"startColumn\":9"),
        ] {
            assert!(reported_from_sarif(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percent_signs_that_escape_nothing_stay() {
        assert_eq!(path_of_uri("a%zz%4"), Path::new("a%zz%4"));
        assert_eq!(path_of_uri("%C3%A9.c"), Path::new("é.c"));
    }
}

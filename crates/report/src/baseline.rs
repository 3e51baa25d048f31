//! Findings that were accepted: a text file of fingerprints, sorted, made to be reviewed in a diff.
//!
//! ```text
//! # drip baseline 1
//! 0123456789ab D002 src/config.c parse_line
//! ```
//! Only the id counts for matching; the rest tells people what it is. An id that stands twice accepts two findings.

use crate::Paths;
use drip_engines::Finding;
use std::collections::BTreeMap;

const HEADER: &str = "# drip baseline 1";

/// Why a text is not a baseline.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    #[error("it does not begin with `{HEADER}`: not a baseline, or one of another version of drip")]
    Header,
    #[error("line {0}: expected an id of 12 or more hexadecimal digits")]
    Line(usize),
}

/// Accepted findings: how many of each id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    ids: BTreeMap<String, usize>,
}

impl Baseline {
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line.trim()) != Some(HEADER) {
            return Err(BaselineError::Header);
        }
        let mut ids = BTreeMap::new();
        for (index, line) in lines {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let id = line.split_whitespace().next().unwrap_or_default();
            if id.len() < 12 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(BaselineError::Line(index + 1));
            }
            *ids.entry(id.to_owned()).or_insert(0) += 1;
        }
        Ok(Baseline { ids })
    }

    pub fn len(&self) -> usize {
        self.ids.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    /// Takes one acceptance of this id; false if there is none left.
    pub fn take(&mut self, id: &str) -> bool {
        match self.ids.get_mut(id) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// The baseline that accepts these findings.
pub fn render<'f>(findings: impl IntoIterator<Item = &'f Finding>, paths: &Paths) -> String {
    let mut lines: Vec<String> = findings
        .into_iter()
        .map(|finding| {
            let file = paths.show(&finding.primary.file);
            let (rule, function) = (finding.rule.code(), &finding.primary.function);
            format!("{} {rule} {file} {function}", finding.id)
        })
        .collect();
    lines.sort();
    let mut text = format!("{HEADER}\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_accepts_one_finding() {
        let text =
            format!("{HEADER}\n\n# a comment\n0123456789ab D001 a.c f\n0123456789ab D001 a.c f\n");
        let mut baseline = Baseline::parse(&text).unwrap();
        assert_eq!(baseline.len(), 2);
        assert!(baseline.take("0123456789ab"));
        assert!(baseline.take("0123456789ab"));
        assert!(!baseline.take("0123456789ab"));
        assert!(!baseline.take("ffffffffffff"));
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(Baseline::parse(""), Err(BaselineError::Header));
        assert_eq!(Baseline::parse("{}"), Err(BaselineError::Header));
        let text = format!("{HEADER}\nnonsense\n");
        assert_eq!(Baseline::parse(&text), Err(BaselineError::Line(2)));
    }
}

//! Which findings touch changed lines? Reads `git diff -U0` and keeps findings whose primary place, path, allocation chain
//! or losing points lie on added or changed lines.
//!
//! A hunk that only removes lines counts for the two lines around the gap: removing a `free` is a change of the function that
//! had it, though no line of it is new.

use drip_engines::{Finding, SourcePos};
use std::collections::BTreeMap;

/// Changed line ranges (first, last) by absolute file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<String, Vec<(u32, u32)>>,
}

impl Changes {
    /// `root` is the work tree's top directory, which the names in the diff are relative to.
    pub fn parse(diff: &str, root: &str) -> Self {
        let mut files: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        let mut current: Option<String> = None;
        let mut skip = 0usize;
        for line in diff.lines() {
            // Lines of a hunk may look like headers ("+++ x" as an added line "++ x").
            if skip > 0 {
                skip -= 1;
            } else if let Some(name) = line.strip_prefix("+++ ") {
                let name = unquote(name.trim_end());
                let name = name.strip_prefix("b/").map(str::to_owned);
                current = name.map(|n| format!("{}/{n}", root.trim_end_matches('/')));
            } else if line.starts_with("@@ ")
                && let Some((removed, (start, count))) = hunk(line)
            {
                skip = removed + count as usize;
                if let Some(file) = &current {
                    let range = match count {
                        0 => (start, start.saturating_add(1)),
                        _ => (start, start.saturating_add(count - 1)),
                    };
                    files.entry(file.clone()).or_default().push(range);
                }
            }
        }
        Changes { files }
    }

    /// All of a file counts as changed, as for one that git does not know yet.
    pub fn add_whole_file(&mut self, file: String) {
        self.files.insert(file, vec![(0, u32::MAX)]);
    }

    pub fn touches(&self, finding: &Finding) -> bool {
        let links = finding.allocation.iter().map(|link| &link.at);
        let lost = finding.lost.iter().map(|point| &point.at);
        let steps = finding.path.iter().map(|step| &step.at);
        std::iter::once(&finding.primary)
            .chain(links)
            .chain(lost)
            .chain(steps)
            .any(|at| self.contains(at))
    }

    fn contains(&self, at: &SourcePos) -> bool {
        let ranges = self.files.get(&at.file).into_iter().flatten();
        ranges
            .into_iter()
            .any(|&(first, last)| first <= at.line && at.line <= last)
    }
}

/// `@@ -a,b +c,d @@` → (b, (c, d)).
fn hunk(line: &str) -> Option<(usize, (u32, u32))> {
    let mut words = line.split(' ').skip(1);
    let (_, removed) = range(words.next()?.strip_prefix('-')?)?;
    let added = range(words.next()?.strip_prefix('+')?)?;
    Some((removed as usize, added))
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// git writes unusual names in double quotes with C escapes.
fn unquote(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(first @ b'0'..=b'7') => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    if let Some(digit @ b'0'..=b'7') = rest.peek().copied() {
                        value = value * 8 + u32::from(digit - b'0');
                        rest.next();
                    }
                }
                bytes.push(value as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, line: u32) -> SourcePos {
        SourcePos {
            file: file.to_owned(),
            line,
            ..SourcePos::default()
        }
    }

    #[test]
    fn hunks_become_line_ranges() {
        let diff = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n\
            @@ -3 +3,2 @@ int f\n-old\n+++ b/nasty.c\n+new\n\
            @@ -10,2 +11,0 @@\n-x\n-y\n\
            diff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n\
            --- \"a/\\303\\251.c\"\n+++ \"b/\\303\\251.c\"\n@@ -0,0 +1 @@\n+n\n";
        let changes = Changes::parse(diff, "/w/");
        let touched = |file, lines: &[u32]| -> Vec<u32> {
            lines
                .iter()
                .copied()
                .filter(|&l| changes.contains(&at(file, l)))
                .collect()
        };
        assert_eq!(
            touched("/w/a.c", &[1, 2, 3, 4, 5, 10, 11, 12, 13]),
            [3, 4, 11, 12]
        );
        assert_eq!(touched("/w/é.c", &[1, 2]), [1]);
        assert_eq!(touched("/w/nasty.c", &[0, 1, 2, 3, 4]), [0u32; 0]);
        assert_eq!(touched("/w/gone.c", &[0, 1]), [0u32; 0]);
    }
}

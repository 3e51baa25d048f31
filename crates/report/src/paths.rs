//! How are file names shown? Relative to the directory the command was run in where they lie below it, absolute elsewhere.

use std::collections::HashSet;

use drip_engines::{Analysis, SourcePos};

/// The directory that paths are shown relative to.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    root: Option<String>,
}

impl Paths {
    /// `root` is an absolute directory.
    pub fn relative_to(root: impl Into<String>) -> Self {
        let mut root: String = root.into();
        while root.ends_with('/') {
            root.pop();
        }
        Paths { root: Some(root) }
    }

    /// The path below the root, if it lies there.
    fn below<'f>(&self, file: &'f str) -> Option<&'f str> {
        let rest = file.strip_prefix(self.root.as_deref()?)?;
        rest.strip_prefix('/').filter(|rest| !rest.is_empty())
    }

    /// The shortest name that is right in the current directory.
    pub fn show(&self, file: &str) -> String {
        if file.is_empty() {
            return "<unknown file>".to_owned();
        }
        let normal = normalise(file);
        self.below(&normal).unwrap_or(&normal).to_owned()
    }

    /// URI reference of a file, and whether it is relative to the source root.
    pub(crate) fn uri(&self, file: &str) -> (String, bool) {
        let normal = normalise(file);
        match self.below(&normal) {
            Some(rest) => (encode(rest), true),
            None if normal.starts_with('/') => (format!("file://{}", encode(&normal)), false),
            None => (encode(&normal), true),
        }
    }

    /// The last part of the root's name: what people call the project.
    pub(crate) fn project(&self) -> &str {
        let root = self.root.as_deref().unwrap_or_default();
        root.rsplit('/')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or("this program")
    }

    /// URI of the root directory, with the slash at the end that SARIF asks for.
    pub(crate) fn root_uri(&self) -> Option<String> {
        self.root
            .as_ref()
            .map(|root| format!("file://{}/", encode(root)))
    }
}

/// Gives every file one name in the whole result.
pub fn normalise_files(analysis: &mut Analysis) {
    fn fix(at: &mut SourcePos) {
        if at.file.contains("./") || at.file.contains("//") {
            at.file = normalise(&at.file);
        }
    }
    for finding in &mut analysis.findings {
        fix(&mut finding.primary);
        finding.allocation.iter_mut().for_each(|l| fix(&mut l.at));
        finding.lost.iter_mut().for_each(|l| fix(&mut l.at));
        finding.path.iter_mut().for_each(|s| fix(&mut s.at));
    }
    analysis.ledger.iter_mut().for_each(|e| fix(&mut e.at));
    // A source that two units read by different names is one place to mend.
    let mut seen: HashSet<(SourcePos, String)> = HashSet::new();
    analysis
        .findings
        .retain(|f| seen.insert((f.primary.clone(), f.id.clone())));
}

/// `a/./b/../c` → `a/c`. Purely textual: debug information holds such paths, and the same file must have one name.
pub fn normalise(file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if file.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if file.starts_with('/') {
        format!("/{joined}")
    } else {
        joined
    }
}

/// Percent-encodes all but the unreserved characters and slashes.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/+".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_root_are_relative() {
        let paths = Paths::relative_to("/home/me/project/");
        assert_eq!(paths.show("/home/me/project/src/a.c"), "src/a.c");
        assert_eq!(
            paths.show("/home/me/project2/src/a.c"),
            "/home/me/project2/src/a.c"
        );
        assert_eq!(paths.show("/home/me/project/b/../src/./a.c"), "src/a.c");
        assert_eq!(paths.show("../x.c"), "../x.c");
        assert_eq!(paths.show(""), "<unknown file>");
        assert_eq!(Paths::relative_to("/").show("/tmp/a.c"), "tmp/a.c");
    }

    #[test]
    fn uris_are_encoded() {
        let paths = Paths::relative_to("/p");
        assert_eq!(paths.uri("/p/a b#.c"), ("a%20b%23.c".to_owned(), true));
        assert_eq!(
            paths.uri("/usr/é.h"),
            ("file:///usr/%C3%A9.h".to_owned(), false)
        );
        assert_eq!(paths.root_uri().as_deref(), Some("file:///p/"));
    }
}

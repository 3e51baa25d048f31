//! Which lines changed since a git revision?

use anyhow::{Context, bail};
use drip_report::since::Changes;
use std::process::Command;

pub fn changes_since(reference: &str) -> anyhow::Result<Changes> {
    if reference.starts_with('-') {
        bail!("`{reference}` is no git revision");
    }
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let root = root.trim_end();
    let diff = git(&[
        "diff",
        "-U0",
        "--no-color",
        "--no-ext-diff",
        "--no-renames",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        reference,
        "--",
    ])?;
    let mut changes = Changes::parse(&diff, root);
    let new = git(&[
        "-C",
        root,
        "ls-files",
        "-z",
        "--others",
        "--exclude-standard",
    ])?;
    for name in new.split('\0').filter(|name| !name.is_empty()) {
        changes.add_whole_file(format!("{root}/{name}"));
    }
    Ok(changes)
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git")
        .args(arguments)
        .output()
        .context("cannot run git, which --since needs")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", arguments.join(" "), said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

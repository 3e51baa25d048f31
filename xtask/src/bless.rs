//! `cargo xtask bless`: accept what the tests produce now.
//!
//! Snapshots (insta) are rewritten. In the corpus only improvements are accepted by themselves: a known
//! miss that is found now becomes a plain `LEAK`, a known false alarm that is gone loses its mark. A
//! new miss or false alarm needs a person who writes down why.

use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Tells the corpus runner of `drip-test-utils` to rewrite marks.
const BLESS_CORPUS: &str = "DRIP_BLESS";

/// Runs `cargo test` twice: once to accept, once to prove that what was accepted is stable.
pub fn run(root: &Path, cargo_args: &[String]) -> anyhow::Result<bool> {
    let scope: &[String] = if cargo_args.is_empty() {
        &["--workspace".to_owned()]
    } else {
        cargo_args
    };
    let test = |accept: bool| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(root).arg("test").arg("--no-fail-fast");
        command.args(scope);
        if accept {
            command.env("INSTA_UPDATE", "always").env(BLESS_CORPUS, "1");
        } else {
            command.env("INSTA_UPDATE", "no").env_remove(BLESS_CORPUS);
        }
        command.status().context("cannot run cargo test")
    };
    test(true)?;
    println!("bless: accepted; now the same tests without accepting");
    let stable = test(false)?.success();
    println!("bless: look at the difference before you commit: git diff");
    Ok(stable)
}

//! `drip capture`: collect bitcode without analysing it.

use crate::args::CaptureArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use crate::{inputs, output, stop};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::Path;

pub fn run(args: &CaptureArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let config = inputs::read_config(&args.input)?;
    stop::watch_for_interrupts();
    let collected = inputs::capture(&args.input, &config, ui)?;
    let captured = &collected.captured;
    if captured.units.is_empty() && !captured.cancelled {
        bail!("nothing was captured");
    }
    if let Some(dir) = &args.output {
        copy_all(captured, dir)?;
    }
    let total = captured.units.len() + captured.failures.len();
    if !ui.is_quiet() {
        output::print(&format!(
            "{} of {total} files captured ({} compiled, {} from the cache)\n",
            captured.units.len(),
            captured.statistics.compiled,
            captured.statistics.from_cache
        ))?;
    }
    let incomplete = captured.cancelled || collected.build_failed || !captured.failures.is_empty();
    Ok(if incomplete {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// `a.c` becomes `a.bc`, a second one `a-2.bc`.
fn copy_all(captured: &drip_capture::Captured, dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for unit in &captured.units {
        let stem = unit
            .source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let count = used.entry(stem.to_string()).or_insert(0);
        *count += 1;
        let name = match *count {
            1 => format!("{stem}.bc"),
            n => format!("{stem}-{n}.bc"),
        };
        let target = dir.join(name);
        let temporary = dir.join(format!(".{}.tmp", std::process::id()));
        std::fs::copy(&unit.bitcode, &temporary)
            .and_then(|_| std::fs::rename(&temporary, &target))
            .with_context(|| format!("cannot write {}", target.display()))?;
    }
    Ok(())
}

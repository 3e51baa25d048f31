//! `drip doctor`: what a capture would use on this machine, and what to install.

use crate::args::DoctorArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::output;
use crate::ui::Ui;
use drip_capture::doctor::{Doctor, examine};
use drip_capture::{LastCapture, Options};
use std::collections::BTreeMap;

pub fn run(args: &DoctorArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let config = Config::find(None, false)?;
    let options = Options {
        clang: args.clang.clone(),
        config_clang: config.clang.clone(),
        ..Options::default()
    };
    let doctor = examine(&options);
    let mut text = format!("drip           {}\n", env!("CARGO_PKG_VERSION"));
    text.push_str(&match &config.file {
        Some(file) => format!("configuration  {}\n", file.display()),
        None => "configuration  none (drip init writes one)\n".to_owned(),
    });
    text.push_str(&describe(&doctor, ui.verbose));
    output::print(&text)?;
    Ok(if doctor.clang.is_ok() {
        Exit::Clean
    } else {
        Exit::Failure
    })
}

fn describe(doctor: &Doctor, verbose: bool) -> String {
    let mut out = match &doctor.clang {
        Ok(clang) => format!(
            "clang          {} ({}, found by {})\n",
            clang.path.display(),
            clang.version,
            clang.found_by
        ),
        Err(error) => format!("clang          missing: {error}\n"),
    };
    let place = doctor
        .cache_dir
        .as_ref()
        .map_or("none".to_owned(), |d| d.display().to_string());
    let megabytes = doctor.cache_use.bytes >> 20;
    out.push_str(&format!(
        "cache          {place} ({} files, {megabytes} MB)\n",
        doctor.cache_use.files
    ));
    if let Some(problem) = &doctor.cache_problem {
        out.push_str(&format!("               can't be written to: {problem}\n"));
    }
    out.push_str(&match &doctor.bear {
        Some(bear) => format!("bear           {}\n", bear.display()),
        None => {
            "bear           not installed (only needed if a build hides its compiler)\n".to_owned()
        }
    });
    out.push_str(&format!(
        "wrapped        {}\n",
        doctor.wrapped_compilers.join(" ")
    ));
    if let Some(last) = &doctor.last_capture {
        out.push_str(&format!(
            "last capture   {} files, {} failed, {} with flags dropped that clang does not know or need\n",
            last.units,
            last.failed.len(),
            last.dropped.len()
        ));
        for failed in &last.failed {
            out.push_str(&format!("               failed: {}\n", failed.display()));
        }
        for (flag, files) in by_flag(last) {
            out.push_str(&format!("               dropped: {flag} ({files})\n"));
        }
        for (source, flags) in last.dropped.iter().filter(|_| verbose) {
            out.push_str(&format!(
                "               {}: {}\n",
                source.display(),
                flags.join(" ")
            ));
        }
    }
    out
}

/// Every dropped flag with the number of files it was dropped from.
fn by_flag(last: &LastCapture) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for flag in last.dropped.iter().flat_map(|(_, flags)| flags) {
        *counts.entry(flag.as_str()).or_insert(0) += 1;
    }
    counts
}

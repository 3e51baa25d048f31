//! Growth curves: how do time and memory of the analysis grow with one parameter of a program?
//!
//! Generated C programs, doubled in one parameter at a time, are compiled as drip's capture does and analysed with one
//! thread. User CPU counts, the least of some runs (noise only adds); what an empty program takes is subtracted. The
//! exponent is the slope of the least-squares line through the logarithms, over the points that stand out from the empty
//! program; 1 is linear.

mod generate;

use super::measure::{End, Figures, Limits, limited, once};
use super::results::{GrowthCurve, GrowthPoint};
use anyhow::{Context, ensure};
use generate::Parameter;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs of each program; the least counts.
const RUNS: usize = 3;
const LIMITS: Limits = Limits {
    cpu: Duration::from_secs(60),
    memory_mb: 8192,
};
/// A point counts for the fit if it takes this much more than an empty program.
const LEAST_SECONDS: f64 = 0.02;
const LEAST_MEGABYTES: f64 = 1.0;
/// Fewer points than this have no slope worth telling.
const LEAST_POINTS: usize = 3;

/// Measures all parameters; a short run takes fewer and smaller programs.
pub fn measure(drip: &Path, work: &Path, quick: bool) -> anyhow::Result<Vec<GrowthCurve>> {
    let work = work.join("growth");
    fs::create_dir_all(&work).with_context(|| format!("cannot make {work:?}"))?;
    let empty = analyse(
        drip,
        &bitcode(&work, "empty", "int main(void) { return 0; }\n")?,
        &work,
    )?
    .context("an empty program could not be analysed")?;
    let mut curves = Vec::new();
    for parameter in Parameter::ALL {
        let mut points = Vec::new();
        for n in parameter.values(quick) {
            let name = format!("{}-{n}", parameter.name().replace(' ', "-"));
            let file = bitcode(&work, &name, &parameter.program(n))?;
            let figures = analyse(drip, &file, &work)?;
            let shown = figures.map_or("no end".to_owned(), |f| {
                format!("{:.2} s, {:.0} MB", f.user_s, f.peak_mb)
            });
            eprintln!("bench:   {} {n}: {shown}", parameter.name());
            points.push(GrowthPoint { n, figures });
            // A larger one would take longer still.
            if figures.is_none() {
                break;
            }
        }
        curves.push(curve(parameter.name(), points, empty));
    }
    Ok(curves)
}

fn curve(parameter: &str, points: Vec<GrowthPoint>, empty: Figures) -> GrowthCurve {
    let above = |of: fn(&Figures) -> f64, least: f64| {
        let measured = points
            .iter()
            .filter_map(|p| p.figures.map(|f| (p.n as f64, of(&f) - of(&empty))));
        slope(
            &measured
                .filter(|(_, more)| *more >= least)
                .collect::<Vec<_>>(),
        )
    };
    GrowthCurve {
        parameter: parameter.to_owned(),
        time_exponent: above(|f| f.user_s, LEAST_SECONDS),
        memory_exponent: above(|f| f.peak_mb, LEAST_MEGABYTES),
        points,
    }
}

/// Slope of log y over log x by least squares.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < LEAST_POINTS {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

/// Compiles a program with the flags of drip's capture.
fn bitcode(work: &Path, name: &str, source: &str) -> anyhow::Result<PathBuf> {
    let (c, bc) = (
        work.join(format!("{name}.c")),
        work.join(format!("{name}.bc")),
    );
    fs::write(&c, source).with_context(|| format!("cannot write {c:?}"))?;
    let mut clang = Command::new("clang-19");
    clang
        .args(super::frontend::CAPTURE_FLAGS)
        .args(["-w", "-emit-llvm", "-c", "-o"]);
    let status = clang
        .arg(&bc)
        .arg(&c)
        .status()
        .context("cannot run clang-19")?;
    ensure!(status.success(), "clang-19 refuses {c:?}");
    Ok(bc)
}

/// The least time and memory of some runs; none if the analysis does not end within the limits.
fn analyse(drip: &Path, file: &Path, work: &Path) -> anyhow::Result<Option<Figures>> {
    let mut least: Option<Figures> = None;
    for _ in 0..RUNS {
        let mut command = limited(drip, LIMITS);
        command.args([
            "--quiet",
            "check",
            "--no-config",
            "--exit-zero",
            "--jobs",
            "1",
        ]);
        command
            .args(["--output-format", "concise"])
            .arg(file)
            .current_dir(work);
        let (figures, end) = once(&mut command, &work.join("out"), &work.join("err"))?;
        if end != End::Code(0) {
            return Ok(None);
        }
        least = Some(least.map_or(figures, |least| Figures {
            user_s: least.user_s.min(figures.user_s),
            wall_s: least.wall_s.min(figures.wall_s),
            peak_mb: least.peak_mb.min(figures.peak_mb),
        }));
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_exponent() {
        let points: Vec<(f64, f64)> = [1.0f64, 2.0, 4.0, 8.0]
            .map(|x| (x, 3.0 * x.powf(1.5)))
            .to_vec();
        assert!((slope(&points).unwrap() - 1.5).abs() < 1e-9);
        assert_eq!(slope(&points[..2]), None);
    }
}

//! SVG plots of the results: time, memory and ratio to compile time against the size of the program, growth curves.

use super::results::Results;
use anyhow::anyhow;
use plotters::prelude::*;
use std::path::Path;

/// One line of a plot.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

struct Plot<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    series: Vec<Series>,
}

const SIZE: (u32, u32) = (760, 460);
/// Okabe and Ito's palette, which the colour-blind can tell apart.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(140, 140, 140),
];
/// Room around the points, as a factor on logarithmic axes.
const MARGIN: f64 = 1.4;

/// Writes all plots into a directory.
pub fn write(results: &Results, directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)?;
    let size = "size of the program, kLOC";
    let by_tool = |of: fn(&super::results::ToolRow) -> f64| {
        let mut series = tools(results, of);
        series.retain(|s| !s.points.is_empty());
        series
    };
    let mut time = by_tool(total_seconds);
    time.push(Series {
        name: "clang -g -O0 -c".to_owned(),
        points: results
            .programs
            .iter()
            .map(|p| (p.kloc, p.compile.user_s))
            .collect(),
    });
    let plots = [
        (
            "bench-time.svg",
            "Time (drip with capture)",
            size,
            "user CPU, s",
            time,
        ),
        (
            "bench-memory.svg",
            "Memory",
            size,
            "peak, MB",
            by_tool(|tool| tool.figures.peak_mb),
        ),
        (
            "bench-ratio.svg",
            "Time relative to compiling (drip with capture)",
            size,
            "user CPU / that of clang -g -O0 -c",
            by_tool(|tool| {
                tool.drip
                    .as_ref()
                    .map_or(tool.ratio, |d| d.ratio_with_capture)
            }),
        ),
        (
            "bench-growth.svg",
            "Growth of time, generated programs",
            "parameter",
            "user CPU, s",
            growth(results),
        ),
    ];
    for (file, title, x, y, series) in plots {
        let plot = Plot {
            title,
            x,
            y,
            series,
        };
        draw(&plot, &directory.join(file)).map_err(|error| anyhow!("{file}: {error}"))?;
    }
    Ok(())
}

fn total_seconds(tool: &super::results::ToolRow) -> f64 {
    tool.figures.user_s + tool.drip.as_ref().map_or(0.0, |d| d.capture.user_s)
}

/// One line per tool over the programs that it got through.
fn tools(results: &Results, of: fn(&super::results::ToolRow) -> f64) -> Vec<Series> {
    super::render::tool_names(results)
        .into_iter()
        .map(|name| {
            let row = |p: &super::results::ProgramRow| {
                let tool = p.tools.iter().find(|t| t.tool == name && t.is_complete())?;
                Some((p.kloc, of(tool)))
            };
            Series {
                points: results.programs.iter().filter_map(row).collect(),
                name,
            }
        })
        .collect()
}

fn growth(results: &Results) -> Vec<Series> {
    let curves = results.growth.iter().map(|curve| Series {
        name: curve.parameter.clone(),
        points: curve
            .points
            .iter()
            .filter_map(|p| p.figures.map(|f| (p.n as f64, f.user_s)))
            .collect(),
    });
    curves.collect()
}

/// Range of positive values with some room; a default one if there are none.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for value in values.filter(|v| *v > 0.0) {
        (least, most) = (least.min(value), most.max(value));
    }
    match most > 0.0 {
        true => least / MARGIN..most * MARGIN,
        false => 1.0..10.0,
    }
}

fn draw(plot: &Plot<'_>, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let points = || plot.series.iter().flat_map(|s| s.points.iter());
    let (xs, ys) = (range(points().map(|p| p.0)), range(points().map(|p| p.1)));
    let mut chart = ChartBuilder::on(&root)
        .caption(plot.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(xs.log_scale(), ys.log_scale())?;
    chart
        .configure_mesh()
        .x_desc(plot.x)
        .y_desc(plot.y)
        .light_line_style(WHITE)
        .label_style(("sans-serif", 12))
        .draw()?;
    for (series, color) in plot.series.iter().zip(COLORS.iter().cycle()) {
        let mut points: Vec<(f64, f64)> = series
            .points
            .iter()
            .copied()
            .filter(|p| p.1 > 0.0)
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let color = *color;
        chart
            .draw_series(LineSeries::new(
                points.iter().copied(),
                color.stroke_width(1),
            ))?
            .label(&series.name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 10, y + 4)], color.filled()));
        chart.draw_series(points.iter().map(|&p| Circle::new(p, 3, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 12))
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::{GrowthCurve, GrowthPoint};

    #[test]
    fn plots_hold_their_series() {
        let mut results = Results::default();
        let point = |n: usize| GrowthPoint {
            n,
            figures: Some(crate::bench::measure::Figures {
                user_s: n as f64,
                ..Default::default()
            }),
        };
        results.growth.push(GrowthCurve {
            parameter: "loops of a kind".to_owned(),
            points: vec![point(1), point(2), point(4)],
            ..GrowthCurve::default()
        });
        let dir = tempfile::tempdir().unwrap();
        write(&results, dir.path()).unwrap();
        let svg = std::fs::read_to_string(dir.path().join("bench-growth.svg")).unwrap();
        assert!(svg.contains("loops of a kind"));
        assert_eq!(svg.matches("<circle").count(), 3);
    }
}

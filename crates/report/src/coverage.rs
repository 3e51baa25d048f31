//! How much of the program does a result speak for? The one line that every run ends with.
//!
//! "0 leaks" means nothing without it: it says how many files were read, how many functions hit a limit and how many
//! allocation sites remained undecided.

use drip_engines::{Analysis, Verdict};

/// What was covered, beside what the analysis itself counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub files_read: usize,
    pub files_total: usize,
    pub functions: usize,
    pub functions_limited: usize,
    /// Functions followed to the end, but without some of the conditions or with some of their paths joined.
    pub functions_coarse: usize,
    /// Functions whose bitcode could not be read.
    pub functions_unreadable: usize,
    pub seconds_tenths: u64,
    /// The watched build failed: files may be missing that nobody knows of.
    pub build_failed: bool,
    /// Why the run ended early: interrupt, time, memory.
    pub stopped: Option<String>,
    /// Findings that the analysis made and that are not shown, by reason.
    pub suppressed: usize,
    pub in_baseline: usize,
    pub untouched: usize,
    pub deselected: usize,
}

impl Coverage {
    /// Some file or function is missing from the result.
    pub fn is_incomplete(&self) -> bool {
        self.files_read < self.files_total
            || self.functions_unreadable > 0
            || self.build_failed
            || self.stopped.is_some()
    }
}

/// Allocation sites by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub sites: usize,
    /// Freed, handed over, escaped or held until the end: somebody else's to free, or freed.
    pub settled: usize,
    /// Of those: held by `main` until it returns.
    pub held: usize,
    pub undecided: usize,
    pub leaking: usize,
    pub unreachable: usize,
}

impl Tally {
    pub fn of(analysis: &Analysis) -> Self {
        let mut tally = Tally::default();
        for entry in &analysis.ledger {
            tally.sites += 1;
            tally.held += usize::from(entry.verdict == Verdict::HeldAtEnd);
            let counter = match entry.verdict {
                Verdict::Freed | Verdict::HandedOver | Verdict::Escaped | Verdict::HeldAtEnd => {
                    &mut tally.settled
                }
                Verdict::Undecided | Verdict::GivenUp => &mut tally.undecided,
                Verdict::Leak => &mut tally.leaking,
                Verdict::Unreachable => &mut tally.unreachable,
            };
            *counter += 1;
        }
        tally
    }
}

/// `3 leaks in 412 functions (1,204 allocation sites: …); 57 of 57 files read, 2 functions hit a limit; 0.8 s`.
pub fn coverage_line(analysis: &Analysis, coverage: &Coverage) -> String {
    let tally = Tally::of(analysis);
    let freed = tally.settled - tally.held;
    let mut sites = vec![format!("{} freed or handed over", thousands(freed))];
    if tally.held > 0 {
        sites.push(format!("{} held until `main` ends", thousands(tally.held)));
    }
    sites.push(format!("{} undecided", thousands(tally.undecided)));
    if tally.unreachable > 0 {
        sites.push(format!("{} unreachable", thousands(tally.unreachable)));
    }
    sites.push(counted(tally.leaking, "leak"));
    let mut line = format!(
        "{} in {} ({}: {}); {} of {} read, {} hit a limit; {}.{} s",
        counted(analysis.findings.len(), "leak"),
        counted(coverage.functions, "function"),
        counted(tally.sites, "allocation site"),
        sites.join(", "),
        thousands(coverage.files_read),
        counted(coverage.files_total, "file"),
        counted(coverage.functions_limited, "function"),
        coverage.seconds_tenths / 10,
        coverage.seconds_tenths % 10,
    );
    let functions = [
        (coverage.functions_coarse, "followed coarsely"),
        (coverage.functions_unreadable, "could not be read"),
    ];
    for (count, what) in functions.into_iter().filter(|(count, _)| *count > 0) {
        line.push_str(&format!("; {} {what}", counted(count, "function")));
    }
    let hidden = [
        (coverage.suppressed, "suppressed by comments"),
        (coverage.in_baseline, "in the baseline"),
        (coverage.untouched, "outside of the changed lines"),
        (coverage.deselected, "of low confidence or not selected"),
    ];
    for (count, reason) in hidden.into_iter().filter(|(count, _)| *count > 0) {
        line.push_str(&format!("; {} {reason}", thousands(count)));
    }
    if coverage.build_failed {
        line.push_str("; the build failed");
    }
    if let Some(reason) = &coverage.stopped {
        line.push_str(&format!("; stopped early: {reason}"));
    }
    line
}

fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// `1204` → `1,204`.
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(count), text);
        }
    }

    #[test]
    fn the_line_tells_what_is_missing() {
        let coverage = Coverage {
            files_read: 1,
            files_total: 2,
            functions: 1,
            suppressed: 2,
            stopped: Some("interrupted".to_owned()),
            seconds_tenths: 12,
            ..Coverage::default()
        };
        assert!(coverage.is_incomplete());
        assert_eq!(
            coverage_line(&Analysis::default(), &coverage),
            "0 leaks in 1 function (0 allocation sites: 0 freed or handed over, 0 undecided, 0 leaks); \
             1 of 2 files read, 0 functions hit a limit; 1.2 s; 2 suppressed by comments; stopped early: interrupted"
        );
    }
}

//! Every format on one small result made by hand: two findings, one of them across two files.

use drip_engines::{
    AllocationLink, Analysis, Confidence, Finding, LedgerEntry, LostPoint, Rule, SourcePos, Step,
    StepKind, Verdict,
};
use drip_report::{
    Coverage, Document, FullOptions, LedgerFilter, NoSources, Paths, Report, Sources,
};
use serde_json::Value;
use std::sync::Arc;

const CONFIG_C: &str = "#include \"mem.h\"

static bool parse_line(struct config *config, const char *line)
{
    char *key = mem_dup(line);
    if (*value == '\\0') {
        return false;
    }
    mem_free(key);
    return true;
}
";

const MEM_C: &str = "char *mem_dup(const char *text)
{
\treturn strdup(text);
}
";

struct Texts;

impl Sources for Texts {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        match file {
            "/project/src/config.c" => Some(CONFIG_C.into()),
            "/project/src/mem.c" => Some(MEM_C.into()),
            _ => None,
        }
    }
}

fn at(file: &str, line: u32, column: u32, function: &str) -> SourcePos {
    SourcePos {
        file: file.to_owned(),
        line,
        column,
        function: function.to_owned(),
    }
}

fn step(kind: StepKind, at: SourcePos, text: &str) -> Step {
    Step {
        kind,
        at,
        text: text.to_owned(),
    }
}

fn across_files() -> Finding {
    let config = |line, column| at("/project/src/config.c", line, column, "parse_line");
    let lost = "lost: the function returns and `key` goes out of scope";
    Finding {
        id: "0123456789ab".to_owned(),
        rule: Rule::D002,
        confidence: Confidence::High,
        primary: config(5, 17),
        variable: Some("key".to_owned()),
        message: "`key` allocated by `mem_dup` is not freed on some path".to_owned(),
        allocation: vec![
            AllocationLink {
                at: config(5, 17),
                callee: "mem_dup".to_owned(),
            },
            AllocationLink {
                at: at("/project/src/mem.c", 3, 9, "mem_dup"),
                callee: "strdup".to_owned(),
            },
        ],
        lost: vec![LostPoint {
            at: config(7, 9),
            text: lost.to_owned(),
        }],
        path: vec![
            step(
                StepKind::Allocation,
                config(5, 17),
                "allocated here by `mem_dup`",
            ),
            step(StepKind::Branch, config(6, 9), "taken when `*value == 0`"),
            step(StepKind::Lost, config(7, 9), lost),
        ],
        condition: Some("when `*value == 0`".to_owned()),
        family: "malloc".to_owned(),
    }
}

/// Its source cannot be had, and the losing point has no "lost" in front.
fn without_source() -> Finding {
    let gone = |line| at("/usr/src/gone & lost.cc", line, 3, "Widget::~Widget()");
    Finding {
        id: "ba9876543210".to_owned(),
        rule: Rule::D004,
        confidence: Confidence::Medium,
        primary: gone(40),
        variable: None,
        message: "memory allocated by `operator new` is lost: its owner is freed".to_owned(),
        allocation: vec![AllocationLink {
            at: gone(40),
            callee: "operator new".to_owned(),
        }],
        lost: vec![LostPoint {
            at: gone(44),
            text: "the owner is freed".to_owned(),
        }],
        path: vec![],
        condition: None,
        family: "new".to_owned(),
    }
}

fn analysis() -> Analysis {
    let entry = |line, verdict, reason: &str| LedgerEntry {
        at: at("/project/src/config.c", line, 17, "parse_line"),
        callee: "mem_dup".to_owned(),
        verdict,
        reason: reason.to_owned(),
    };
    Analysis {
        findings: vec![across_files(), without_source()],
        ledger: vec![
            entry(5, Verdict::Leak, "lost on 1 of 2 paths"),
            entry(20, Verdict::Freed, ""),
            entry(30, Verdict::GivenUp, "escapes to `register`"),
        ],
        statistics: Default::default(),
    }
}

fn coverage() -> Coverage {
    Coverage {
        files_read: 2,
        files_total: 3,
        functions: 1204,
        functions_limited: 1,
        seconds_tenths: 8,
        ..Coverage::default()
    }
}

fn with_report<T>(render: impl FnOnce(&Report<'_>) -> T) -> T {
    let (analysis, coverage) = (analysis(), coverage());
    render(&Report {
        analysis: &analysis,
        coverage: &coverage,
        paths: &Paths::relative_to("/project"),
        sources: &Texts,
    })
}

#[test]
fn full() {
    let text = with_report(|report| drip_report::full(report, FullOptions::default()));
    insta::assert_snapshot!(text);
}

#[test]
fn full_in_colour_is_the_same_text() {
    let colored = FullOptions {
        color: true,
        all_events: false,
    };
    let styled = with_report(|report| drip_report::full(report, colored));
    let plain = with_report(|report| drip_report::full(report, FullOptions::default()));
    assert!(styled.contains("\x1b[") && !plain.contains('\x1b'));
    assert_eq!(without_escapes(&styled), plain);
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split("\x1b[").enumerate() {
        let rest = part.split_once('m').map(|(_, rest)| rest);
        out.push_str(if index == 0 { part } else { rest.unwrap_or("") });
    }
    out
}

#[test]
fn full_without_any_source_names_the_places() {
    let text = drip_report::full_one(
        &across_files(),
        &Paths::default(),
        &NoSources,
        FullOptions::default(),
    );
    for place in [
        "/project/src/config.c:5",
        "/project/src/config.c:7",
        "/project/src/mem.c:3",
    ] {
        assert!(text.contains(place), "{place} is not in\n{text}");
    }
}

#[test]
fn full_survives_sources_that_changed() {
    struct Short;
    impl Sources for Short {
        fn text(&self, _: &str) -> Option<Arc<str>> {
            Some("one line\nähm".into())
        }
    }
    let mut finding = across_files();
    finding.primary.line = 2;
    finding.primary.column = 3;
    let text = drip_report::full_one(&finding, &Paths::default(), &Short, FullOptions::default());
    assert!(text.contains("config.c:7"), "{text}");
}

#[test]
fn long_paths_are_cut_in_the_middle() {
    let mut finding = across_files();
    finding.path = (0..100)
        .map(|n| {
            step(
                StepKind::Branch,
                at("/none.c", 100 + n, 1, "f"),
                &format!("step {n}."),
            )
        })
        .collect();
    let text = drip_report::full_one(
        &finding,
        &Paths::default(),
        &NoSources,
        FullOptions::default(),
    );
    assert!(text.contains("more steps are not shown"), "{text}");
    assert!(
        text.contains("step 1.") && !text.contains("step 50."),
        "{text}"
    );
    let all = FullOptions {
        color: false,
        all_events: true,
    };
    let text = drip_report::full_one(&finding, &Paths::default(), &NoSources, all);
    assert!(text.contains("step 50."), "{text}");
}

#[test]
fn concise() {
    insta::assert_snapshot!(with_report(drip_report::concise));
}

#[test]
fn github() {
    insta::assert_snapshot!(with_report(drip_report::github));
}

#[test]
fn json() {
    insta::assert_snapshot!(with_report(drip_report::json));
}

#[test]
fn sarif() {
    insta::assert_snapshot!(with_report(drip_report::sarif));
}

#[test]
fn explain_finding() {
    let paths = Paths::relative_to("/project");
    let text = drip_report::explain_finding(&across_files(), &paths, &Texts, false);
    insta::assert_snapshot!(text);
}

#[test]
fn explain_rule() {
    insta::assert_snapshot!(drip_report::explain_rule(Rule::D003));
}

#[test]
fn coverage_line() {
    let line = drip_report::coverage_line(&analysis(), &coverage());
    assert_eq!(
        line,
        "2 leaks in 1,204 functions (3 allocation sites: 1 freed or handed over, 1 undecided, 1 leak); \
         2 of 3 files read, 1 function hit a limit; 0.8 s"
    );
}

#[test]
fn ledger_is_filtered() {
    let paths = Paths::relative_to("/project");
    let filter = |function: Option<&str>, verdict| LedgerFilter {
        function: function.map(str::to_owned),
        verdict,
    };
    let all = drip_report::ledger_text(&analysis(), &filter(None, None), &paths);
    insta::assert_snapshot!(all);
    let leaks = drip_report::ledger_text(&analysis(), &filter(None, Some(Verdict::Leak)), &paths);
    assert_eq!(leaks.lines().count(), 2);
    let none = drip_report::ledger_text(&analysis(), &filter(Some("main"), None), &paths);
    assert_eq!(none, "no allocation sites\n");
    let json = drip_report::ledger_json(&analysis(), &filter(Some("parse_line"), None), &paths);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["ledger"].as_array().unwrap().len(), 3);
    assert_eq!(value["ledger"][2]["verdict"], "given-up");
}

#[test]
fn the_document_reads_back() {
    let document = Document::new(&analysis(), &coverage(), true, &str::to_owned);
    let read = Document::parse(&document.to_json()).unwrap();
    assert!(read.coverage.incomplete);
    let back = read.into_analysis().unwrap();
    assert_eq!(back.findings, analysis().findings);
    assert_eq!(back.ledger, analysis().ledger);
    let other = document
        .to_json()
        .replace("\"version\": 1", "\"version\": 99");
    assert!(
        Document::parse(&other)
            .unwrap_err()
            .to_string()
            .contains("99")
    );
    assert!(Document::parse("[]").is_err());
}

#[test]
fn sarif_is_valid() {
    let empty = Analysis::default();
    let (coverage, paths) = (coverage(), Paths::default());
    let nothing = drip_report::sarif(&Report {
        analysis: &empty,
        coverage: &coverage,
        paths: &paths,
        sources: &NoSources,
    });
    for text in [with_report(drip_report::sarif), nothing] {
        let errors = drip_test_utils::sarif_schema_errors(&text).unwrap();
        assert_eq!(errors, Vec::<String>::new());
    }
}

/// What GitHub asks for beyond the schema, field by field.
#[test]
fn sarif_has_what_is_required() {
    let log: Value = serde_json::from_str(&with_report(drip_report::sarif)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[text]["text"].as_str().unwrap().is_empty());
        }
        assert!(rule["properties"]["security-severity"].is_string());
        let tags = rule["properties"]["tags"].as_array().unwrap();
        assert!(tags.contains(&"external/cwe/cwe-401".into()));
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let hash = result["partialFingerprints"]["primaryLocationLineHash"]
            .as_str()
            .unwrap();
        assert!(hash.ends_with(":1"));
        let related = result["relatedLocations"].as_array().unwrap();
        for location in related
            .iter()
            .chain(result["locations"].as_array().unwrap())
        {
            let physical = &location["physicalLocation"];
            assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
            let artifact = &physical["artifactLocation"];
            let absolute = artifact["uri"].as_str().unwrap().starts_with("file:///");
            assert_eq!(artifact.get("uriBaseId").is_none(), absolute);
        }
        let messages: Vec<&str> = related
            .iter()
            .map(|l| l["message"]["text"].as_str().unwrap())
            .collect();
        assert!(messages.iter().any(|m| m.starts_with("allocated")));
        assert!(messages.iter().any(|m| m.starts_with("lost")));
    }
    let steps = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(steps.as_array().unwrap().len(), 3);
    assert!(results[1].get("codeFlows").is_none());
}

#[test]
fn equal_ids_get_different_fingerprints() {
    let mut analysis = analysis();
    analysis.findings[1].id = analysis.findings[0].id.clone();
    let (coverage, paths) = (coverage(), Paths::default());
    let text = drip_report::sarif(&Report {
        analysis: &analysis,
        coverage: &coverage,
        paths: &paths,
        sources: &NoSources,
    });
    assert!(text.contains("0123456789ab:1") && text.contains("0123456789ab:2"));
}

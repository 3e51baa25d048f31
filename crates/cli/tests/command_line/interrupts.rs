//! Ctrl-C in each phase: a watched build, compiling, reading, analysing. Each run ends at once, says so and ends with 3.
//!
//! drip's log tells when a phase begins; the input is so large that no phase is over before the signal arrives.

use crate::common::{CLEAN, LEAK, Project, Said};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Far more than an interrupted run takes, far less than the whole work.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Functions per file and copies of the file: reading takes a noticeable time, analysing minutes.
const FUNCTIONS: usize = 1_000;
const COPIES: usize = 20;

/// A run of drip whose messages are read line by line.
struct Running {
    drip: Child,
    messages: BufReader<std::process::ChildStderr>,
    seen: String,
}

impl Running {
    fn start(project: &Project, words: &[&str]) -> Self {
        let mut drip = project
            .command(env!("CARGO_BIN_EXE_drip"), words)
            .env("DRIP_LOG", "drip=info")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("drip runs");
        let messages = BufReader::new(drip.stderr.take().expect("it is piped"));
        Running {
            drip,
            messages,
            seen: String::new(),
        }
    }

    #[track_caller]
    fn until_it_says(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            let length = self.messages.read_line(&mut line).expect("text");
            assert!(length > 0, "drip ended without {text:?}:\n{}", self.seen);
            self.seen.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    fn interrupt(&self) {
        let id = self.drip.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    /// Sends the signal and waits for the end, which must come at once.
    #[track_caller]
    fn interrupted(mut self) -> Said {
        let begin = Instant::now();
        self.interrupt();
        // Messages are few: the pipe can't fill up while standard output is read.
        let mut stdout = String::new();
        let mut pipe = self.drip.stdout.take().expect("it is piped");
        pipe.read_to_string(&mut stdout).expect("text");
        self.messages.read_to_string(&mut self.seen).expect("text");
        let status = self.drip.wait().expect("drip ends");
        assert!(begin.elapsed() < AT_ONCE, "{:?}", begin.elapsed());
        Said {
            code: status.code().unwrap_or(-1),
            stdout,
            stderr: self.seen,
        }
    }
}

fn wait_for(project: &Project, name: &str, running: &mut Running) {
    while !project.path(name).exists() {
        let ended = running.drip.try_wait().expect("drip can be waited for");
        assert!(ended.is_none(), "drip ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Many functions with a leak each, as bitcode, many times over.
fn large_program() -> Project {
    let mut text = String::from("#include <stdlib.h>\n");
    for index in 0..FUNCTIONS {
        text.push_str(&format!(
            "__attribute__((used)) static int f{index}(int n)\n{{\n    char *p = malloc(10);\n    if (!p)\n        \
             return -1;\n    for (int i = 0; i < n; i++)\n        p[i % 10] = (char)(n + {index});\n    return p[0];\n}}\n"
        ));
    }
    let project = Project::new(&[("unit.c", &text)]);
    let said = project.drip(&["capture", "-o", "units", "--", "sh", "-c", "cc -c unit.c"]);
    said.ends_with(0);
    let mut files = std::fs::read_dir(project.path("units")).expect("captured");
    let unit = files
        .find_map(|file| {
            let path = file.expect("readable").path();
            (path.extension()? == "bc").then_some(path)
        })
        .expect("one unit was captured");
    std::fs::create_dir(project.path("copies")).expect("writable");
    for copy in 0..COPIES {
        let name = format!("copies/{copy}.bc");
        std::fs::copy(&unit, project.path(&name)).expect("writable");
    }
    project
}

#[test]
fn an_interrupted_build_ends_with_3() {
    let project = Project::new(&[("leak.c", LEAK)]);
    let words = ["check", "--", "sh", "-c", "touch started; exec sleep 60"];
    let mut running = Running::start(&project, &words);
    wait_for(&project, "started", &mut running);
    let said = running.interrupted().ends_with(3);
    said.prints("stopped early: interrupted");
}

#[test]
fn an_interrupted_compile_ends_with_3_and_the_next_run_goes_on() {
    let project = Project::new(&[("clean.c", CLEAN), ("leak.c", LEAK)]);
    // The second file never ends while `hang` exists.
    project.executable(
        "clang",
        "#!/bin/sh\ncase \"$*\" in *leak.c*) if [ -e hang ]; then touch started; exec sleep 60; fi;; esac\n\
         exec REAL \"$@\"\n",
    );
    project.write("hang", "");
    let words = [
        "check", "-v", "--clang", "./clang", "--jobs", "1", "clean.c", "leak.c",
    ];
    let mut running = Running::start(&project, &words);
    wait_for(&project, "started", &mut running);
    let said = running.interrupted().ends_with(3);
    said.prints("stopped early: interrupted");
    std::fs::remove_file(project.path("hang")).expect("it exists");
    let said = project.drip(&words).ends_with(1);
    said.complains("1 files compiled, 1 from the cache, 0 failed");
}

#[test]
fn an_interrupt_while_reading_ends_with_3() {
    let project = large_program();
    let mut running = Running::start(&project, &["check", "copies"]);
    running.until_it_says("reading");
    let said = running.interrupted().ends_with(3);
    said.prints("stopped early: interrupted")
        .prints("of 20 files read");
}

#[test]
fn an_interrupt_while_analysing_ends_with_3_and_what_is_known() {
    let project = large_program();
    let words = ["check", "--output-format", "concise", "copies"];
    let mut running = Running::start(&project, &words);
    running.until_it_says("analysing");
    std::thread::sleep(Duration::from_millis(500));
    let said = running.interrupted().ends_with(3);
    let said = said
        .prints("D001")
        .prints("20 of 20 files read")
        .prints("stopped early: interrupted after ");
    assert!(!said.stdout.contains("next:"), "{}", said.stdout);
}

#[test]
fn a_second_interrupt_waits_for_nothing() {
    let project = Project::new(&[]);
    let build = "trap '' INT TERM; touch started; sleep 20";
    let mut running = Running::start(&project, &["check", "--", "sh", "-c", build]);
    wait_for(&project, "started", &mut running);
    running.interrupt();
    std::thread::sleep(Duration::from_millis(100));
    running.interrupt();
    // The build has drip's standard error, but not its standard output, which ends with drip.
    let mut stdout = String::new();
    let mut pipe = running.drip.stdout.take().expect("it is piped");
    pipe.read_to_string(&mut stdout).expect("text");
    let status = running.drip.wait().expect("drip ends");
    assert_eq!(status.code(), Some(3));
    assert_eq!(stdout, "", "there was no time for a report");
}

//! Builds watched from outside: make, scripts, cross compilers, launchers, failing builds. Needs make, gcc and clang.

mod common;

use common::{Project, files_below, is_bitcode};
use std::path::{Path, PathBuf};
use std::process::Command;

const HELPER: &str = env!("CARGO_BIN_EXE_drip-capture-test");

/// What a watched build printed.
struct Outcome {
    text: String,
    stderr: String,
}

impl Outcome {
    /// The rest of every line that starts with `key`.
    fn all(&self, key: &str) -> Vec<&str> {
        let rest = |line: &'_ str| {
            line.strip_prefix(key)
                .and_then(|r| r.strip_prefix(' '))
                .map(str::len)
        };
        let lines = self.text.lines();
        lines
            .filter_map(|line| rest(line).map(|length| &line[line.len() - length..]))
            .collect()
    }

    fn one(&self, key: &str) -> &str {
        let found = self.all(key);
        assert_eq!(found.len(), 1, "{key} in {}\n{}", self.text, self.stderr);
        found[0]
    }

    /// File names of the units, after a look at their bitcode.
    fn units(&self) -> Vec<String> {
        let mut names = Vec::new();
        for line in self.all("unit") {
            let (source, bitcode) = line.rsplit_once(' ').unwrap();
            assert!(is_bitcode(Path::new(bitcode)), "{line}");
            names.push(
                Path::new(source)
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        names
    }
}

fn helper(project: &Project) -> Command {
    let mut command = Command::new(HELPER);
    command
        .current_dir(project.path(""))
        .env("DRIP_CACHE_DIR", project.cache());
    // Bear is asked for only where a test says so, whatever this machine has.
    executable(project, "no-bear/bear", "#!/bin/sh\nexit 1\n");
    command.env("PATH", path_with(&project.path("no-bear")));
    for variable in ["CC", "CXX", "HOSTCC", "DRIP_CLANG", "MAKEFLAGS", "CPATH"] {
        command.env_remove(variable);
    }
    command
}

fn finish(mut command: Command) -> Outcome {
    let output = command.output().expect("the helper starts");
    Outcome {
        text: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn watch(project: &Project, build: &[&str]) -> Outcome {
    let mut command = helper(project);
    command.args(build);
    finish(command)
}

fn executable(project: &Project, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    project.write(name, text);
    let file = project.path(name);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

/// `dir` in front of this process's PATH.
fn path_with(dir: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(dir.to_owned()).chain(std::env::split_paths(&path)))
        .unwrap()
}

fn make_project() -> Project {
    Project::new(&[
        (
            "Makefile",
            "CFLAGS = -O2 -Wall -fconserve-stack -fno-tree-vectorize -MMD -Iinc\n\
             prog: main.o util.o asm.o\n\t$(CC) -o $@ $^\n\
             %.o: %.c\n\t$(CC) $(CFLAGS) -c $< -o $@\n\
             asm.o: asm.S\n\t$(CC) -c asm.S\n\
             clean:\n\trm -f *.o prog\n",
        ),
        (
            "main.c",
            "#include \"u.h\"\nint main(void) { return util() - 7; }\n",
        ),
        (
            "util.c",
            "#include \"u.h\"\nint util(void) { return VALUE; }\n",
        ),
        ("inc/u.h", "#define VALUE 7\nint util(void);\n"),
        (
            "asm.S",
            ".text\n.globl unused_entry\nunused_entry: nop\n.section .note.GNU-stack,\"\",%progbits\n",
        ),
    ])
}

#[test]
fn a_make_build_gives_its_units_and_its_own_result() {
    let project = make_project();
    let outcome = watch(&project, &["make", "-j2"]);
    assert_eq!(outcome.one("watcher"), "compiler wrappers");
    assert_eq!(outcome.one("exit"), "Some(0)", "{}", outcome.stderr);
    assert_eq!(outcome.one("calls"), "4");
    let mut units = outcome.units();
    units.sort();
    assert_eq!(units, ["main.c", "util.c"]);
    assert!(outcome.all("failure").is_empty(), "{}", outcome.text);
    assert!(outcome.one("skipped").starts_with("Assembler"));
    assert_eq!(
        outcome.all("dropped"),
        ["2 -fconserve-stack", "2 -fno-tree-vectorize"]
    );
    // The build's own result: a program that runs, gcc's dependency files, nothing of ours.
    assert!(
        Command::new(project.path("prog"))
            .status()
            .unwrap()
            .success()
    );
    assert!(
        std::fs::read_to_string(project.path("main.d"))
            .unwrap()
            .starts_with("main.o:")
    );
    assert!(
        files_below(&project.path(""))
            .iter()
            .all(|f| f.extension().is_none_or(|e| e != "bc"))
    );
}

#[test]
fn the_same_objects_as_without_drip() {
    let project = make_project();
    let objects = || {
        ["main.o", "util.o", "asm.o", "main.d"]
            .map(|name| std::fs::read(project.path(name)).unwrap())
    };
    assert!(
        Command::new("make")
            .current_dir(project.path(""))
            .output()
            .unwrap()
            .status
            .success()
    );
    let before = objects();
    assert!(
        Command::new("make")
            .arg("clean")
            .current_dir(project.path(""))
            .output()
            .unwrap()
            .status
            .success()
    );
    watch(&project, &["make"]);
    assert_eq!(before, objects());
}

#[test]
fn a_second_run_remembers_the_build_and_compiles_only_changes() {
    let project = make_project();
    watch(&project, &["make"]);
    let second = watch(&project, &["make"]);
    assert_eq!(
        (
            second.one("calls"),
            second.one("remembered"),
            second.one("compiled")
        ),
        ("0", "3", "0")
    );
    assert_eq!(second.one("watcher"), "earlier watched builds");
    assert_eq!(second.units().len(), 2);
    project.write(
        "util.c",
        "#include \"u.h\"\nint util(void) { return VALUE + 0; }\n",
    );
    let third = watch(&project, &["make"]);
    assert_eq!(
        (third.one("remembered"), third.one("compiled")),
        ("2", "1"),
        "{}",
        third.text
    );
    assert_eq!(third.units().len(), 2);
    // A source that left the project is forgotten with its object.
    project.write(
        "Makefile",
        "prog: main.c\n\t$(CC) -Iinc -DONLY -c main.c -o main.o\n",
    );
    std::fs::remove_file(project.path("util.o")).unwrap();
    let fourth = watch(&project, &["make", "-B"]);
    assert_eq!(fourth.units(), ["main.c"]);
    let fresh = watch(&project, &["--fresh", "true"]);
    assert!(fresh.units().is_empty());
}

#[test]
fn a_failing_build_is_reported_and_used() {
    let project = make_project();
    project.write("util.c", "int util( { syntax }\n");
    let outcome = watch(&project, &["make", "-k"]);
    assert_eq!(outcome.one("exit"), "Some(2)");
    assert_eq!(outcome.units(), ["main.c"]);
    assert!(outcome.one("failure").contains("util.c"));
    assert!(
        outcome
            .all("note")
            .iter()
            .any(|n| n.contains("build ended with")),
        "{}",
        outcome.text
    );
}

#[test]
fn a_build_that_does_not_exist_is_an_error() {
    let project = make_project();
    let outcome = watch(&project, &["no-such-build-tool", "all"]);
    assert!(outcome.one("error").contains("`no-such-build-tool all`"));
}

#[test]
fn scripts_with_several_sources_response_files_and_probes() {
    let project = make_project();
    project.write("args.rsp", "-Iinc '-DMESSAGE=\"two words\"'");
    let script = "set -e\n\
        printf 'int main(void){return 0;}' > conftest.c; gcc -c conftest.c; rm -f conftest.c conftest.o\n\
        echo 'int x;' | cc -xc -c - -o /dev/null\n\
        cc --version > /dev/null; gcc -E main.c -Iinc > main.i; rm main.i\n\
        cp args.rsp gone.rsp; gcc @gone.rsp main.c util.c -o prog; rm gone.rsp\n";
    let outcome = watch(&project, &["sh", "-c", script]);
    assert_eq!(outcome.one("exit"), "Some(0)", "{}", outcome.stderr);
    assert_eq!(outcome.units(), ["main.c", "util.c"]);
    let probes = outcome
        .all("skipped")
        .iter()
        .filter(|s| s.starts_with("Probe"))
        .count();
    assert_eq!(probes, 2, "{}", outcome.text);
}

#[test]
fn sources_that_the_build_deletes_are_still_captured() {
    let project = Project::new(&[
        (
            "Makefile",
            "all: gen.o\ngen.o: tool.sh\n\tsh tool.sh > sub/gen.c\n\tcd sub && $(CC) -DN=1 -c gen.c -o ../gen.o\n\trm -f sub/gen.c\n",
        ),
        (
            "tool.sh",
            "echo '#include \"near.h\"'; echo 'int gen(void) { return NEAR + N; }'\n",
        ),
        ("sub/near.h", "#define NEAR 1\n"),
    ]);
    let first = watch(&project, &["make"]);
    assert_eq!(first.units(), ["gen.c"], "{}\n{}", first.text, first.stderr);
    assert!(!project.path("sub/gen.c").exists());
    let second = watch(&project, &["make"]);
    assert_eq!(
        (second.units().len(), second.one("compiled")),
        (1, "0"),
        "{}",
        second.text
    );
    // Other content under the same name is another unit.
    project.write("tool.sh", "echo 'int other;'\n");
    let third = watch(&project, &["make"]);
    assert_eq!(
        (third.units().len(), third.one("compiled")),
        (1, "1"),
        "{}",
        third.text
    );
    assert!(files_below(&project.cache().join("tmp")).is_empty());
}

#[test]
fn objects_that_the_build_renames_are_remembered() {
    let project = Project::new(&[
        (
            "Makefile",
            "all: a.o b.o\n%.o: %.c\n\t$(CC) -c $< -o $@.tmp && if [ $@ = a.o ]; then mv $@.tmp $@; else cp $@.tmp $@; fi\n",
        ),
        ("a.c", "int a;\n"),
        ("b.c", "int b;\n"),
    ]);
    assert_eq!(watch(&project, &["make"]).units().len(), 2);
    let again = watch(&project, &["make"]);
    assert_eq!((again.units().len(), again.one("calls")), (2, "0"));
}

#[test]
fn compilers_named_by_the_user_are_wrapped() {
    let project = make_project();
    // A name that does not look like a compiler, found on PATH.
    let mycc = executable(&project, "tools/mycc", "#!/bin/sh\nexec gcc \"$@\"\n");
    let build = ["make", "main.o", "util.o"];
    let run = |cc: &str, path: Option<&Path>, build: &[&str]| {
        let mut command = helper(&project);
        command.arg("--fresh").args(build).env("CC", cc);
        if let Some(dir) = path {
            command.env("PATH", path_with(dir));
        }
        let outcome = finish(command);
        let clean = Command::new("make")
            .arg("clean")
            .current_dir(project.path(""))
            .output();
        assert!(clean.unwrap().status.success());
        outcome
    };
    let by_name = run("mycc -DEXTRA", Some(mycc.parent().unwrap()), &build);
    assert_eq!(
        by_name.units().len(),
        2,
        "{}\n{}",
        by_name.text,
        by_name.stderr
    );
    let by_path = run(&format!("{} -DEXTRA", mycc.display()), None, &build);
    assert_eq!(
        by_path.units().len(),
        2,
        "{}\n{}",
        by_path.text,
        by_path.stderr
    );
    let argument = format!("CC={}", mycc.display());
    let on_command_line = run("cc", None, &["make", &argument, "main.o"]);
    assert_eq!(
        on_command_line.units(),
        ["main.c"],
        "{}",
        on_command_line.stderr
    );
}

#[test]
fn launchers_in_front_of_the_compiler() {
    let project = make_project();
    // Does what ccache does on a hit: never calls the compiler it was given for a second time.
    let dir = project.path("tools");
    executable(
        &project,
        "tools/ccache",
        "#!/bin/sh\necho \"ccache ran $1\" >&2\nexec \"$@\"\n",
    );
    let mut command = helper(&project);
    command
        .args(["make", "CC=ccache gcc", "main.o", "util.o"])
        .env("PATH", path_with(&dir));
    let outcome = finish(command);
    assert_eq!(outcome.one("calls"), "2", "{}", outcome.text);
    assert_eq!(outcome.units().len(), 2);
    assert!(
        outcome.stderr.contains("ccache ran gcc"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn cross_compilers_by_pattern() {
    let project = Project::new(&[(
        "a.c",
        "#if __SIZEOF_POINTER__ != 8 || !defined(__aarch64__)\n#error target\n#endif\nint a;\n",
    )]);
    let dir = project.path("tools");
    executable(
        &project,
        "tools/aarch64-linux-gnu-gcc",
        "#!/bin/sh\n[ \"$1\" = -print-sysroot ] && exit 0\ntouch a.o\n",
    );
    let mut command = helper(&project);
    command
        .args(["sh", "-c", "aarch64-linux-gnu-gcc -c a.c"])
        .env("PATH", path_with(&dir));
    let outcome = finish(command);
    assert_eq!(
        outcome.units(),
        ["a.c"],
        "{}\n{}",
        outcome.text,
        outcome.stderr
    );
}

#[test]
fn without_cc_the_build_keeps_its_own_choice() {
    let project = Project::new(&[(
        "Makefile",
        "CC ?= my-default\nall:\n\t@echo \"compiler is $(origin CC) $(CC)\"\n",
    )]);
    let plain = watch(&project, &["make"]);
    assert!(
        plain.stderr.contains("compiler is default cc"),
        "{}",
        plain.stderr
    );
    let forced = watch(&project, &["--set-cc", "make"]);
    assert!(
        forced.stderr.contains("compiler is environment /"),
        "{}",
        forced.stderr
    );
}

#[test]
fn wrappers_left_in_a_configured_tree_still_work_without_drip() {
    let project = make_project();
    let outcome = watch(&project, &["sh", "-c", "command -v gcc > compiler-path"]);
    assert_eq!(outcome.one("calls"), "0");
    let wrapper = std::fs::read_to_string(project.path("compiler-path")).unwrap();
    let wrapper = Path::new(wrapper.trim());
    assert!(
        wrapper.starts_with(project.cache()),
        "{}",
        wrapper.display()
    );
    let status = Command::new(wrapper)
        .args(["-Iinc", "-c", "main.c"])
        .current_dir(project.path(""))
        .status();
    assert!(status.unwrap().success());
    assert!(project.path("main.o").exists());
    let missing = Command::new(wrapper.with_file_name("no-such-gcc")).status();
    assert!(missing.is_err());
}

#[test]
fn an_up_to_date_build_says_what_to_do() {
    let project = make_project();
    assert!(
        Command::new("make")
            .current_dir(project.path(""))
            .output()
            .unwrap()
            .status
            .success()
    );
    let outcome = watch(&project, &["make"]);
    assert_eq!(outcome.one("watcher"), "nothing");
    assert!(
        outcome.all("note").iter().any(|n| n.contains("make clean")),
        "{}",
        outcome.text
    );
}

#[test]
fn bear_is_asked_when_the_wrappers_saw_nothing() {
    let project = make_project();
    // A bear that writes the database the real one would write.
    let bear = "#!/bin/sh\n\
        [ \"$1\" = --version ] && { echo 'bear 3.1.5'; exit 0; }\n\
        [ \"$1\" = --output ] && [ \"$3\" = -- ] || exit 9\n\
        printf '[{\"directory\": \"%s\", \"file\": \"main.c\", \"arguments\": [\"gcc\", \"-Iinc\", \"-c\", \"main.c\"]}]' \"$PWD\" > \"$2\"\n";
    executable(&project, "tools/bear", bear);
    let mut command = helper(&project);
    command
        .arg("true")
        .env("PATH", path_with(&project.path("tools")));
    let outcome = finish(command);
    assert_eq!(outcome.one("watcher"), "bear");
    assert_eq!(outcome.units(), ["main.c"]);
}

#[test]
fn a_database_in_the_build_directory_is_used_when_the_wrappers_saw_nothing() {
    let project = make_project();
    let json =
        r#"[{"directory": "DIR", "file": "util.c", "command": "/usr/bin/cc -Iinc -c util.c"}]"#;
    project.write(
        "build/compile_commands.json",
        &json.replace("DIR", &project.path("").display().to_string()),
    );
    project.write("build/Makefile", "all:\n\t@true\n");
    let outcome = watch(&project, &["make", "-C", "build"]);
    assert!(
        outcome
            .one("watcher")
            .ends_with("build/compile_commands.json")
    );
    assert_eq!(outcome.units(), ["util.c"]);
}

#[test]
fn cancel_ends_the_build() {
    let project = make_project();
    let begin = std::time::Instant::now();
    let outcome = watch(&project, &["--cancel", "sleep", "60"]);
    assert!(begin.elapsed().as_secs() < 20);
    assert_eq!(
        (outcome.one("cancelled"), outcome.one("exit")),
        ("true", "None")
    );
}

#[test]
fn an_unwritable_cache_does_not_stop_the_watching() {
    let project = make_project();
    let mut command = helper(&project);
    command
        .arg("make")
        .env("DRIP_CACHE_DIR", project.path("main.c").join("cache"));
    let outcome = finish(command);
    assert_eq!(outcome.one("exit"), "Some(0)");
    assert_eq!(outcome.all("unit").len(), 2);
    assert_eq!(
        outcome.one("note").matches("cannot be written to").count(),
        1
    );
}

#[test]
fn doctor_shows_clang_cache_and_dropped_flags() {
    let project = make_project();
    watch(&project, &["make"]);
    let mut command = helper(&project);
    command.arg("doctor");
    let facts = finish(command).text;
    assert!(facts.contains("clang version"), "{facts}");
    assert!(facts.contains(&project.cache().display().to_string()));
    assert!(
        facts.contains("-fconserve-stack") && facts.contains("\"gcc\""),
        "{facts}"
    );
    assert!(facts.contains("cache_problem: None"), "{facts}");
}

//! Compiles snippets with the clang versions at hand and loads them. A machine without clang fails these tests.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use drip_program::*;

/// How a source becomes bitcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As drip's capture compiles.
    Capture,
    /// As users do without thinking.
    O0,
    /// Through LLVM's own promotion.
    Mem2reg,
}

pub const WAYS: [Way; 3] = [Way::Capture, Way::O0, Way::Mem2reg];

const VERSIONS: [&str; 6] = ["-14", "-19", "-16", "-15", "-13", ""];

/// Suffixes of the oldest and the newest clang that is installed together with its `opt`.
pub fn versions() -> Vec<&'static str> {
    let works = |suffix: &&&str| {
        ["clang", "opt"].iter().all(|tool| {
            let found = Command::new(format!("{tool}{suffix}"))
                .arg("--version")
                .output();
            found.is_ok_and(|out| out.status.success())
        })
    };
    let found: Vec<&str> = VERSIONS.iter().filter(works).copied().take(2).collect();
    assert!(
        !found.is_empty(),
        "these tests need clang and opt (any of {VERSIONS:?})"
    );
    found
}

pub struct Workshop {
    dir: tempfile::TempDir,
    count: std::cell::Cell<usize>,
}

impl Workshop {
    pub fn new() -> Workshop {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Workshop {
            dir,
            count: std::cell::Cell::new(0),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles C (or C++, if `name` ends so) with extra flags.
    pub fn compile(
        &self,
        version: &str,
        way: Way,
        name: &str,
        source: &str,
        flags: &[&str],
    ) -> Input {
        let number = self.count.replace(self.count.get() + 1);
        std::fs::create_dir_all(self.path(&number.to_string())).expect("a directory");
        let source_path = self.path(&format!("{number}/{name}"));
        std::fs::write(&source_path, source).expect("a source file");
        let out = self.path(&format!("{number}.bc"));
        let base: &[&str] = match way {
            Way::Capture => &[
                "-O1",
                "-Xclang",
                "-disable-llvm-passes",
                "-Xclang",
                "-disable-lifetime-markers",
                "-U__OPTIMIZE__",
            ],
            Way::O0 => &["-O0"],
            Way::Mem2reg => &["-O0", "-Xclang", "-disable-O0-optnone"],
        };
        let mut clang = Command::new(format!("clang{version}"));
        clang
            .args(["-g", "-w", "-c", "-emit-llvm"])
            .args(base)
            .args(flags);
        run(clang.arg(&source_path).arg("-o").arg(&out));
        if way == Way::Mem2reg {
            let promoted = self.path(&format!("{number}-promoted.bc"));
            let mut opt = Command::new(format!("opt{version}"));
            run(opt
                .arg("-passes=mem2reg")
                .arg(&out)
                .arg("-o")
                .arg(&promoted));
            return input(&promoted, name);
        }
        input(&out, name)
    }
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn input(path: &Path, name: &str) -> Input {
    Input {
        path: name.to_owned(),
        bytes: std::fs::read(path).expect("bitcode"),
    }
}

/// Loads inputs that must be fine.
#[track_caller]
pub fn load_clean(inputs: Vec<Input>) -> Program {
    let loaded = load(inputs, &LoadConfig::default());
    assert_eq!(loaded.problems, []);
    assert_eq!(verify(&loaded.program), []);
    loaded.program
}

/// One C source, captured, with the newest clang at hand.
#[track_caller]
pub fn load_c(source: &str) -> Program {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    load_clean(vec![shop.compile(
        version,
        Way::Capture,
        "t.c",
        source,
        &[],
    )])
}

/// One C++ source, captured.
#[track_caller]
pub fn load_cpp(source: &str) -> Program {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    load_clean(vec![shop.compile(
        version,
        Way::Capture,
        "t.cpp",
        source,
        &[],
    )])
}

#[track_caller]
pub fn func(program: &Program, name: &str) -> FuncId {
    let found = program.find_func(name);
    found.unwrap_or_else(|| panic!("no function {name}\n{}", print_program(program)))
}

#[track_caller]
pub fn body<'p>(program: &'p Program, name: &str) -> &'p Body {
    let body = program.funcs[func(program, name)].body.as_ref();
    body.unwrap_or_else(|| panic!("{name} has no body\n{}", print_program(program)))
}

#[track_caller]
pub fn global<'p>(program: &'p Program, name: &str) -> &'p Global {
    let found = program
        .globals
        .iter()
        .find(|g| program.strings.get(g.name) == name);
    found.unwrap_or_else(|| panic!("no global {name}\n{}", print_program(program)))
}

/// Text of one function.
#[track_caller]
pub fn text(program: &Program, name: &str) -> String {
    print_function(program, func(program, name))
}

/// All instructions for which `pick` finds something.
pub fn find<T>(body: &Body, pick: impl Fn(&Inst) -> Option<T>) -> Vec<T> {
    body.insts.iter().filter_map(pick).collect()
}

/// Names of the functions that a body calls directly, in order.
pub fn callees(program: &Program, body: &Body) -> Vec<String> {
    find(body, |inst| match inst.op {
        Op::Call { callee, .. } | Op::Invoke { callee, .. } => match body.const_of(callee) {
            Some(Const::Func(f)) => Some(program.func_name(*f).to_owned()),
            _ => Some("?".to_owned()),
        },
        _ => None,
    })
}

/// Binding markers as `name = value` with the line, in order; values of instructions show as `v`.
pub fn binds(program: &Program, body: &Body) -> Vec<String> {
    find(body, |inst| match inst.op {
        Op::Bind { var, value } => {
            let name = program.strings.get(body.vars[var].name);
            let value = match value.kind() {
                OperandKind::Value(v) => match body.as_param(v) {
                    Some(n) => format!("arg{n}"),
                    None => "v".to_owned(),
                },
                OperandKind::Const(c) => match &body.consts[c] {
                    Const::Int { bits, .. } => (*bits as i64).to_string(),
                    Const::Null => "null".to_owned(),
                    other => format!("{other:?}"),
                },
            };
            let line = inst.loc.map_or(0, |l| body.locs[l].line);
            Some(format!("{name} = {value} @{line}"))
        }
        _ => None,
    })
}

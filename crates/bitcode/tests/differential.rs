//! What this crate reads equals what LLVM's own disassembler prints: functions, blocks, opcodes,
//! callees, globals, and the source location of every instruction.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::ll::{Summary, parse, summarize};
use common::{CAPTURE_FLAGS, clang_versions, compile, disassemble, read, source};

/// Fails with the first difference, because whole summaries of big modules are unreadable.
fn assert_same(what: &str, ours: &Summary, theirs: &Summary) {
    assert_eq!(
        ours.declarations, theirs.declarations,
        "{what}: declarations"
    );
    assert_eq!(ours.globals, theirs.globals, "{what}: globals");
    assert_eq!(ours.aliases, theirs.aliases, "{what}: aliases");
    assert_eq!(ours.ifuncs, theirs.ifuncs, "{what}: ifuncs");
    assert_eq!(
        ours.functions.len(),
        theirs.functions.len(),
        "{what}: functions"
    );
    for (a, b) in ours.functions.iter().zip(&theirs.functions) {
        assert_eq!(a.name, b.name, "{what}: function name");
        let what = format!("{what}: {}", a.name);
        assert_eq!(a.blocks, b.blocks, "{what}: blocks");
        assert_eq!(a.insts.len(), b.insts.len(), "{what}: instructions");
        assert_eq!(a.debug_records, b.debug_records, "{what}: debug records");
        for (index, (x, y)) in a.insts.iter().zip(&b.insts).enumerate() {
            assert_eq!(x, y, "{what}: instruction {index}");
        }
    }
}

fn compare(version: u32, path: &Path) -> Summary {
    let ours = summarize(&read(path));
    let theirs = parse(&disassemble(version, path));
    assert_same(&path.to_string_lossy(), &ours, &theirs);
    ours
}

fn compare_source(name: &str, versions: &[u32], flag_sets: &[&[&str]]) {
    for &version in versions {
        for flags in flag_sets {
            let path = compile(version, &source(name), flags);
            let summary = compare(version, &path);
            let calls = summary.functions.iter().flat_map(|f| &f.insts);
            assert!(calls.filter(|i| i.callee.is_some()).count() > 10);
            std::fs::remove_file(path).expect("remove bitcode");
        }
    }
}

const FLAG_SETS: &[&[&str]] = &[CAPTURE_FLAGS, &["-g", "-O0"], &["-g", "-O2"], &["-O1"]];

#[test]
fn statements_in_c() {
    compare_source("statements.c", &clang_versions(), FLAG_SETS);
}

#[test]
fn containers_in_cpp() {
    compare_source("containers.cpp", &clang_versions(), &[CAPTURE_FLAGS]);
    compare_source("containers.cpp", &[19], &[&["-g", "-O2"]]);
}

/// Instrumentation, link-time optimisation and sanitisers change what a module holds.
#[test]
fn modes_of_the_compiler() {
    let modes: &[&[&str]] = &[
        &["-g", "-O2", "-flto=thin"],
        &[
            "-g",
            "-O1",
            "-flto",
            "-fvisibility=hidden",
            "-fsanitize=cfi",
        ],
        &["-g", "-O1", "-fsanitize=address,undefined"],
        &["-O0", "--coverage", "-fstack-protector-all"],
        &["-g1", "-O2", "-fno-discard-value-names", "-mavx2"],
    ];
    for version in [14, 19] {
        for flags in modes {
            let path = compile(version, &source("portable.c"), flags);
            let theirs = parse(&disassemble(version, &path));
            let ours = summarize(&read(&path));
            // With this sanitiser, clang keeps names for its reports.
            let keeps = ["-fno-discard-value-names", "-fsanitize=address,undefined"];
            let named = flags.iter().any(|flag| keeps.contains(flag));
            assert_same(
                &format!("{flags:?}"),
                &without_numbers(ours, named),
                &without_numbers(theirs, named),
            );
            std::fs::remove_file(path).expect("remove bitcode");
        }
    }
}

/// Where values have names, the disassembler prints those instead of numbers.
fn without_numbers(mut summary: Summary, named: bool) -> Summary {
    if named {
        for function in &mut summary.functions {
            function
                .insts
                .iter_mut()
                .for_each(|inst| inst.locals.clear());
            function.debug_records.iter_mut().for_each(Vec::clear);
        }
    }
    summary
}

/// Other processors: address spaces, other floating-point formats, scalable vectors, 32 bits.
#[test]
fn other_targets() {
    let targets: &[&[&str]] = &[
        &[
            "-target",
            "aarch64-linux-gnu",
            "-march=armv8-a+sve",
            "-O3",
            "-g",
        ],
        &["-target", "powerpc64le-linux-gnu", "-O2", "-g"],
        &["-target", "arm-linux-gnueabihf", "-O0", "-g"],
        &["-target", "i686-pc-windows-msvc", "-O1", "-g"],
        &["-target", "riscv64-linux-gnu", "-march=rv64gc", "-O2", "-g"],
        &["-target", "wasm32", "-O2", "-g"],
        &[
            "-target",
            "amdgcn-amd-amdhsa",
            "-O1",
            "-g",
            "-nogpulib",
            "-D__thread=",
        ],
        &["-target", "arm64-apple-ios", "-O1", "-g", "-D__thread="],
    ];
    for version in clang_versions() {
        for flags in targets {
            let path = compile(version, &source("portable.c"), flags);
            compare(version, &path);
            std::fs::remove_file(path).expect("remove bitcode");
        }
    }
}

/// Windows exceptions: cleanuppad, catchswitch and their relatives.
#[test]
fn funclets_in_cpp() {
    let flags: &[&str] = &[
        "-g",
        "-target",
        "x86_64-pc-windows-msvc",
        "-fexceptions",
        "-fcxx-exceptions",
    ];
    for version in clang_versions() {
        let path = compile(version, &source("funclets.cpp"), flags);
        let summary = compare(version, &path);
        let has = |opcode| {
            let mut insts = summary.functions.iter().flat_map(|f| &f.insts);
            insts.any(|i| i.opcode == opcode)
        };
        for opcode in [
            "cleanuppad",
            "catchpad",
            "catchswitch",
            "cleanupret",
            "catchret",
        ] {
            assert!(has(opcode), "clang-{version} made no {opcode}");
        }
        std::fs::remove_file(path).expect("remove bitcode");
    }
}

/// The amalgamation's source, from the sources of the `libsqlite3-sys` crate. Nothing of that crate is
/// built: cargo only downloads it, like any dependency.
fn sqlite_source() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sqlite-source");
    std::fs::create_dir_all(dir.join("src")).expect("directory");
    let manifest = "[package]\nname = \"sqlite-source\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
        [workspace]\n[dependencies]\nlibsqlite3-sys = \"=0.30.1\"\n";
    std::fs::write(dir.join("Cargo.toml"), manifest).expect("manifest");
    std::fs::write(dir.join("src/lib.rs"), "").expect("source");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(dir.join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let mark = "libsqlite3-sys-0.30.1/Cargo.toml";
    let end = text.find(mark).unwrap_or_else(|| {
        panic!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let start = text[..end].rfind('"').expect("a path") + 1;
    Path::new(&text[start..end]).join("libsqlite3-sys-0.30.1/sqlite3/sqlite3.c")
}

#[test]
fn sqlite() {
    let source = sqlite_source();
    // Two compilers at once; other versions are covered by the smaller sources.
    std::thread::scope(|scope| {
        for version in [14, 19] {
            let source = &source;
            scope.spawn(move || {
                let path = compile(version, source, CAPTURE_FLAGS);
                let summary = compare(version, &path);
                assert!(
                    summary.functions.len() > 2400,
                    "{}",
                    summary.functions.len()
                );
                std::fs::remove_file(path).expect("remove bitcode");
            });
        }
    });
}

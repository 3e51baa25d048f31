//! Compiles C and C++ with the installed clangs, for tests that compare with LLVM's own tools.

#![allow(dead_code)]

pub mod ll;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use drip_bitcode::{RawBody, RawModule};

/// Versions that Debian 12 offers; tried when installed.
const VERSIONS: [u32; 5] = [13, 14, 15, 16, 19];
/// Versions without which the tests fail: typed and opaque pointers.
const REQUIRED: [u32; 2] = [14, 19];

/// How drip's own capture compiles.
pub const CAPTURE_FLAGS: &[&str] = &[
    "-g",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-U__OPTIMIZE__",
];

fn works(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|o| o.status.success())
}

/// The clang versions to test with.
pub fn clang_versions() -> Vec<u32> {
    static FOUND: OnceLock<Vec<u32>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let usable = |v: &u32| works(&format!("clang-{v}")) && works(&format!("llvm-dis-{v}"));
        VERSIONS.into_iter().filter(usable).collect()
    });
    for version in REQUIRED {
        assert!(
            found.contains(&version),
            "this test needs clang-{version} and llvm-dis-{version} (packages clang-{version}, llvm-{version})"
        );
    }
    found.clone()
}

/// A fresh path for a file that a test makes.
pub fn scratch(name: &str) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bitcode-tests");
    std::fs::create_dir_all(&dir).expect("scratch directory");
    dir.join(format!("{}-{number}-{name}", std::process::id()))
}

/// The path of a source in `tests/sources`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sources")
        .join(name)
}

/// Runs clang; the result is what it writes.
pub fn run_clang(version: u32, source: &Path, flags: &[&str]) -> PathBuf {
    let is_cpp = source.extension().is_some_and(|e| e == "cpp");
    let compiler = if is_cpp { "clang++" } else { "clang" };
    let stem = source.file_stem().expect("file name").to_string_lossy();
    let extension = if flags.contains(&"-emit-llvm") {
        "bc"
    } else {
        "o"
    };
    let out = scratch(&format!("{stem}-{version}.{extension}"));
    let output = Command::new(format!("{compiler}-{version}"))
        .args(["-w", "-c"])
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&out)
        .output()
        .expect("clang runs");
    assert!(
        output.status.success(),
        "{compiler}-{version} {flags:?} {}: {}",
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    out
}

/// Compiles a file to bitcode.
pub fn compile(version: u32, source: &Path, flags: &[&str]) -> PathBuf {
    let mut all = vec!["-emit-llvm"];
    all.extend_from_slice(flags);
    run_clang(version, source, &all)
}

/// Compiles a text to bitcode and reads it.
pub fn module_of(version: u32, extension: &str, text: &str, flags: &[&str]) -> RawModule {
    let source = scratch(&format!("snippet.{extension}"));
    std::fs::write(&source, text).expect("write source");
    let path = compile(version, &source, flags);
    let module = read(&path);
    std::fs::remove_file(&source).expect("remove source");
    std::fs::remove_file(&path).expect("remove bitcode");
    module
}

/// Reads a bitcode file.
pub fn read(path: &Path) -> RawModule {
    let bytes = std::fs::read(path).expect("read bitcode");
    RawModule::parse(bytes, &path.to_string_lossy()).expect("valid bitcode")
}

/// The text that LLVM's own disassembler makes of a file.
pub fn disassemble(version: u32, path: &Path) -> String {
    let output = Command::new(format!("llvm-dis-{version}"))
        .arg(path)
        .args(["-o", "-"])
        .output()
        .expect("llvm-dis runs");
    assert!(output.status.success(), "llvm-dis-{version}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Index of the function with this name.
pub fn function(module: &RawModule, name: &str) -> usize {
    let found = module.functions.iter().position(|f| &*f.name == name);
    found.unwrap_or_else(|| panic!("no function {name}"))
}

/// The decoded body of the function with this name.
pub fn body(module: &RawModule, name: &str) -> RawBody {
    module
        .decode_body(function(module, name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

//! Bitcode inside other files: wrapper headers, object files, several modules in one section.

mod common;

use common::{clang_versions, compile, run_clang, scratch, source};
use drip_bitcode::{ErrorKind, RawModule};

fn bitcode() -> Vec<u8> {
    let path = compile(19, &source("funclets.cpp"), &["-O0"]);
    let bytes = std::fs::read(&path).expect("read bitcode");
    std::fs::remove_file(path).expect("remove bitcode");
    bytes
}

fn wrapped(bitcode: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [0x0B17_C0DE, 0, 20, bitcode.len() as u32, 7] {
        bytes.extend(u32::to_le_bytes(field));
    }
    bytes.extend(bitcode);
    // Apple pads the wrapper to 16 bytes.
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

#[test]
fn wrapper_header() {
    let plain = bitcode();
    let expected = RawModule::parse(plain.clone(), "plain")
        .expect("valid")
        .functions;
    let module = RawModule::parse(wrapped(&plain), "wrapped").expect("valid");
    assert_eq!(module.functions, expected);
    assert!(module.decode_body(0).is_ok());
}

#[test]
fn wrapper_header_that_lies() {
    let plain = bitcode();
    let good = wrapped(&plain);
    for (at, value) in [(8, 0), (8, u32::MAX), (12, u32::MAX), (12, 0)] {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = RawModule::parse(bytes, "lies").expect_err("a bad header");
        assert!(matches!(error.what, ErrorKind::Bitstream(_)), "{error}");
    }
}

#[test]
fn errors_point_into_the_file() {
    let plain = bitcode();
    let mut bytes = wrapped(&plain);
    let len = bytes.len();
    bytes.truncate(len / 2);
    bytes[12..16].copy_from_slice(&((len / 2 - 20) as u32).to_le_bytes());
    let error = RawModule::parse(bytes, "cut.bc").expect_err("cut off");
    assert_eq!(error.what, ErrorKind::UnexpectedEnd);
    assert!(error.offset() >= 20, "{error}");
    assert!(error.to_string().starts_with("cut.bc: byte "), "{error}");
}

#[test]
fn sections_of_object_files() {
    for version in clang_versions() {
        for target in [
            "x86_64-linux-gnu",
            "x86_64-apple-macos",
            "x86_64-pc-windows-msvc",
        ] {
            let flags = [
                "-O0",
                "-fembed-bitcode=all",
                "-target",
                target,
                "-fcxx-exceptions",
            ];
            let object = run_clang(version, &source("funclets.cpp"), &flags);
            let bytes = std::fs::read(&object).expect("read object");
            let module = RawModule::parse(bytes, "object.o").expect("embedded bitcode");
            assert!(module.triple.starts_with("x86_64"), "{}", module.triple);
            assert!(module.functions.len() > 3);
            let bodies = (0..module.functions.len()).filter(|i| module.has_body(*i));
            for index in bodies {
                module.decode_body(index).expect("a valid body");
            }
            std::fs::remove_file(object).expect("remove object");
        }
    }
}

/// A linker concatenates sections; each part keeps its own names.
#[test]
fn several_modules_in_one_file() {
    let (one, two) = (scratch("one.c"), scratch("two.c"));
    std::fs::write(&one, "int first(void) { return 1; }").expect("write");
    std::fs::write(&two, "int second(void) { return 2; }").expect("write");
    let mut bytes = Vec::new();
    for path in [&one, &two] {
        let bitcode = compile(19, path, &["-O0"]);
        bytes.extend(std::fs::read(&bitcode).expect("read"));
        std::fs::remove_file(bitcode).expect("remove");
    }
    let modules = RawModule::parse_all(bytes, "both").expect("valid");
    let names: Vec<_> = modules.iter().map(|m| &*m.functions[0].name).collect();
    assert_eq!(names, ["first", "second"]);
    assert!(modules.iter().all(|m| m.decode_body(0).is_ok()));
    std::fs::remove_file(one).expect("remove");
    std::fs::remove_file(two).expect("remove");
}

#[test]
fn linked_objects_hold_all_modules() {
    let flags = ["-O0", "-fembed-bitcode=all"];
    let (one, two) = (scratch("a.c"), scratch("b.c"));
    std::fs::write(&one, "int first(void) { return 1; }").expect("write");
    std::fs::write(&two, "int second(void) { return 2; }").expect("write");
    let objects = [run_clang(14, &one, &flags), run_clang(14, &two, &flags)];
    let linked = scratch("linked.o");
    let output = std::process::Command::new("clang-14")
        .args(["-r", "-nostdlib", "-o"])
        .arg(&linked)
        .args(&objects)
        .output()
        .expect("the linker runs");
    assert!(output.status.success(), "{output:?}");
    let bytes = std::fs::read(&linked).expect("read");
    let modules = RawModule::parse_all(bytes, "linked.o").expect("valid");
    let names: Vec<_> = modules.iter().map(|m| &*m.functions[0].name).collect();
    assert_eq!(names, ["first", "second"]);
    for path in objects.iter().chain([&linked, &one, &two]) {
        std::fs::remove_file(path).expect("remove");
    }
}

#[test]
fn what_is_not_bitcode() {
    let kind = |bytes: &[u8]| {
        RawModule::parse(bytes, "other")
            .expect_err("not bitcode")
            .what
    };
    assert_eq!(kind(b""), ErrorKind::NotBitcode);
    assert_eq!(kind(b"int main() {}"), ErrorKind::NotBitcode);
    assert_eq!(kind(&[0; 64]), ErrorKind::NotBitcode);
    assert!(matches!(kind(b"BC\xC0\xDE"), ErrorKind::Bitstream(_)));
    let object = run_clang(19, &source("funclets.cpp"), &["-O0", "-fexceptions"]);
    let bytes = std::fs::read(&object).expect("read");
    assert!(matches!(kind(&bytes), ErrorKind::NoBitcodeSection(_)));
    std::fs::remove_file(object).expect("remove");
}

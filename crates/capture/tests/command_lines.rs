//! Compiler command lines as builds write them, and what is left of them for clang.

use drip_capture::{CommandLine, Language, Mode};
use std::path::Path;

fn parse(text: &str) -> CommandLine {
    let argv = shlex::split(text).expect("a well-quoted command");
    CommandLine::parse(&argv, Path::new("/build")).expect("a compiler call")
}

fn flags(text: &str) -> Vec<String> {
    parse(text).flags
}

fn sources(text: &str) -> Vec<(String, Language)> {
    parse(text)
        .sources
        .into_iter()
        .map(|s| (s.path, s.language))
        .collect()
}

#[test]
fn a_plain_compile() {
    let line = parse("gcc -Wall -O2 -g -DX=1 -Iinc -c a.c -o a.o");
    assert_eq!(line.mode, Mode::Compile);
    assert_eq!(line.flags, ["-DX=1", "-Iinc"]);
    assert_eq!(line.output.as_deref(), Some("a.o"));
    assert_eq!(sources("gcc -c a.c"), [("a.c".into(), Language::C)]);
    assert!(line.compiles() && line.dropped.is_empty());
}

#[test]
fn macros_joined_and_separate() {
    assert_eq!(
        flags("cc -D A -DB='x y' -U C -UD '-DE=\"s\"' -c a.c"),
        ["-DA", "-DB=x y", "-UC", "-UD", "-DE=\"s\""]
    );
}

#[test]
fn include_paths_of_all_kinds() {
    let kept = flags(
        "cc -I a -Ib -isystem c -isystemd -iquote e -idirafter f -imacros g.h -isysroot /s -c a.c",
    );
    assert_eq!(
        kept,
        [
            "-I",
            "a",
            "-Ib",
            "-isystem",
            "c",
            "-isystemd",
            "-iquote",
            "e",
            "-idirafter",
            "f",
            "-imacros",
            "g.h",
            "-isysroot",
            "/s"
        ]
    );
    assert_eq!(
        flags("cc --sysroot=/s --sysroot /t -nostdinc -c a.c"),
        ["--sysroot=/s", "--sysroot", "/t", "-nostdinc"]
    );
}

#[test]
fn headers_of_gcc_itself_are_replaced_by_those_of_clang() {
    let kernel =
        "gcc -nostdinc -isystem /usr/lib/gcc/x86_64-linux-gnu/12/include -I./include -c a.c";
    assert_eq!(flags(kernel), ["-nostdlibinc", "-I./include"]);
    assert_eq!(
        flags("gcc -nostdinc -isystem /sdk/include -c a.c"),
        ["-nostdinc", "-isystem", "/sdk/include"]
    );
    assert!(flags("gcc -I/usr/lib/gcc/x86_64-linux-gnu/12/include-fixed/ -c a.c").is_empty());
}

#[test]
fn forced_includes_go_past_precompiled_headers() {
    assert_eq!(
        flags("gcc -include config.h -c a.c"),
        ["-Xclang", "-include", "-Xclang", "config.h"]
    );
    assert_eq!(
        flags("clang -include-pch p.h.pch -c a.c"),
        ["-Xclang", "-include", "-Xclang", "p.h"]
    );
    let cmake = "clang -Winvalid-pch -Xclang -include-pch -Xclang x.pch -Xclang -include -Xclang x.h -c a.c";
    assert_eq!(flags(cmake), ["-Xclang", "-include", "-Xclang", "x.h"]);
}

#[test]
fn standards_machine_and_language_flags_stay() {
    let kept = flags(
        "gcc -std=gnu99 -m32 -march=native -fshort-enums -fno-builtin -pthread -ansi -funsigned-char -c a.c",
    );
    assert_eq!(
        kept,
        [
            "-std=gnu99",
            "-m32",
            "-march=native",
            "-fshort-enums",
            "-fno-builtin",
            "-pthread",
            "-ansi",
            "-funsigned-char"
        ]
    );
}

#[test]
fn optimisation_debug_and_warnings_are_replaced() {
    let line = parse(
        "gcc -O -O3 -Ofast -Os -g3 -ggdb -gdwarf-4 -gsplit-dwarf -gz -Wall -Werror -Wno-error=x -w -pedantic -c a.c",
    );
    assert!(line.flags.is_empty() && line.dropped.is_empty(), "{line:?}");
}

#[test]
fn fortify_is_taken_out_everywhere() {
    let line = parse(
        "gcc -D_FORTIFY_SOURCE=2 -D _FORTIFY_SOURCE=3 -U_FORTIFY_SOURCE -Wp,-D_FORTIFY_SOURCE=2 -DKEEP -c a.c",
    );
    assert_eq!(line.flags, ["-DKEEP"]);
}

#[test]
fn dependency_side_outputs_never_survive() {
    let line = parse(
        "gcc -MD -MP -MF .deps/a.Tpo -MT a.o -MQ b.o -MMD -MG -MF.d/x -Wp,-MMD,.a.d -Wp,-MD,.b.d,-DW -c a.c",
    );
    assert_eq!(line.flags, ["-DW"]);
    assert_eq!(line.mode, Mode::Compile);
    assert_eq!(
        sources("gcc -MF a.c -MT b.c -c real.c"),
        [("real.c".into(), Language::C)]
    );
}

#[test]
fn dependency_only_and_preprocess_only_calls_compile_nothing() {
    for (text, mode) in [
        ("gcc -M a.c", Mode::Dependencies),
        ("gcc -MM -MF x -c a.c", Mode::Dependencies),
        ("gcc -E -dM a.c", Mode::Preprocess),
        ("gcc -fsyntax-only a.c", Mode::SyntaxOnly),
        ("gcc --version", Mode::Query),
        ("gcc -v", Mode::Query),
        ("gcc -print-file-name=libc.a", Mode::Query),
        ("gcc -dumpmachine", Mode::Query),
        ("gcc -### -c a.c", Mode::Query),
    ] {
        let line = parse(text);
        assert_eq!(line.mode, mode, "{text}");
        assert!(!line.compiles(), "{text}");
    }
    assert_eq!(parse("gcc -S a.c").mode, Mode::Assembly);
    assert!(parse("gcc -S a.c").compiles());
}

#[test]
fn several_sources_and_linking_in_one_command() {
    let line = parse(
        "cc -o prog main.c util.c old.o -lm -L/lib lib.a -Wl,-rpath,/x -Xlinker y.c -T script.c -shared",
    );
    assert_eq!(line.mode, Mode::Link);
    let names: Vec<_> = line.sources.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(names, ["main.c", "util.c"]);
    assert_eq!(line.link_inputs, ["old.o", "lib.a"]);
    assert!(line.flags.is_empty());
    assert!(!parse("cc -o prog a.o b.o -lm").compiles());
}

#[test]
fn language_option_holds_until_the_next() {
    assert_eq!(
        sources("gcc -x c++ a.c -xc b.cpp -x none c.cc d.c -c"),
        [
            ("a.c".into(), Language::Cxx),
            ("b.cpp".into(), Language::C),
            ("c.cc".into(), Language::Cxx),
            ("d.c".into(), Language::C),
        ]
    );
    assert_eq!(sources("icc -xHost -c a.c"), [("a.c".into(), Language::C)]);
}

#[test]
fn a_cxx_compiler_compiles_c_files_as_cxx() {
    assert_eq!(sources("g++-12 -c a.c"), [("a.c".into(), Language::Cxx)]);
    assert_eq!(
        sources("clang++ -x c -c a.c"),
        [("a.c".into(), Language::C)]
    );
}

#[test]
fn assembler_headers_and_standard_input() {
    assert_eq!(sources("gcc -c a.S"), [("a.S".into(), Language::Assembler)]);
    assert_eq!(
        sources("gcc -x assembler-with-cpp -c a.c"),
        [("a.c".into(), Language::Assembler)]
    );
    assert_eq!(
        sources("gcc -x c-header h.h -o h.h.gch"),
        [("h.h".into(), Language::Header)]
    );
    assert_eq!(sources("gcc -E -x c -"), [("-".into(), Language::C)]);
}

#[test]
fn launchers_and_libtool_in_front() {
    for text in [
        "ccache gcc -DX -c a.c",
        "/usr/bin/ccache /usr/bin/gcc -DX -c a.c",
        "ccache compiler_check=content gcc -DX -c a.c",
        "distcc ccache gcc -DX -c a.c",
        "sccache clang -DX -c a.c",
        "env CCACHE_DIR=/x ccache gcc -DX -c a.c",
        "/bin/sh ./libtool --tag=CC --mode=compile gcc -DX -c a.c",
        "libtool --silent --mode=compile gcc -DX -c a.c",
    ] {
        let line = parse(text);
        assert_eq!(line.flags, ["-DX"], "{text}");
        assert_eq!(line.sources.len(), 1, "{text}");
        assert!(
            line.compiler.ends_with("gcc") || line.compiler.ends_with("clang"),
            "{text}"
        );
    }
    let argv = ["ccache", "-s"].map(String::from);
    assert_eq!(CommandLine::parse(&argv, Path::new("/")), None);
}

#[test]
fn cross_compilers_get_their_target() {
    assert_eq!(
        flags("aarch64-linux-gnu-gcc -DX -c a.c"),
        ["--target=aarch64-linux-gnu", "-DX"]
    );
    assert_eq!(
        flags("arm-none-eabi-gcc --target=thumbv7em -c a.c"),
        ["--target=thumbv7em"]
    );
    assert_eq!(flags("c99 -c a.c"), ["-std=c99"]);
    assert_eq!(flags("c99 -std=c11 -c a.c"), ["-std=c11"]);
}

#[test]
fn gcc_only_flags_are_dropped_and_named() {
    let line = parse(
        "gcc -fno-tree-vectorize -Wno-maybe-uninitialized -fconserve-stack -mindirect-branch=thunk-extern \
         -fno-var-tracking-assignments -fno-ipa-sra --param=allow-store-data-races=0 --param inline-unit-growth=9 \
         -mpreferred-stack-boundary=3 -falign-jumps=1 -fno-strict-aliasing -c a.c",
    );
    assert_eq!(line.flags, ["-fno-strict-aliasing"]);
    assert_eq!(line.dropped.len(), 10, "{:?}", line.dropped);
    assert!(
        line.dropped
            .contains(&"--param inline-unit-growth=9".to_owned())
    );
}

#[test]
fn instrumentation_is_dropped_and_named() {
    let line = parse(
        "gcc -fsanitize=address,undefined --coverage -ftest-coverage -fprofile-arcs -pg -fopenmp -finstrument-functions \
         -fplugin=x.so -fplugin-arg-x-y=z -c a.c",
    );
    assert!(line.flags.is_empty());
    assert_eq!(line.dropped.len(), 9, "{:?}", line.dropped);
}

#[test]
fn files_that_a_flag_would_write_are_not_written() {
    let line = parse(
        "gcc -save-temps=obj -flto=auto -ffat-lto-objects -fstack-usage -fdump-tree-all -aux-info proto.c -pipe \
         -ftime-trace -dumpbase x.c -fdebug-prefix-map=/a=b -MJ db.json -c a.c",
    );
    assert!(line.flags.is_empty() && line.dropped.is_empty(), "{line:?}");
    assert_eq!(line.sources.len(), 1);
}

#[test]
fn front_end_options() {
    let line = parse(
        "clang -Xclang -load -Xclang p.so -Xclang -fno-pch-timestamp -mllvm -x=1 -Xpreprocessor -DQ -Xassembler z.s -c a.c",
    );
    assert_eq!(line.flags, ["-Xclang", "-fno-pch-timestamp", "-DQ"]);
    assert_eq!(
        flags("clang -arch arm64 -arch x86_64 -c a.c"),
        ["-arch", "arm64"]
    );
}

#[test]
fn response_files_are_read_where_the_command_ran() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("args.rsp"),
        "-DA=\"1 2\" -Iinc\n-c a.c 'b c.c' @more.rsp",
    )
    .unwrap();
    std::fs::write(dir.path().join("more.rsp"), "-DMORE").unwrap();
    let argv = ["gcc", "@args.rsp", "-o", "x.o"].map(String::from);
    let line = CommandLine::parse(&argv, dir.path()).unwrap();
    assert_eq!(line.flags, ["-DA=1 2", "-Iinc", "-DMORE"]);
    let names: Vec<_> = line.sources.iter().map(|s| s.path.as_str()).collect();
    assert_eq!(names, ["a.c", "b c.c"]);
    assert_eq!(line.mode, Mode::Compile);
}

#[test]
fn jobs_have_absolute_sources_and_objects() {
    let jobs = parse("gcc -DX -c ../src/./a.c").jobs(Path::new("/build/sub"), &Default::default());
    assert_eq!(jobs[0].source, Path::new("/build/src/a.c"));
    assert_eq!(jobs[0].source_argument, "../src/./a.c");
    assert_eq!(jobs[0].object.as_deref(), Some(Path::new("/build/sub/a.o")));
    let named = parse("gcc -c a.c -o .libs/a.o").jobs(Path::new("/b"), &Default::default());
    assert_eq!(named[0].object.as_deref(), Some(Path::new("/b/.libs/a.o")));
}

#[test]
fn a_truncated_command_is_no_problem() {
    for text in [
        "gcc -o",
        "gcc -I",
        "gcc -x",
        "gcc -Xclang",
        "gcc --param",
        "gcc -include",
        "gcc -D",
        "gcc -arch",
        "gcc",
    ] {
        assert!(!parse(text).compiles(), "{text}");
    }
}

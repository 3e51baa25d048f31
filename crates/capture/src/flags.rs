//! What does a compiler option mean for a capture: keep it, leave it out, or say that it was dropped?
//!
//! A table of options with their shape, as gcc's and clang's own option tables have it. The longest name that
//! matches wins, so `-fsanitize=` is found before `-f`. What is not in the table and starts with a dash is kept:
//! clang will say if it does not know it, and then it is dropped (see `retry`).

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It changes what the source means (or clang will tell): handed on.
    Keep,
    /// Replaced by the capture's own flags or without meaning for it: output files, optimisation,
    /// warnings, linking, diagnostics. Not worth a word to the user.
    Ignore,
    /// Left out although it changes the code that is made: gcc only, or instrumentation. Listed for the user.
    Drop,
    /// The command does not compile to objects (`-E`, `-M`, `--version`).
    Mode(Mode),
    /// Treated on its own by `command`.
    Special(Special),
}

/// How far a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Compiles (if there are sources) and links.
    Link,
    /// `-c`
    Compile,
    /// `-S`
    Assembly,
    /// `-fsyntax-only`
    SyntaxOnly,
    /// `-E`
    Preprocess,
    /// `-M` or `-MM` alone: prints dependencies
    Dependencies,
    /// `--version`, `-print-…`: asks the compiler about itself
    Query,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// `-x LANGUAGE`
    Language,
    /// `-o FILE`
    Output,
    /// `-DNAME[=VALUE]`, `-UNAME`: kept unless it is about `_FORTIFY_SOURCE`
    Macro,
    /// `-include FILE`
    Include,
    /// `-include-pch FILE`
    IncludePch,
    /// `-Xclang ARGUMENT`
    Xclang,
    /// `-Wp,…`
    PreprocessorList,
    /// `-Xpreprocessor ARGUMENT`
    Preprocessor,
    /// `-arch NAME`
    Arch,
}

/// How an option takes its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `-c`
    Alone,
    /// `-MF file`
    Next,
    /// `-std=c99`
    Joined,
    /// `-Idir` or `-I dir`
    JoinedOrNext,
}

/// An option found in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    pub name: &'static str,
    pub action: Action,
    /// The argument is the next word of the command line.
    pub takes_next: bool,
}

/// Looks `argument` (which starts with a dash) up.
pub(crate) fn classify(argument: &str) -> Meaning {
    let mut best: Option<(&'static str, bool, Action)> = None;
    for (shape, action, names) in TABLE {
        for name in names.split_whitespace() {
            let Some(rest) = argument.strip_prefix(name) else {
                continue;
            };
            let (fits, takes_next) = match shape {
                Shape::Alone => (rest.is_empty(), false),
                Shape::Next => (rest.is_empty(), true),
                Shape::Joined => (true, false),
                Shape::JoinedOrNext => (true, rest.is_empty()),
            };
            if fits && best.is_none_or(|(longest, ..)| name.len() > longest.len()) {
                best = Some((name, takes_next, *action));
            }
        }
    }
    let (name, takes_next, action) = best.unwrap_or(("", false, Action::Keep));
    let action = if is_gcc_only_warning(argument) {
        Action::Drop
    } else {
        action
    };
    Meaning {
        name,
        action,
        takes_next,
    }
}

/// Position-independent code makes no other program; libtool compiles everything once with and once without.
pub(crate) fn is_pic(flag: &str) -> bool {
    matches!(
        flag,
        "-fPIC"
            | "-fpic"
            | "-fPIE"
            | "-fpie"
            | "-fno-PIC"
            | "-fno-pic"
            | "-fno-PIE"
            | "-fno-pie"
            | "-DPIC"
    )
}

fn is_gcc_only_warning(argument: &str) -> bool {
    let Some(name) = argument.strip_prefix("-W") else {
        return false;
    };
    let name = name.strip_prefix("no-").unwrap_or(name);
    let name = name.strip_prefix("error=").unwrap_or(name);
    let name = name.split('=').next().unwrap_or(name);
    GCC_ONLY_WARNINGS
        .split_whitespace()
        .any(|known| known == name)
}

/// Warnings are off in a capture; these are listed as dropped because clang has never heard of them.
const GCC_ONLY_WARNINGS: &str = "
    aggressive-loop-optimizations alloc-size-larger-than arith-conversion
    attribute-alias clobbered dangling-pointer discarded-qualifiers duplicated-branches
    duplicated-cond format-overflow format-truncation hsa jump-misses-init logical-op
    maybe-uninitialized missing-parameter-type old-style-declaration packed-not-aligned
    restrict stringop-overflow stringop-overread stringop-truncation suggest-attribute
    sync-nand trampolines unsafe-loop-optimizations use-after-free useless-cast
    vla-larger-than
";

/// Options of one shape and one fate; the names are separated by white space.
type Row = (Shape, Action, &'static str);

const TABLE: &[Row] = &[
    MODES,
    OTHER_MODES,
    SYNTAX_ONLY,
    PREPROCESS,
    ASSEMBLY,
    COMPILE,
    QUERIES,
    QUERY_PREFIXES,
    LANGUAGE,
    OUTPUT,
    MACRO,
    INCLUDE,
    INCLUDE_PCH,
    XCLANG,
    WP,
    XPREPROCESSOR,
    ARCH,
    KEPT_JOINED,
    KEPT_PATHS,
    KEPT_NEXT,
    REPLACED,
    REPLACED_PREFIXES,
    SIDE_FILES_NEXT,
    LINK_ALONE,
    LINK_PREFIXES,
    LINK_NEXT,
    LINK_ARGUMENTS,
    DIAGNOSTICS,
    INSTRUMENTATION,
    DROPPED_NEXT,
    GCC_ONLY,
];

use Action::{Drop, Ignore, Keep};
use Shape::{Alone, Joined, JoinedOrNext, Next};

const MODES: Row = (Alone, Action::Mode(Mode::Dependencies), "-M -MM");
const OTHER_MODES: Row = (
    Joined,
    Action::Mode(Mode::Dependencies),
    "--dependencies --user-dependencies",
);
const SYNTAX_ONLY: Row = (Alone, Action::Mode(Mode::SyntaxOnly), "-fsyntax-only");
const PREPROCESS: Row = (Alone, Action::Mode(Mode::Preprocess), "-E --preprocess");
const ASSEMBLY: Row = (Alone, Action::Mode(Mode::Assembly), "-S --assemble");
const COMPILE: Row = (Alone, Action::Mode(Mode::Compile), "-c --compile");
const QUERIES: Row = (
    Alone,
    Action::Mode(Mode::Query),
    "--version -V -### -qversion -version -cc1 -cc1as",
);
const QUERY_PREFIXES: Row = (
    Joined,
    Action::Mode(Mode::Query),
    "
    --help --target-help -print- --print- -dumpmachine -dumpversion -dumpfullversion
    -dumpspecs
",
);
const LANGUAGE: Row = (JoinedOrNext, Action::Special(Special::Language), "-x");
const OUTPUT: Row = (JoinedOrNext, Action::Special(Special::Output), "-o");
const MACRO: Row = (JoinedOrNext, Action::Special(Special::Macro), "-D -U");
const INCLUDE: Row = (JoinedOrNext, Action::Special(Special::Include), "-include");
const INCLUDE_PCH: Row = (Next, Action::Special(Special::IncludePch), "-include-pch");
const XCLANG: Row = (Next, Action::Special(Special::Xclang), "-Xclang");
const WP: Row = (Joined, Action::Special(Special::PreprocessorList), "-Wp,");
const XPREPROCESSOR: Row = (
    Next,
    Action::Special(Special::Preprocessor),
    "-Xpreprocessor",
);
const ARCH: Row = (Next, Action::Special(Special::Arch), "-arch");

const KEPT_JOINED: Row = (Joined, Keep, "-undef");
const KEPT_PATHS: Row = (
    JoinedOrNext,
    Keep,
    "
    -I -isystem -iquote -idirafter -imacros -isysroot -iprefix -iwithprefix
    -iwithprefixbefore -iframework -cxx-isystem -F -A
",
);
const KEPT_NEXT: Row = (
    Next,
    Keep,
    "
    --sysroot -target -gcc-toolchain -ivfsoverlay -working-directory -imultilib --std
    --define-macro --undefine-macro --include-directory --include
",
);

/// The capture's own flags take their place, or they only say where else to write.
const REPLACED: Row = (
    Alone,
    Ignore,
    "
    -MD -MMD -MP -MG -MV -w -v --verbose -C -CC -P -H -Q -pipe -time -pass-exit-codes -p
    -emit-llvm -no-canonical-prefixes -no-integrated-cpp -fintegrated-as
    -fno-integrated-as -pedantic-errors --pedantic -Qunused-arguments -Qn -integrated-as
    -no-integrated-as
",
);
const REPLACED_PREFIXES: Row = (
    Joined,
    Ignore,
    "
    -O -g -W -R -pedantic -save-temps --save-temps -flto -fno-lto -ffat-lto -fno-fat-lto
    -fthinlto -fuse-linker-plugin -fno-use-linker-plugin -fwhole-program -fdump-
    -fopt-info -fstack-usage -fcallgraph-info -ftime-trace -ftime-report -fmem-report
    -fsave-optimization-record -foptimization-record -fembed-bitcode -fdebug-prefix-map=
    -ffile-prefix-map= -fmacro-prefix-map= -fprofile-prefix-map= -fcoverage-prefix-map=
    -ffile-compilation-dir= -fdebug-compilation-dir= -frecord-gcc-switches
    -frecord-command-line -grecord- -d -fpch- -fworking-directory -fno-working-directory
    -fcrash-diagnostics -fno-crash-diagnostics -fmodules-cache-path= -fbuild-session
    -resource-dir= -fdirectives-only -fuse-ld= -ld-path= --ld-path=
    -fno-canonical-system-headers -fcanonical-system-headers -frandom-seed=
    -ffunction-sections -fno-function-sections -fdata-sections -fno-data-sections
    -fuse-ctor-homing -fno-unique-section-names
",
);
const SIDE_FILES_NEXT: Row = (
    Next,
    Ignore,
    "
    -aux-info -dumpbase -dumpdir -dumpbase-ext -serialize-diagnostics
    --serialize-diagnostics -index-store-path -index-unit-output-path -dependency-file
    -fdebug-compilation-dir -resource-dir -wrapper -Xanalyzer -Xassembler
    -Xopenmp-target -MJ
",
);

const LINK_ALONE: Row = (
    Alone,
    Ignore,
    "
    -s -r -shared -rdynamic -pie -no-pie -nopie -symbolic -nostdlib -nostdlib++
    -nodefaultlibs -nostartfiles -nolibc -n -N -t -dynamic -dynamiclib -bundle -all_load
    -export-dynamic -shared-libgcc -mwindows -mconsole -mdll -ObjC
    -headerpad_max_install_names
",
);
const LINK_PREFIXES: Row = (
    Joined,
    Ignore,
    "-static -Wl, -Wa, -specs= --specs= -Bstatic -Bdynamic",
);
const LINK_NEXT: Row = (
    Next,
    Ignore,
    "
    -Xlinker -e -framework -weak_framework -install_name -current_version
    -compatibility_version -exported_symbols_list -force_load -bundle_loader -soname
    -version-script -version-info -undefined
",
);
const LINK_ARGUMENTS: Row = (JoinedOrNext, Ignore, "-l -L -T -u -z -B -MF -MT -MQ -rpath");

const DIAGNOSTICS: Row = (
    Joined,
    Ignore,
    "
    -fdiagnostics- -fno-diagnostics- -fcolor-diagnostics -fno-color-diagnostics
    -fansi-escape-codes -fmessage-length= -fmax-errors= -ferror-limit= -fshow-
    -fno-show- -fcaret-diagnostics -fno-caret-diagnostics -ftemplate-backtrace-limit=
    -ftrack-macro-expansion -fno-track-macro-expansion --analyzer -fanalyzer
    -fno-analyzer
",
);

/// Code that the programmer did not write. Without it the bitcode is the program as the source has it.
const INSTRUMENTATION: Row = (
    Joined,
    Drop,
    "
    -fsanitize -fno-sanitize -shared-libsan -fprofile -fno-profile -ftest-coverage
    --coverage -coverage -fcoverage- -fauto-profile -fbranch-probabilities -fcs-profile
    -pg -finstrument- -fxray- -fplugin -fpass-plugin -fopenmp -fopenacc -fgnu-tm
    -ftrivial-auto-var-init -fvtv- -fvtable-verify -fcilkplus -fwhole-program-vtables
    -fvirtual-function-elimination -fsplit-lto-unit -fsplit-stack -fmudflap
",
);
const DROPPED_NEXT: Row = (Next, Drop, "--param -mllvm");

/// Frequent options of gcc that clang does not know. Others are found by trying; these save the try.
const GCC_ONLY: Row = (
    Joined,
    Drop,
    "
    --param= -fabi-compat-version -fabi-version -falign-jumps -fno-align-jumps
    -falign-labels -fno-align-labels -fallow-store-data-races
    -fno-allow-store-data-races -fcaller-saves -fno-caller-saves -fchecking
    -fno-checking -fcode-hoisting -fno-code-hoisting -fcombine-stack-adjustments
    -fcompare-elim -fconcepts -fconserve-stack -fno-conserve-stack -fcprop-registers
    -fcrossjumping -fno-crossjumping -fcx-fortran-rules -fdeclone-ctor-dtor
    -fno-declone-ctor-dtor -fdefer-pop -fno-defer-pop -fdevirtualize -fno-devirtualize
    -fearly-inlining -fno-early-inlining -fexpensive-optimizations
    -fno-expensive-optimizations -fforward-propagate -fno-function-cse -fgcse -fno-gcse
    -fgraphite -fno-guess-branch-probability -fharden- -fhardened -fhoist-adjacent-loads
    -fif-conversion -fno-if-conversion -fimplicit-inline-templates
    -fno-implicit-inline-templates -finline-limit -finline-small-functions
    -fno-inline-small-functions -fipa- -fno-ipa- -fira- -fno-ira-
    -fisolate-erroneous-paths -fno-isolate-erroneous-paths -fivopts -fno-ivopts
    -flarge-source-files -flive-patching -flive-range-shrinkage -floop- -fno-loop-
    -flra-remat -fno-lra-remat -fmodulo-sched -fno-nonansi-builtins -foptimize-strlen
    -fno-optimize-strlen -fpartial-inlining -fno-partial-inlining -fpeel-loops
    -fno-peel-loops -fpeephole -fno-peephole -fpermissive -fprefetch-loop-arrays
    -fno-prefetch-loop-arrays -fno-printf-return-value -frename-registers
    -fno-rename-registers -freorder- -fno-reorder- -frerun-cse-after-loop
    -fno-rerun-cse-after-loop -fsched- -fno-sched- -fschedule- -fno-schedule-
    -fsection-anchors -fno-section-anchors -fselective-scheduling -fshrink-wrap
    -fno-shrink-wrap -fsplit-loops -fsplit-paths -fsplit-wide-types
    -fno-split-wide-types -fssa-phiopt -fno-ssa-phiopt -fstdarg-opt -fstore-merging
    -fno-store-merging -fstrict-volatile-bitfields -fno-strict-volatile-bitfields
    -fthread-jumps -fno-thread-jumps -ftoplevel-reorder -fno-toplevel-reorder -ftracer
    -fno-tracer -ftrampolines -ftree- -fno-tree- -funconstrained-commons
    -funsafe-loop-optimizations -funswitch-loops -fno-unswitch-loops -fvar-tracking
    -fno-var-tracking -fvect-cost-model -fvpt -fweb -fno-web -maccumulate-outgoing-args
    -mno-accumulate-outgoing-args -malign-data= -mfunction-return= -mindirect-branch
    -mno-align-stringops -mno-fp-ret-in-387 -mpreferred-stack-boundary= -mrecord-return
    -mskip-rax-setup -mstringop-strategy=
",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(classify("-fsanitize=address").action, Drop);
        assert_eq!(classify("-fsigned-char").action, Keep);
        assert_eq!(classify("-MD").action, Ignore);
        assert_eq!(classify("-M").action, Action::Mode(Mode::Dependencies));
        assert_eq!(classify("-undef").action, Keep);
        assert_eq!(classify("-usymbol").action, Ignore);
        assert_eq!(classify("-std=gnu99").action, Keep);
        assert_eq!(classify("-static").action, Ignore);
        assert_eq!(
            classify("-include-pch").action,
            Action::Special(Special::IncludePch)
        );
    }

    #[test]
    fn arguments_are_taken_where_the_compiler_takes_them() {
        assert!(classify("-I").takes_next && !classify("-Idir").takes_next);
        assert!(classify("-MF").takes_next && !classify("-MFfile").takes_next);
        assert!(classify("--param").takes_next && !classify("--param=x=1").takes_next);
        assert!(!classify("-O").takes_next && !classify("-g").takes_next);
    }

    #[test]
    fn warnings_only_gcc_has_are_listed() {
        assert_eq!(classify("-Wno-maybe-uninitialized").action, Drop);
        assert_eq!(classify("-Werror=restrict").action, Drop);
        assert_eq!(classify("-Wformat-truncation=2").action, Drop);
        assert_eq!(classify("-Wall").action, Ignore);
    }

    #[test]
    fn unknown_options_are_kept_for_clang_to_judge() {
        let unknown = classify("--some-new-option");
        assert_eq!(
            (unknown.action, unknown.takes_next, unknown.name),
            (Keep, false, "")
        );
    }
}

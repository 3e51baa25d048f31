//! Is this word the name of a C or C++ compiler, and what does the name say?
//!
//! `gcc`, `cc`, `clang++-19`, `x86_64-w64-mingw32-g++`, `arm-none-eabi-gcc-12.2`, `c99`: the base name decides the
//! default language, a prefix that looks like a target triple decides the target.

use std::path::Path;

/// Base names without version and target prefix; true: C++ is the default for `.c` files too.
const BASE_NAMES: [(&str, bool); 17] = [
    ("cc", false),
    ("c++", true),
    ("gcc", false),
    ("g++", true),
    ("clang", false),
    ("clang++", true),
    ("c89", false),
    ("c99", false),
    ("c17", false),
    ("tcc", false),
    ("icc", false),
    ("icpc", true),
    ("icx", false),
    ("icpx", true),
    ("CC", true),
    ("pcc", false),
    ("armclang", false),
];

/// Programs that take a compile command as their arguments.
const LAUNCHERS: [&str; 9] = [
    "ccache",
    "sccache",
    "distcc",
    "icecc",
    "icerun",
    "buildcache",
    "gomacc",
    "pump",
    "firebuild",
];

/// First parts of target triples. A prefix such as `musl-` or `afl-` is not a target.
const ARCHITECTURES: &str = "
    x86_64 i386 i486 i586 i686 aarch64 aarch64_be arm armeb armv6 armv6l armv7 armv7a armv7l
    armv8l mips mipsel mips64 mips64el powerpc powerpc64 powerpc64le riscv32 riscv64 s390x sparc64 loongarch64
";

/// What a compiler's name says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompilerName {
    /// C++ by default (`g++ a.c` compiles C++).
    pub cxx: bool,
    /// The target in a cross compiler's name.
    pub target: Option<String>,
    /// The standard that the name stands for (`c99`).
    pub standard: Option<&'static str>,
}

/// Reads the last part of `word` as a compiler's name.
pub(crate) fn compiler_name(word: &str) -> Option<CompilerName> {
    let file = Path::new(word).file_name()?.to_str()?;
    let file = file.strip_suffix(".exe").unwrap_or(file);
    let base = without_version(file);
    let (prefix, name) = match base.rsplit_once('-') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, base),
    };
    let (name, cxx) = BASE_NAMES.into_iter().find(|(n, _)| *n == name)?;
    // Debian's `c99-gcc` is called so that `c99` can be something else.
    let standard = match prefix
        .filter(|p| matches!(*p, "c89" | "c99"))
        .unwrap_or(name)
    {
        "c89" => Some("-std=c90"),
        "c99" => Some("-std=c99"),
        "c17" => Some("-std=c17"),
        _ => None,
    };
    let target = prefix.filter(|p| is_target(p)).map(str::to_owned);
    Some(CompilerName {
        cxx,
        target,
        standard,
    })
}

fn is_target(prefix: &str) -> bool {
    let architecture = prefix.split('-').next().unwrap_or_default();
    prefix.contains('-')
        && ARCHITECTURES
            .split_whitespace()
            .any(|known| known == architecture)
}

/// `gcc-12.2.0` → `gcc`, `clang-19` → `clang`, `clang19` (BSD) → `clang`.
fn without_version(name: &str) -> &str {
    let trimmed = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if matches!(name, "c89" | "c99" | "c17") {
        return name;
    }
    match trimmed.strip_suffix('-') {
        Some(base) => base,
        None if trimmed.ends_with("clang")
            || trimmed.ends_with("gcc")
            || trimmed.ends_with("++") =>
        {
            trimmed
        }
        None => name,
    }
}

/// Is `word` a program like ccache, whose arguments are a compile command?
pub(crate) fn is_launcher(word: &str) -> bool {
    let file = Path::new(word).file_name().and_then(|f| f.to_str());
    file.is_some_and(|name| LAUNCHERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(word: &str) -> Option<String> {
        compiler_name(word).unwrap().target
    }

    #[test]
    fn plain_versioned_and_absolute_names() {
        for word in [
            "cc",
            "gcc",
            "/usr/bin/gcc-12",
            "clang-19",
            "gcc-12.2.0",
            "clang19",
            "c99",
            "./clang",
            "gcc.exe",
        ] {
            assert!(!compiler_name(word).unwrap().cxx, "{word}");
        }
        for word in [
            "c++",
            "g++",
            "clang++-14",
            "/opt/x/bin/x86_64-linux-gnu-g++-12",
            "CC",
        ] {
            assert!(compiler_name(word).unwrap().cxx, "{word}");
        }
    }

    #[test]
    fn other_programs_are_not_compilers() {
        for word in [
            "gcc-ar",
            "gcc-ranlib-12",
            "clang-format",
            "clang-tidy-19",
            "ld",
            "make",
            "ccache",
            "drip",
            "",
            "cpp",
        ] {
            assert_eq!(compiler_name(word), None, "{word}");
        }
    }

    #[test]
    fn cross_compilers_name_their_target() {
        assert_eq!(target("arm-none-eabi-gcc"), Some("arm-none-eabi".into()));
        assert_eq!(
            target("aarch64-linux-gnu-gcc-12"),
            Some("aarch64-linux-gnu".into())
        );
        assert_eq!(
            target("x86_64-w64-mingw32-g++"),
            Some("x86_64-w64-mingw32".into())
        );
        assert_eq!(target("musl-gcc"), None);
        assert_eq!(target("afl-clang"), None);
        assert_eq!(target("c99-gcc"), None);
    }

    #[test]
    fn names_that_stand_for_a_standard() {
        assert_eq!(compiler_name("c99").unwrap().standard, Some("-std=c99"));
        assert_eq!(
            compiler_name("/usr/bin/c89-gcc").unwrap().standard,
            Some("-std=c90")
        );
        assert_eq!(compiler_name("gcc").unwrap().standard, None);
    }
}

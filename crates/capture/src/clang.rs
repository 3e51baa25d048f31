//! Which clang compiles? The first of: the one asked for, `DRIP_CLANG`, the configuration, the newest on PATH.
//!
//! A clang that was asked for by name must work; it is an error, not a reason to take another one. On PATH
//! the highest version wins, and one that does not start is passed over.
//!
//! Known limit: Apple's clang counts versions in its own way; it is compared by that number.

use crate::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Older bitcode is not read by drip; an older clang is as good as none.
pub const OLDEST_MAJOR: u32 = 11;

/// The highest `clang-N` that is looked for by name. A newer one is found only as plain `clang`.
const HIGHEST_NAMED_MAJOR: u32 = 40;

/// A marker file in directories that hold drip's own compiler wrappers: never take a compiler from there.
pub(crate) const WRAPPER_MARKER: &str = ".drip-wrappers";

/// Where packages put clang without putting it on PATH; looked at last.
const PLACES_BESIDE_PATH: [&str; 3] = [
    "/opt/homebrew/opt/llvm/bin",
    "/usr/local/opt/llvm/bin",
    "/usr/local/llvm/bin",
];

/// A clang that has been started once and said its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClangInfo {
    pub path: PathBuf,
    /// For example `19.1.7`.
    pub version: String,
    pub major: u32,
    /// All that `--version` printed; part of the cache key, since it names vendor, patch level and target.
    pub identity: String,
    /// Who named it: `--clang`, `DRIP_CLANG`, `drip.toml`, `PATH`.
    pub found_by: &'static str,
}

/// Finds the clang to use. `explicit` and `config` are what the user said, if anything.
pub fn find(explicit: Option<&Path>, config: Option<&Path>) -> Result<ClangInfo, Error> {
    let variable = std::env::var_os("DRIP_CLANG")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    find_in(
        explicit,
        variable.as_deref(),
        config,
        std::env::var_os("PATH").unwrap_or_default().as_os_str(),
    )
}

/// [`find`] without the environment, for tests.
pub fn find_in(
    explicit: Option<&Path>,
    variable: Option<&Path>,
    config: Option<&Path>,
    path: &OsStr,
) -> Result<ClangInfo, Error> {
    let named = [
        (explicit, "--clang"),
        (variable, "DRIP_CLANG"),
        (config, "drip.toml"),
    ];
    for (name, found_by) in named {
        if let Some(name) = name {
            return named_clang(name, found_by, path);
        }
    }
    newest_on_path(path)
}

fn named_clang(name: &Path, found_by: &'static str, path: &OsStr) -> Result<ClangInfo, Error> {
    let bad = |reason: String| Error::BadClang {
        path: name.to_owned(),
        reason: format!("{reason} (given by {found_by})"),
    };
    let file = if name.components().count() == 1 && !name.is_absolute() && !name.exists() {
        search_path(name.as_os_str(), path).ok_or_else(|| bad("not found on PATH".into()))?
    } else {
        name.to_owned()
    };
    let info = inspect(&file, found_by).map_err(bad)?;
    if info.major < OLDEST_MAJOR {
        return Err(bad(format!(
            "version {} is older than {OLDEST_MAJOR}",
            info.version
        )));
    }
    Ok(info)
}

fn newest_on_path(path: &OsStr) -> Result<ClangInfo, Error> {
    let mut tried = Vec::new();
    let mut best: Option<ClangInfo> = None;
    for (named_major, file) in candidates(path) {
        // Names come newest first: once one works, only plain `clang` (no number) can be newer.
        if let (Some(info), Some(major)) = (&best, named_major)
            && major <= info.major
        {
            continue;
        }
        match inspect(&file, "PATH") {
            Ok(info) if info.major >= OLDEST_MAJOR => {
                if best.as_ref().is_none_or(|b| info.major > b.major) {
                    best = Some(info);
                }
            }
            Ok(_) | Err(_) => tried.push(file),
        }
    }
    best.ok_or_else(|| Error::NoClang {
        tried,
        hint: install_hint(),
    })
}

/// Files that may be clang, newest name first, then plain `clang`, then the places beside PATH.
fn candidates(path: &OsStr) -> Vec<(Option<u32>, PathBuf)> {
    let mut found = Vec::new();
    for major in (OLDEST_MAJOR..=HIGHEST_NAMED_MAJOR).rev() {
        let name = format!("clang-{major}");
        found.extend(search_path(OsStr::new(&name), path).map(|file| (Some(major), file)));
    }
    found.extend(search_path(OsStr::new("clang"), path).map(|file| (None, file)));
    if found.is_empty() {
        for major in (OLDEST_MAJOR..=HIGHEST_NAMED_MAJOR).rev() {
            let file = PathBuf::from(format!("/usr/lib/llvm-{major}/bin/clang"));
            if is_executable(&file) {
                found.push((Some(major), file));
            }
        }
        let beside = PLACES_BESIDE_PATH
            .iter()
            .map(|place| Path::new(place).join("clang"));
        found.extend(
            beside
                .filter(|file| is_executable(file))
                .map(|file| (None, file)),
        );
    }
    found
}

/// The first executable called `name` on `path`, passing over drip's own wrappers.
pub(crate) fn search_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|dir| !dir.as_os_str().is_empty() && !dir.join(WRAPPER_MARKER).exists())
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Starts `file --version` and reads what it is.
fn inspect(file: &Path, found_by: &'static str) -> Result<ClangInfo, String> {
    let output = Command::new(file)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("it does not start: {e}"))?;
    if !output.status.success() {
        return Err(format!("`--version` ended with {}", output.status));
    }
    let identity = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some((version, major)) = parse_version(&identity) else {
        let first = identity.lines().next().unwrap_or("nothing");
        return Err(format!("it is not clang: `--version` says {first:?}"));
    };
    Ok(ClangInfo {
        path: file.to_owned(),
        version,
        major,
        identity,
        found_by,
    })
}

/// `Debian clang version 19.1.7 (3~deb12u1)` → (`19.1.7`, 19).
fn parse_version(text: &str) -> Option<(String, u32)> {
    let after = text.split_once("clang version ")?.1;
    let version: String = after
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let major = version.split('.').next()?.parse().ok()?;
    Some((version, major))
}

/// What to type to get a clang on this system.
pub fn install_hint() -> String {
    if cfg!(target_os = "macos") {
        return "install it with `brew install llvm` (or `xcode-select --install`)".into();
    }
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    install_hint_for(&text)
}

fn install_hint_for(os_release: &str) -> String {
    let mut families = Vec::new();
    for key in ["ID=", "ID_LIKE="] {
        let line = os_release.lines().find_map(|l| l.strip_prefix(key));
        families.extend(line.unwrap_or("").trim_matches('"').split_whitespace());
    }
    let command = families.iter().find_map(|family| {
        Some(match *family {
            "debian" | "ubuntu" => "sudo apt install clang",
            "fedora" | "rhel" | "centos" => "sudo dnf install clang",
            "arch" => "sudo pacman -S clang",
            "alpine" => "sudo apk add clang",
            "suse" | "opensuse" | "opensuse-leap" | "opensuse-tumbleweed" => {
                "sudo zypper install clang"
            }
            "gentoo" => "sudo emerge llvm-core/clang",
            "nixos" => "nix-shell -p clang",
            _ => return None,
        })
    });
    match command {
        Some(command) => {
            format!("install it with `{command}`, or name one with --clang or DRIP_CLANG")
        }
        None => {
            "install clang (version 11 or newer), or name one with --clang or DRIP_CLANG".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_several_vendors() {
        let debian = "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64-pc-linux-gnu\n";
        assert_eq!(parse_version(debian), Some(("19.1.7".into(), 19)));
        let apple = "Apple clang version 15.0.0 (clang-1500.3.9.4)\n";
        assert_eq!(parse_version(apple), Some(("15.0.0".into(), 15)));
        let plain = "clang version 21.0.0git (https://example.org)\n";
        assert_eq!(parse_version(plain), Some(("21.0.0".into(), 21)));
        assert_eq!(parse_version("gcc (Debian 12.2.0-14) 12.2.0"), None);
    }

    #[test]
    fn hints_name_the_package_manager() {
        assert!(install_hint_for("ID=debian\n").contains("apt install clang"));
        assert!(
            install_hint_for("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n").contains("apt install")
        );
        assert!(
            install_hint_for("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n")
                .contains("dnf install")
        );
        assert!(install_hint_for("ID=plan9\n").contains("version 11 or newer"));
    }

    #[test]
    fn nothing_on_path_is_an_error_with_a_hint() {
        let empty = tempfile::tempdir().unwrap();
        // Systems with clang in a place beside PATH find that one; what may not happen is a silent wrong answer.
        match find_in(None, None, None, empty.path().as_os_str()) {
            Ok(info) => assert!(info.path.starts_with("/usr") || info.path.starts_with("/opt")),
            Err(error) => assert!(error.to_string().contains("install"), "{error}"),
        }
    }

    #[test]
    fn a_named_clang_is_not_replaced_by_another() {
        let path = std::env::var_os("PATH").unwrap();
        let missing = find_in(Some(Path::new("/nonexistent/clang")), None, None, &path);
        let message = missing.unwrap_err().to_string();
        assert!(
            message.contains("/nonexistent/clang") && message.contains("--clang"),
            "{message}"
        );
        let not_clang = find_in(None, Some(Path::new("true")), None, &path)
            .unwrap_err()
            .to_string();
        assert!(
            not_clang.contains("not clang") && not_clang.contains("DRIP_CLANG"),
            "{not_clang}"
        );
    }

    #[test]
    fn the_newest_working_one_wins_and_wrappers_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let script = |sub: &str, name: &str, text: &str| {
            use std::os::unix::fs::PermissionsExt;
            let file = dir.path().join(sub).join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("a", "clang-14", "echo clang version 14.0.6");
        script("a", "clang-17", "exit 1");
        script("b", "clang-16", "echo clang version 16.0.1");
        script("b", "clang", "echo clang version 18.1.0");
        script("w", "clang-30", "echo clang version 30.0.0");
        std::fs::write(dir.path().join("w").join(WRAPPER_MARKER), "").unwrap();
        // Another test's fork may hold a script open for a moment longer ("text file busy").
        std::thread::sleep(std::time::Duration::from_millis(50));
        let path = std::env::join_paths(["w", "a", "b"].map(|d| dir.path().join(d))).unwrap();
        let info = find_in(None, None, None, &path).unwrap();
        assert_eq!((info.major, info.path), (18, dir.path().join("b/clang")));
    }
}

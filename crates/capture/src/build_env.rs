//! The environment of a watched build: wrappers first on PATH, and in place of compilers named by full path.
//!
//! `CC` and its like are changed only where the user named a compiler by its full path, since PATH cannot catch that
//! one; a bare name (`CC="mycc -m32"`) gets a wrapper of the same name on PATH, and the variable stays as it is.

use crate::clang;
use crate::wrapper::{wrapper_directory, wrapper_for};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables in which builds look for a compiler.
const COMPILER_VARIABLES: [&str; 7] = [
    "CC",
    "CXX",
    "HOSTCC",
    "HOSTCXX",
    "CC_FOR_BUILD",
    "CXX_FOR_BUILD",
    "BUILD_CC",
];

/// How a build's environment is changed.
pub(crate) struct Setting {
    /// Where wrapper directories are made.
    pub root: PathBuf,
    /// The binary that the wrappers are links to.
    pub drip: PathBuf,
}

impl Setting {
    /// Puts the wrappers into PATH and in place of compilers that the environment names by full path.
    pub fn prepare(&self, build: &mut Command, set_cc: bool) -> std::io::Result<()> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut extra = Vec::new();
        for variable in COMPILER_VARIABLES {
            let Ok(value) = std::env::var(variable) else {
                continue;
            };
            let (compiler, _) = split_first_word(&value);
            if !compiler.is_empty() && !compiler.contains('/') {
                extra.push(compiler.to_owned());
            } else if let Some(changed) = self.wrapped(&value)? {
                build.env(variable, changed);
            }
        }
        let dir = wrapper_directory(&self.root, &self.drip, &path, &extra)?;
        let dirs = std::iter::once(dir.clone()).chain(std::env::split_paths(&path));
        let joined = std::env::join_paths(dirs).map_err(std::io::Error::other)?;
        build.env("PATH", joined);
        for (variable, name) in [("CC", "cc"), ("CXX", "c++")] {
            if set_cc && std::env::var_os(variable).is_none() && dir.join(name).is_symlink() {
                build.env(variable, dir.join(name));
            }
        }
        Ok(())
    }

    /// `CC=/usr/bin/gcc` on make's command line becomes `CC=` and the wrapper; all else stays as it is.
    pub fn argument(&self, argument: &OsStr) -> std::io::Result<OsString> {
        let setting = argument.to_str().and_then(|text| text.split_once('='));
        if let Some((variable, value)) = setting
            && COMPILER_VARIABLES.contains(&variable)
            && let Some(changed) = self.wrapped(value)?
        {
            return Ok(OsString::from(format!("{variable}={changed}")));
        }
        Ok(argument.to_owned())
    }

    /// `/usr/bin/gcc -m32` with a wrapper in place of the compiler; `None` if it names none by full path.
    fn wrapped(&self, value: &str) -> std::io::Result<Option<String>> {
        let (compiler, rest) = split_first_word(value);
        let file = Path::new(compiler);
        if !file.is_absolute() || !clang::is_executable(file) {
            return Ok(None);
        }
        let wrapper = wrapper_for(&self.root, &self.drip, file)?;
        Ok(Some(format!("{}{rest}", wrapper.display())))
    }
}

fn split_first_word(value: &str) -> (&str, &str) {
    let value = value.trim_start();
    value.split_at(value.find(char::is_whitespace).unwrap_or(value.len()))
}

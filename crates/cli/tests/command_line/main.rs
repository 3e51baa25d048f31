//! The `drip` command from outside: exit codes, messages and files, with a real clang on small projects.

mod commands;
mod common;
mod exit_codes;
mod models;

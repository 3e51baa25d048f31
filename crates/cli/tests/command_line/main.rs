//! The `drip` command from outside: exit codes, messages and files, with a real clang on small projects.

mod bad_input;
mod batches;
mod capturing;
mod commands;
mod common;
mod exit_codes;
mod interrupts;
mod models;
mod statistics;

//! One module per command.

pub mod baseline;
pub mod capture;
pub mod check;
pub mod clean;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod dump;
mod dump_saber;
pub mod explain;
pub mod init;
pub mod ledger;
pub mod man;
pub mod models;
mod roles;

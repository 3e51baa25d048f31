//! Development tasks of the project.
fn main() {}

//! `drip init`: a commented drip.toml.

use crate::config::FILE_NAME;
use crate::exit::Exit;
use crate::output;
use crate::ui::Ui;
use anyhow::bail;
use std::path::Path;

/// Lines that start with `#: ` are settings that are switched off.
pub const TEMPLATE: &str = r##"# Configuration of drip, a finder of heap memory leaks. Everything here is optional.
# To switch a setting on, remove the `#: ` in front of it.

# Rules to report instead of the default ones (D001 to D004); "ALL" is every rule.
#: select = ["ALL"]
# Rules not to report. `drip explain D001` tells what a rule means.
#: ignore = ["D005"]
# Files and directories whose findings are not reported; * and ** are wildcards.
#: exclude = ["third_party", "**/test"]
# Findings accepted by `drip baseline create` are not reported.
#: baseline = "drip-baseline.txt"
# low, medium or high.
#: min-confidence = "medium"
# Follow what fopen, popen, opendir and their like return, too: it has to be closed.
#: resources = true

#: [build]
# The clang to compile with; without it, the newest one on PATH.
#: clang = "clang-19"
# Appended to every compile command.
#: extra-args = ["-DDRIP"]

#: [limits]
#: jobs = 4
# Seconds and megabytes; a run that hits one ends with exit code 3.
#: timeout = 600
#: max-memory = 8000

# The project's own allocator: alloc's result has to be given to free. kind is "heap" (alloc may return null), "nonnull"
# (it never does) or "arena" (blocks are not freed one by one). arg: which argument of free and realloc is the block.
#: [[allocator]]
#: alloc = ["pool_alloc", "pool_strdup"]
#: free = "pool_free"
#: realloc = "pool_realloc"
#: kind = "heap"
#: arg = 0

# A function whose source drip can't see: which arguments it keeps or frees (takes), which it only looks at (borrows),
# what it returns ("owned": the caller has to free it, "borrowed", "arg0"), or that it never returns.
#: [[function]]
#: name = "queue_push"
#: takes = [1]
#: borrows = [0]
#: returns = "borrowed"
"##;

pub fn run(ui: &Ui) -> anyhow::Result<Exit> {
    let file = Path::new(FILE_NAME);
    if file.exists() {
        bail!("{FILE_NAME} exists already");
    }
    output::write_file(file, TEMPLATE)?;
    ui.note(&format!("{FILE_NAME} written"));
    Ok(Exit::Clean)
}

//! `drip clean`: empty the cache.

use crate::exit::Exit;
use crate::ui::Ui;
use crate::{last_run, output};
use anyhow::anyhow;

pub fn run(ui: &Ui) -> anyhow::Result<Exit> {
    let dir = drip_capture::cache::default_dir()
        .ok_or_else(|| anyhow!("there is no cache: neither HOME nor DRIP_CACHE_DIR is set"))?;
    let before = drip_capture::clean(&dir)?;
    let results = last_run::clean()?;
    if !ui.is_quiet() {
        output::print(&format!(
            "{}: {} files ({} MB) and {results} results removed\n",
            dir.display(),
            before.files,
            before.bytes >> 20
        ))?;
    }
    Ok(Exit::Clean)
}

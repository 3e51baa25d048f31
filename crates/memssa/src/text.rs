//! Text form: one line per version, as `n5 r2 = chi i7 (n1) strong`.

use std::fmt;

use crate::{Def, MemSsa};

impl fmt::Display for MemSsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, version) in self.versions.iter_enumerated() {
            write!(f, "{id} {} = ", version.region)?;
            match &version.def {
                Def::Entry => writeln!(f, "entry")?,
                Def::Chi { inst, old, strong } => {
                    writeln!(
                        f,
                        "chi {inst} ({old}) {}",
                        if *strong { "strong" } else { "weak" }
                    )?;
                }
                Def::Phi { block, operands } => {
                    let operands: Vec<String> = operands.iter().map(ToString::to_string).collect();
                    writeln!(f, "phi {block} ({})", operands.join(", "))?;
                }
            }
        }
        let mut uses: Vec<_> = self
            .uses
            .iter()
            .map(|(&(inst, _), &version)| (inst, version))
            .collect();
        uses.sort_unstable();
        for (inst, version) in uses {
            writeln!(f, "{inst} mu {version}")?;
        }
        Ok(())
    }
}

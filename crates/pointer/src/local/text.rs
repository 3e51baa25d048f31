//! Text form of a function's memory, for dumps and tests.

use std::fmt;

use drip_models::Offset;

use super::object::{CellId, Loc, Memory, ObjKind};
use super::solve::LocalMemory;

impl fmt::Display for LocalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, object) in self.memory.objects.iter_enumerated() {
            writeln!(
                f,
                "{id} = {}{}",
                show_kind(&self.memory, object.kind),
                if object.havoc { " havoc" } else { "" }
            )?;
        }
        for (id, set) in self.contents.iter_enumerated() {
            writeln!(
                f,
                "{} -> {}",
                show_cell(&self.memory, id),
                show_set(&self.memory, set)
            )?;
        }
        for (id, set) in self.values.iter_enumerated() {
            if !set.is_empty() {
                writeln!(f, "{id} -> {}", show_set(&self.memory, set))?;
            }
        }
        Ok(())
    }
}

fn show_kind(memory: &Memory, kind: ObjKind) -> String {
    match kind {
        ObjKind::World => "world".into(),
        ObjKind::Stack(inst) => format!("stack {inst}"),
        ObjKind::Global(global) => format!("global {global}"),
        ObjKind::Func(func) => format!("func {func}"),
        ObjKind::Fresh { call, index } => format!("fresh {call}.{index}"),
        ObjKind::Param(n) => format!("*arg{n}"),
        ObjKind::Entry(cell) => format!("*{}", show_cell(memory, cell)),
        ObjKind::Deep(obj) => format!("deep {obj}"),
    }
}

pub fn show_offset(off: Offset) -> String {
    match (off.base, off.stride) {
        (base, 0) => format!("{base}"),
        (0, 1) => "?".into(),
        (base, stride) => format!("{base}+{stride}*"),
    }
}

pub fn show_cell(memory: &Memory, cell: CellId) -> String {
    let cell = memory.cells[cell];
    format!("{}[{}]", cell.obj, show_offset(cell.off))
}

fn show_set(_: &Memory, set: &[Loc]) -> String {
    let parts: Vec<String> = set
        .iter()
        .map(|l| format!("{}+{}", l.obj, show_offset(l.off)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

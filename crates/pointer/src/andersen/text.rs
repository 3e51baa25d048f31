//! Text form: one line per value that points somewhere, one per location that holds something.

use std::fmt::Write as _;

use drip_program::{Program, ValueId};

use super::objects::ObjectKind;
use super::points_to::PointsTo;
use super::{InstanceId, LocId, LocSet};

impl PointsTo<'_> {
    /// `main`, or `xmalloc@main.i7` for a clone.
    pub fn instance_name(&self, instance: InstanceId) -> String {
        let data = &self.instances().list[instance];
        let name = self.system.program.func_name(data.func);
        match data.call {
            None => name.to_owned(),
            Some((caller, call)) => format!("{name}@{}.{call}", self.instance_name(caller)),
        }
    }

    /// `heap(main.i3)+8`.
    pub fn loc_name(&self, loc: LocId) -> String {
        let program: &Program = self.system.program;
        let base = match self.objects().kind_of(loc) {
            ObjectKind::Library => "library".to_owned(),
            ObjectKind::Outside => "outside".to_owned(),
            ObjectKind::Global(global) => format!("@{}", program.global_name(global)),
            ObjectKind::Function(func) => format!("&{}", program.func_name(func)),
            ObjectKind::Stack { instance, inst } => {
                format!("stack({}.{inst})", self.instance_name(instance))
            }
            ObjectKind::Heap {
                instance,
                call,
                index: 0,
            } => format!("heap({}.{call})", self.instance_name(instance)),
            ObjectKind::Heap {
                instance,
                call,
                index,
            } => format!("heap({}.{call}#{index})", self.instance_name(instance)),
            ObjectKind::VarArgs(instance) => {
                format!("varargs({})", self.instance_name(instance))
            }
        };
        match self.objects().offset_of(loc) {
            0 => base,
            offset => format!("{base}+{offset}"),
        }
    }

    pub fn set_text(&self, set: &LocSet) -> String {
        let mut names: Vec<String> = set.iter().map(|loc| self.loc_name(loc)).collect();
        names.sort();
        format!("{{{}}}", names.join(", "))
    }

    /// Points-to sets of the values of `only`, or of all instances and locations.
    pub fn dump(&self, only: Option<drip_program::FuncId>) -> String {
        let mut out = String::new();
        let program = self.system.program;
        for (instance, data) in self.instances().list.iter_enumerated() {
            let body = &program.funcs[data.func].body;
            let (Some(body), true) = (body, only.is_none_or(|f| f == data.func)) else {
                continue;
            };
            let _ = writeln!(out, "{}:", self.instance_name(instance));
            for value in (0..body.value_count()).map(ValueId::new) {
                let set = self.value(instance, value);
                if !set.is_empty() {
                    let _ = writeln!(out, "  {value} -> {}", self.set_text(set));
                }
            }
        }
        if only.is_none() {
            let _ = writeln!(out, "memory:");
            let mut lines: Vec<String> = self
                .locations()
                .filter(|&(_, _, loc)| !self.content(loc).is_empty())
                .map(|(_, _, loc)| {
                    let held = self.set_text(self.content(loc));
                    format!("  {} -> {held}\n", self.loc_name(loc))
                })
                .collect();
            lines.sort();
            out.extend(lines);
        }
        out
    }
}

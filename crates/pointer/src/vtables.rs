//! Question: which functions can a virtual call reach, by the class of its object?
//!
//! A virtual call loads its function from a slot of the table that its object points to. All tables have such a slot; only those of the
//! object's class and of what is derived from it are meant. The class is what the debug info says of the pointer; who is derived from whom
//! stands in the type descriptions (`_ZTI…`) that the tables point to. Classes are compared by their own names, without namespaces and
//! template arguments: classes of one name are one, which only adds functions. Tables of classes of which there are no objects ([`instances`]) are
//! left out.
//! Known limits: pointers whose class nobody names, and tables without descriptions (`-fno-rtti`), which may be anybody's.

use std::cell::RefCell;

use drip_program::{FuncId, GlobalId, Init, Program, Scalar, StrId, Type};
use rustc_hash::FxHashMap;

use crate::instances::instances;

/// Descriptions above one class; what is derived from more may be anybody's.
const MAX_BASES: usize = 64;

struct Table {
    global: GlobalId,
    /// There may be an object of exactly this class.
    is_made: bool,
    /// Mangled names of the class and of all its bases; `None` if nobody says.
    lineage: Option<Vec<StrId>>,
    /// Functions by their distance from where objects point to.
    slots: Vec<(i64, FuncId)>,
}

/// The virtual tables of a program. They live as long as its call graph is built.
pub(crate) struct Vtables<'p> {
    program: &'p Program,
    tables: Vec<Table>,
    /// Tables of the classes that were asked for; empty if there is none.
    known: RefCell<FxHashMap<StrId, Vec<usize>>>,
}

impl<'p> Vtables<'p> {
    pub fn build(program: &'p Program) -> Vtables<'p> {
        let tables = program
            .globals
            .iter_enumerated()
            .filter_map(|(id, global)| {
                let Init::Slots { slots, .. } = &global.init else {
                    return None;
                };
                if !program.global_name(id).starts_with("_ZTV") {
                    return None;
                }
                let functions = slots.iter().filter_map(|&(offset, scalar)| match scalar {
                    Scalar::Func(func) => Some((distance(program, id, offset), func)),
                    _ => None,
                });
                Some(Table {
                    global: id,
                    is_made: true,
                    lineage: lineage(program, id),
                    slots: functions.collect(),
                })
            });
        let mut tables: Vec<Table> = tables.collect();
        let ids: Vec<GlobalId> = tables.iter().map(|table| table.global).collect();
        let is_derived = |derived: usize, base: usize| {
            let base = program.global_name(ids[base]).replacen("_ZTV", "_ZTI", 1);
            let lineage = tables[derived].lineage.iter().flatten();
            lineage
                .map(|&id| program.strings.get(id))
                .any(|name| name == base)
        };
        let made = instances(program, &ids, &is_derived);
        for (table, is_made) in tables.iter_mut().zip(made) {
            table.is_made = is_made;
        }
        Vtables {
            program,
            tables,
            known: RefCell::default(),
        }
    }

    /// What a call through this slot of an object of this class can reach; `None` if no table is known to be of such a class.
    pub fn slot(&self, class: StrId, offset: i64) -> Option<Vec<FuncId>> {
        let mut known = self.known.borrow_mut();
        let tables = known.entry(class).or_insert_with(|| self.tables_of(class));
        if tables.is_empty() {
            return None;
        }
        let made = tables.iter().filter(|&&table| self.tables[table].is_made);
        let made: Vec<usize> = match made.clone().next() {
            Some(_) => made.copied().collect(),
            None => tables.clone(),
        };
        let slots = made.iter().flat_map(|&table| &self.tables[table].slots);
        let there = slots.filter(|(at, _)| *at == offset);
        Some(there.map(|&(_, func)| func).collect())
    }

    fn tables_of(&self, class: StrId) -> Vec<usize> {
        let name = self.program.strings.get(class);
        let name = name.split('<').next().unwrap_or(name);
        let mangled = format!("{}{name}", name.len());
        let is_it = |table: &Table| {
            let lineage = table.lineage.as_ref()?;
            let mut names = lineage.iter().map(|&id| self.program.strings.get(id));
            Some(names.any(|description| description.contains(&mangled)))
        };
        let found: Vec<Option<bool>> = self.tables.iter().map(is_it).collect();
        if !found.contains(&Some(true)) {
            return Vec::new();
        }
        let may_be = |&at: &usize| found[at] != Some(false);
        (0..self.tables.len()).filter(may_be).collect()
    }
}

/// A class and its bases, as far as their descriptions are in sight.
fn lineage(program: &Program, table: GlobalId) -> Option<Vec<StrId>> {
    let described = |global: GlobalId| -> Vec<GlobalId> {
        let Init::Slots { slots, .. } = &program.globals[global].init else {
            return Vec::new();
        };
        let descriptions = slots.iter().filter_map(|&(_, scalar)| match scalar {
            Scalar::Global { global, .. } if is_description(program, global) => Some(global),
            _ => None,
        });
        descriptions.collect()
    };
    let mut found = described(table);
    found.dedup();
    let mut next = 0;
    while next < found.len() {
        for base in described(found[next]) {
            if !found.contains(&base) {
                found.push(base);
            }
        }
        next += 1;
        if found.len() > MAX_BASES {
            return None;
        }
    }
    let names = found.iter().map(|&global| program.globals[global].name);
    (!found.is_empty()).then(|| names.collect())
}

fn is_description(program: &Program, global: GlobalId) -> bool {
    program.global_name(global).starts_with("_ZTI")
}

/// How far a slot of a virtual table is from where objects point to: behind the offset to the top and the type description of its part
/// of the table. Every base with virtual functions of its own has a part.
pub(crate) fn distance(program: &Program, table: GlobalId, offset: u64) -> i64 {
    let global = &program.globals[table];
    let part = match program.types.get(global.ty) {
        Type::Struct(s) => s.fields.iter().rev().find(|(_, at)| *at <= offset),
        _ => None,
    };
    let start = part.map_or(0, |(_, at)| *at);
    let pointer = program.types.layout.pointer_bytes;
    let description = match &global.init {
        Init::Slots { slots, .. } => slots.iter().find_map(|&(at, scalar)| match scalar {
            Scalar::Global { global, .. }
                if (start..offset).contains(&at) && is_description(program, global) =>
            {
                Some(at)
            }
            _ => None,
        }),
        _ => None,
    };
    let point = description.unwrap_or(start + pointer) + pointer;
    offset as i64 - point as i64
}

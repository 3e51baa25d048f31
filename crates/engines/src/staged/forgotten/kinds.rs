//! Question: can a destructor that is registered with its kind of a structure get one that has a field filled?
//!
//! `file_open` makes a `struct map`, and puts `file_read` and `file_close` into it; `net_open` does the same with its own functions. What
//! `net_read` puts into a field of a `struct map` is no matter of `file_close`, which never gets such a one. A destructor's *kin* are those who
//! take its address, those whose address is taken there as well or that stand with it in one table, and all that these can come to. Whoever
//! fills the field has to be of other destructors' kin that free the field, and not of this one's. Cost: one look at all instructions,
//! for programs that ask.

use std::cell::OnceCell;

use drip_program::{Const, FuncId, GlobalId, Init, Op, Operand, Program, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::calls::CallContext;
use super::care::below;
use super::facts::Made;

/// Calls down from the functions that are registered together.
const MAX_DEPTH: usize = 4;

/// Functions that one function or table may name; of more nobody can say that they belong together.
const MAX_TOGETHER: usize = 64;

/// Functions by what they are registered with.
pub struct Kinds {
    mentions: OnceCell<Mentions>,
}

/// Who names which functions without calling them: functions, and tables.
#[derive(Default)]
struct Mentions {
    by_func: FxHashMap<FuncId, Vec<FuncId>>,
    by_table: FxHashMap<GlobalId, Vec<FuncId>>,
    /// Functions and tables that name a function.
    naming: FxHashMap<FuncId, Vec<Naming>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Func(FuncId),
    Table(GlobalId),
}

impl Kinds {
    pub fn new() -> Kinds {
        Kinds {
            mentions: OnceCell::new(),
        }
    }

    /// Is a field only filled in structures that other destructors are registered with, those that free it?
    pub fn is_of_others(
        &self,
        context: &CallContext<'_>,
        destructor: FuncId,
        made: &[Made],
        freeing: &FxHashSet<FuncId>,
    ) -> bool {
        let mentions = self.mentions.get_or_init(|| Mentions::of(context.program));
        let Some(own) = mentions.kin(context, destructor) else {
            return false;
        };
        let kin = freeing.iter().filter(|&&func| func != destructor);
        let others: Vec<_> = kin
            .filter_map(|&func| mentions.kin(context, func))
            .collect();
        made.iter()
            .all(|made| !own.contains(&made.0) && others.iter().any(|kin| kin.contains(&made.0)))
    }
}

impl Mentions {
    fn of(program: &Program) -> Mentions {
        let mut all = Mentions::default();
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (inst, data) in body.insts.iter_enumerated() {
                let called: Option<Operand> = match data.op {
                    Op::Call { callee, .. } | Op::Invoke { callee, .. } => Some(callee),
                    _ => None,
                };
                body.for_each_operand(inst, |operand| {
                    if Some(operand) != called
                        && let Some(&Const::Func(named)) = body.const_of(operand)
                    {
                        all.note(Naming::Func(func), named);
                    }
                });
            }
        }
        for (global, data) in program.globals.iter_enumerated() {
            let Init::Slots { slots, .. } = &data.init else {
                continue;
            };
            for (_, scalar) in slots {
                if let Scalar::Func(named) = *scalar {
                    all.note(Naming::Table(global), named);
                }
            }
        }
        all
    }

    fn note(&mut self, by: Naming, named: FuncId) {
        let together = match by {
            Naming::Func(func) => self.by_func.entry(func).or_default(),
            Naming::Table(table) => self.by_table.entry(table).or_default(),
        };
        if !together.contains(&named) {
            together.push(named);
            self.naming.entry(named).or_default().push(by);
        }
    }

    /// All that belongs to a function that is registered somewhere; none if it is not, or with too many others.
    fn kin(&self, context: &CallContext<'_>, func: FuncId) -> Option<FxHashSet<FuncId>> {
        let mut kin: FxHashSet<FuncId> = FxHashSet::default();
        for naming in self.naming.get(&func)? {
            let together = match naming {
                Naming::Func(by) => {
                    kin.insert(*by);
                    &self.by_func[by]
                }
                Naming::Table(table) => &self.by_table[table],
            };
            if together.len() > MAX_TOGETHER {
                return None;
            }
            kin.extend(together);
        }
        let kin: Vec<FuncId> = kin.into_iter().collect();
        Some(below(&context.graph.graph, &kin, MAX_DEPTH))
    }
}

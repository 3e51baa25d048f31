//! Question: of which classes are there objects?
//!
//! A constructor writes its class's virtual table into the object. Where the constructor of a base runs for a derived object only, the base's
//! table is overwritten before anybody else sees the object: no object is ever of that class, and no virtual call reaches the base's functions by
//! it (rapid type analysis, Bacon and Sweeney 1996). Asked for is who names the table, and who names the constructors that do: anybody but a
//! constructor of the class itself or of what is derived from it makes such objects. Only programs with a `main` are taken to be whole.
//!
//! Known limits: a member by value of a class that is also a base counts as a base; a virtual call out of a base's constructor,
//! by somebody it has given `this` to, would mean the base's own function.

use drip_program::{Body, Const, FuncId, GlobalId, Init, Op, Operand, Program, Scalar};
use rustc_hash::FxHashMap;

/// What a class's name begins with in the symbols of its constructors and destructors: `_ZN` and the name.
struct Classes<'p> {
    program: &'p Program,
    by_name: FxHashMap<&'p str, usize>,
}

/// For each of the tables: may there be an object of exactly that class?
pub(crate) fn instances(
    program: &Program,
    tables: &[GlobalId],
    is_derived: &dyn Fn(usize, usize) -> bool,
) -> Vec<bool> {
    let is_main = |id: FuncId| program.func_name(id) == "main";
    let mut defined = program
        .funcs
        .iter_enumerated()
        .filter(|(_, f)| f.body.is_some());
    if tables.is_empty() || !defined.any(|(id, _)| is_main(id)) {
        return vec![true; tables.len()];
    }
    let by_name = tables.iter().enumerate().filter_map(|(n, &table)| {
        let name = program.global_name(table).strip_prefix("_ZTV")?;
        let nested = name
            .strip_prefix('N')
            .and_then(|name| name.strip_suffix('E'));
        Some((nested.unwrap_or(name), n))
    });
    let classes = Classes {
        program,
        by_name: by_name.collect(),
    };
    let of_table: FxHashMap<GlobalId, usize> = tables
        .iter()
        .enumerate()
        .map(|(n, &table)| (table, n))
        .collect();
    let mut made = vec![false; tables.len()];
    // What is made when the program is built, and tables of tables (virtual bases).
    for (id, global) in program.globals.iter_enumerated() {
        if let Init::Slots { slots, .. } = &global.init {
            for &(_, scalar) in slots {
                if let Scalar::Global { global, .. } = scalar
                    && let Some(&n) = of_table.get(&global)
                    && global != id
                {
                    made[n] = true;
                }
            }
        }
    }
    let mut has_constructor = vec![false; tables.len()];
    for (id, function) in program.funcs.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        let own = classes.of_member(id);
        let is_of = |n: usize| own.is_some_and(|own| own == n || is_derived(own, n));
        for constant in body.consts.iter() {
            match *constant {
                Const::Global { global, .. } => {
                    if let Some(&n) = of_table.get(&global)
                        && !is_of(n)
                    {
                        made[n] = true;
                    }
                }
                Const::Func(callee) => {
                    if let Some(n) = classes.of_constructor(callee)
                        && !(is_of(n) && is_called_for_this(body, callee))
                    {
                        made[n] = true;
                    }
                }
                _ => {}
            }
        }
        if let Some(n) = classes.of_constructor(id) {
            has_constructor[n] = true;
        }
    }
    // A constructor that is not in sight may be called by anybody.
    let pairs = made.iter().zip(&has_constructor);
    pairs.map(|(made, in_sight)| *made || !in_sight).collect()
}

/// Are all calls of the function made for the caller's own object, or a part of it?
fn is_called_for_this(body: &Body, callee: FuncId) -> bool {
    body.insts.iter().all(|data| {
        let (Op::Call {
            callee: called,
            args,
            ..
        }
        | Op::Invoke {
            callee: called,
            args,
            ..
        }) = data.op
        else {
            return true;
        };
        let is_it = matches!(body.const_of(called), Some(Const::Func(func)) if *func == callee);
        !is_it
            || body
                .list(args)
                .first()
                .is_some_and(|&arg| is_own(body, arg))
    })
}

fn is_own(body: &Body, mut pointer: Operand) -> bool {
    while let Some(inst) = pointer.as_value().and_then(|value| body.def(value)) {
        pointer = match body.insts[inst].op {
            Op::PtrAdd { base, .. } => base,
            Op::Cast { value, .. } => value,
            _ => return false,
        };
    }
    pointer.as_value().and_then(|value| body.as_param(value)) == Some(0)
}

impl Classes<'_> {
    /// The class that a function is a constructor or destructor of.
    fn of_member(&self, func: FuncId) -> Option<usize> {
        self.of(
            func,
            &["C1E", "C2E", "C3E", "CI1", "CI2", "D0E", "D1E", "D2E"],
        )
    }

    fn of_constructor(&self, func: FuncId) -> Option<usize> {
        self.of(func, &["C1E", "C2E", "C3E", "CI1", "CI2"])
    }

    fn of(&self, func: FuncId, kinds: &[&str]) -> Option<usize> {
        let name = self.program.func_name(func).strip_prefix("_ZN")?;
        kinds.iter().find_map(|kind| {
            let mut places = name.match_indices(kind);
            places.find_map(|(at, _)| self.by_name.get(&name[..at]).copied())
        })
    }
}

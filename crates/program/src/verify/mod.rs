//! Is a [`Program`] well formed? Whoever builds one must satisfy this; whoever reads one may rely on it.
//!
//! Rules, by file:
//! - `items`: every id outside of bodies exists; types are built from earlier types, their sizes fit into 64 bits; symbols
//!   that other units see have distinct names; initialisers lie inside their global, sorted;
//! - `shape`: blocks tile the instructions in order; each ends in its one terminator; phis come first; every id and pool range
//!   exists; positions are not inlined into themselves;
//! - `types`: operands have the types that their operation asks for;
//! - `flow`: the entry has no predecessors; phis have one entry per incoming edge, equal on parallel edges; each use is
//!   dominated by its definition (of phis: at the end of the incoming block; of an `invoke`'s result: by its normal edge).
//!   In unreachable blocks, dominance is not asked for.
//!
//! Not checked: arguments of calls against the callee's parameters. C without prototypes calls functions with other
//! arguments than they declare, and the program does not keep the type by which a call calls.
//!
//! Functions are checked in parallel; the errors come in the order of the program whatever the number of threads.
//! Never panics, whatever the program holds.

mod flow;
mod items;
mod shape;
mod types;

use std::fmt;

use drip_base::IndexVec;
use rayon::prelude::*;

use crate::body::{Body, Const, Operand, OperandKind};
use crate::ids::*;
use crate::model::{Function, Program};
use crate::types::{Type, Types};

/// No more errors than this are reported per function; the first ones tell what is wrong.
pub const MAX_ERRORS_PER_FUNCTION: usize = 16;

/// One broken rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    pub func: Option<FuncId>,
    pub block: Option<BlockId>,
    pub inst: Option<InstId>,
    /// Symbol name of the function, empty outside of functions.
    pub name: String,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.func.is_some() {
            write!(f, "@{}", self.name)?;
        } else {
            f.write_str("program")?;
        }
        if let Some(block) = self.block {
            write!(f, " {block}")?;
        }
        if let Some(inst) = self.inst {
            write!(f, " {inst}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifyError {}

/// All broken rules of a program; empty if it is well formed.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    let mut errors = items::verify_types(&program.types, program.strings.len());
    if !errors.is_empty() {
        // Nothing else can be looked at without types.
        return errors;
    }
    errors.extend(items::verify_items(program));
    let facts = Facts::new(program);
    let per_function: Vec<Vec<VerifyError>> = (0..program.funcs.len())
        .into_par_iter()
        .map_init(Scratch::default, |scratch, index| {
            verify_function(&facts, FuncId::new(index), scratch)
        })
        .collect();
    errors.extend(per_function.into_iter().flatten());
    errors
}

/// What all functions need to know.
struct Facts<'p> {
    program: &'p Program,
    ptr: Option<TypeId>,
    void: Option<TypeId>,
}

impl<'p> Facts<'p> {
    fn new(program: &'p Program) -> Self {
        let find = |wanted: Type| {
            let mut types = program.types.iter();
            types.find(|(_, ty)| **ty == wanted).map(|(id, _)| id)
        };
        Facts {
            program,
            ptr: find(Type::Ptr),
            void: find(Type::Void),
        }
    }
}

/// Buffers that are kept from one function to the next.
#[derive(Default)]
struct Scratch {
    /// Type of each constant.
    const_types: Vec<TypeId>,
    /// Block of each instruction.
    block_of: Vec<BlockId>,
    /// Counter per block, and value per block.
    counts: Vec<u32>,
    values: Vec<Option<Operand>>,
}

fn verify_function(facts: &Facts<'_>, func: FuncId, scratch: &mut Scratch) -> Vec<VerifyError> {
    let function = &facts.program.funcs[func];
    let Some(body) = &function.body else {
        return Vec::new();
    };
    let mut check = Check {
        facts,
        types: &facts.program.types,
        func,
        function,
        body,
        block: None,
        inst: None,
        errors: Vec::new(),
    };
    // Each step relies on what the steps before have found in order.
    let steps: [fn(&mut Check<'_>, &mut Scratch); 5] = [
        shape::check_tables,
        shape::check_blocks,
        shape::check_addresses_taken,
        types::check_insts,
        flow::check_flow,
    ];
    for step in steps {
        step(&mut check, scratch);
        check.block = None;
        check.inst = None;
        if !check.errors.is_empty() {
            break;
        }
    }
    check.errors.truncate(MAX_ERRORS_PER_FUNCTION);
    check.errors
}

/// The check of one body.
struct Check<'c> {
    facts: &'c Facts<'c>,
    types: &'c Types,
    func: FuncId,
    function: &'c Function,
    body: &'c Body,
    /// Where the check is, for messages.
    block: Option<BlockId>,
    inst: Option<InstId>,
    errors: Vec<VerifyError>,
}

impl<'c> Check<'c> {
    #[cold]
    fn error(&mut self, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS_PER_FUNCTION {
            return;
        }
        let strings = &self.facts.program.strings;
        let name = self.function.name;
        self.errors.push(VerifyError {
            func: Some(self.func),
            block: self.block,
            inst: self.inst,
            name: match name.index() < strings.len() {
                true => strings.get(name).to_owned(),
                false => self.func.to_string(),
            },
            message: message.into(),
        });
    }

    /// The rule named by `message` holds?
    fn require(&mut self, holds: bool, message: &str) {
        if !holds {
            self.error(message);
        }
    }

    fn has_type(&self, id: TypeId) -> bool {
        id.index() < self.types.len()
    }

    /// Type of an operand that exists. `const_types` has one entry per constant.
    fn operand_type(&self, operand: Operand, const_types: &[TypeId]) -> TypeId {
        match operand.kind() {
            OperandKind::Value(value) => self.body.value_ty(value),
            OperandKind::Const(id) => const_types[id.index()],
        }
    }

    /// Type of a constant; `None` for a pointer in a program that has no pointer type.
    fn const_type(&self, constant: &Const) -> Option<TypeId> {
        match constant {
            Const::Int { ty, .. }
            | Const::Float { ty, .. }
            | Const::Zero(ty)
            | Const::Undef(ty)
            | Const::Opaque(ty)
            | Const::Aggregate { ty, .. } => Some(*ty),
            Const::Null | Const::Global { .. } | Const::Func(_) => self.facts.ptr,
        }
    }
}

/// Does a run lie inside its pool?
fn in_pool<T>(pool: &[T], range: crate::body::PoolRange) -> bool {
    (range.start as usize).saturating_add(range.len as usize) <= pool.len()
        && range.start.checked_add(range.len).is_some()
}

fn exists<I: drip_base::EntityId, T>(table: &IndexVec<I, T>, id: I) -> bool {
    id.index() < table.len()
}

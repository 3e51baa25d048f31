//! Changes to one body: a free call goes, an early return comes before it, a free call comes.
//!
//! Bodies are frozen products; here a body is taken apart into lists of instructions per block, changed and numbered again,
//! so that the invariants of [`Body`] hold afterwards (the tests ask the verifier).

use drip_program::builder::for_each_own_operand_mut;
use drip_program::{
    Block, BlockId, Body, CallFlags, CmpPred, Const, FuncAttrs, FuncId, Function, Inst, InstId,
    Linkage, Op, Operand, OperandList, Program, Type, TypeId, UnitId, ValueId,
};

/// The unknown condition of an inserted early return: a function that nobody knows.
const FAILS: &str = "drip_bench_fails";

/// A body in pieces. Instructions keep their old numbers until [`Pieces::assemble`]; new ones are numbered behind them.
struct Pieces {
    body: Body,
    insts: Vec<Inst>,
    blocks: Vec<Vec<usize>>,
}

impl Pieces {
    fn of(body: &Body) -> Pieces {
        let numbers =
            |block: &Block| (block.insts.start as usize..block.insts.end as usize).collect();
        Pieces {
            insts: body.insts.iter().copied().collect(),
            blocks: body.blocks.iter().map(numbers).collect(),
            body: body.clone(),
        }
    }

    fn inst(&mut self, op: Op, ty: TypeId, like: InstId) -> usize {
        let loc = self.insts[like.index()].loc;
        self.insts.push(Inst { op, ty, loc });
        self.insts.len() - 1
    }

    fn value(&self, inst: usize) -> Operand {
        Operand::value(ValueId::new(self.body.params.len() + inst))
    }

    fn constant(&mut self, constant: Const) -> Operand {
        Operand::constant(self.body.consts.push(constant))
    }

    fn operands(&mut self, operands: &[Operand]) -> OperandList {
        let start = self.body.operands.len() as u32;
        self.body.operands.extend_from_slice(operands);
        OperandList {
            start,
            len: operands.len() as u32,
        }
    }

    /// Block and position of an instruction.
    fn find(&self, inst: InstId) -> Option<(usize, usize)> {
        let place = |list: &Vec<usize>| list.iter().position(|&n| n == inst.index());
        self.blocks
            .iter()
            .enumerate()
            .find_map(|(block, list)| place(list).map(|at| (block, at)))
    }

    fn assemble(self) -> Body {
        let mut body = self.body;
        let params = body.params.len();
        let order: Vec<usize> = self.blocks.iter().flatten().copied().collect();
        let mut number = vec![0; self.insts.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new;
        }
        let renumber = |operand: &mut Operand| {
            if let Some(old) = operand.as_value()
                && let Some(inst) = old.index().checked_sub(params)
            {
                *operand = Operand::value(ValueId::new(params + number[inst]));
            }
        };
        let mut start = 0;
        let mut blocks = Vec::new();
        for list in &self.blocks {
            let end = start + list.len() as u32;
            blocks.push(Block { insts: start..end });
            start = end;
        }
        let mut insts: Vec<Inst> = order.iter().map(|&old| self.insts[old]).collect();
        for inst in &mut insts {
            for_each_own_operand_mut(&mut inst.op, renumber);
        }
        body.operands.iter_mut().for_each(renumber);
        body.scaled.iter_mut().for_each(|s| renumber(&mut s.index));
        body.incoming
            .iter_mut()
            .for_each(|i| renumber(&mut i.value));
        body.insts = insts.into();
        body.blocks = blocks.into();
        body
    }
}

/// The body without this call, and without the loads and address arithmetic that only served it: as if the statement were not
/// in the source. What the source keeps in a variable stays (its binding marker uses it), and so does what a macro has tested.
pub fn without_call(body: &Body, call: InstId) -> Body {
    let mut uses = vec![0usize; body.insts.len()];
    let def_of = |operand: Operand| operand.as_value().and_then(|value| body.def(value));
    let count = |inst: InstId, visit: &mut dyn FnMut(InstId)| {
        body.for_each_operand(inst, |operand| {
            def_of(operand).into_iter().for_each(&mut *visit)
        });
    };
    for inst in body.insts.ids().iter() {
        count(inst, &mut |used| uses[used.index()] += 1);
    }
    let serves = |inst: InstId| {
        matches!(
            body.insts[inst].op,
            Op::Load { .. } | Op::Cast { .. } | Op::PtrAdd { .. } | Op::Binary { .. }
        )
    };
    let mut gone = vec![call];
    let mut at = 0;
    while let Some(&inst) = gone.get(at) {
        at += 1;
        count(inst, &mut |used| {
            uses[used.index()] -= 1;
            if uses[used.index()] == 0 && serves(used) {
                gone.push(used);
            }
        });
    }
    let mut pieces = Pieces::of(body);
    for block in &mut pieces.blocks {
        block.retain(|number| gone.iter().all(|inst| inst.index() != *number));
    }
    pieces.assemble()
}

/// The body with `if (drip_bench_fails()) return ERROR;` before this call; nothing if the function returns neither an
/// integer, a pointer nor nothing. ERROR is null or −1 (0 for one-bit integers).
pub fn with_return_before(
    program: &mut Program,
    func: FuncId,
    body: &Body,
    call: InstId,
) -> Option<Body> {
    let Type::Func { ret, .. } = *program.types.get(program.funcs[func].ty) else {
        return None;
    };
    let error = match *program.types.get(ret) {
        Type::Void => None,
        Type::Ptr => Some(Const::Null),
        Type::Int(width @ 1..=64) => Some(Const::Int {
            ty: ret,
            bits: if width == 1 {
                0
            } else {
                u64::MAX >> (64 - width)
            },
        }),
        _ => return None,
    };
    let (void, int, bool_ty) = (
        program.types.intern(Type::Void),
        program.types.intern(Type::Int(32)),
        program.types.intern(Type::Int(1)),
    );
    let fails = fails_function(program, int);
    let mut pieces = Pieces::of(body);
    let (block, at) = pieces.find(call)?;
    let tail = pieces.blocks[block].split_off(at);
    let (out, rest) = (pieces.blocks.len(), pieces.blocks.len() + 1);
    let callee = pieces.constant(Const::Func(fails));
    let args = pieces.operands(&[]);
    let flags = CallFlags(0);
    let asked = pieces.inst(
        Op::Call {
            callee,
            args,
            flags,
        },
        int,
        call,
    );
    let zero = pieces.constant(Const::Int { ty: int, bits: 0 });
    let (a, pred) = (pieces.value(asked), CmpPred::Ne);
    let failed = pieces.inst(Op::Cmp { pred, a, b: zero }, bool_ty, call);
    let branch = Op::CondBr {
        cond: pieces.value(failed),
        then: BlockId::new(out),
        els: BlockId::new(rest),
    };
    let branch = pieces.inst(branch, void, call);
    pieces.blocks[block].extend([asked, failed, branch]);
    let value = error.map(|error| pieces.constant(error));
    let leave = pieces.inst(Op::Ret { value }, void, call);
    pieces.blocks.push(vec![leave]);
    pieces.blocks.push(tail);
    // What came from the old block now comes from its second half.
    for entry in &mut pieces.body.incoming {
        if entry.block == BlockId::new(block) {
            entry.block = BlockId::new(rest);
        }
    }
    Some(pieces.assemble())
}

/// The body with a call `free(pointer)` before each of these instructions.
pub fn with_free_before(
    program: &mut Program,
    body: &Body,
    places: &[InstId],
    pointer: Operand,
    free: FuncId,
) -> Body {
    let void = program.types.intern(Type::Void);
    let mut pieces = Pieces::of(body);
    for &place in places {
        let Some((block, at)) = pieces.find(place) else {
            continue;
        };
        let callee = pieces.constant(Const::Func(free));
        let args = pieces.operands(&[pointer]);
        let flags = CallFlags(CallFlags::NOUNWIND);
        let call = pieces.inst(
            Op::Call {
                callee,
                args,
                flags,
            },
            void,
            place,
        );
        pieces.blocks[block].insert(at, call);
    }
    pieces.assemble()
}

/// Declares the function that decides on early returns, once.
fn fails_function(program: &mut Program, int: TypeId) -> FuncId {
    if let Some(known) = program.find_func(FAILS) {
        return known;
    }
    let ty = Type::Func {
        ret: int,
        params: Box::new([]),
        vararg: false,
    };
    let ty = program.types.intern(ty);
    let name = program.strings.intern(FAILS);
    program.funcs.push(Function {
        name,
        source_name: None,
        unit: UnitId::new(0),
        linkage: Linkage::External,
        ty,
        attrs: FuncAttrs(FuncAttrs::NOUNWIND),
        params: Box::new([]),
        alloc_family: None,
        loc: None,
        di_type: None,
        body: None,
        unreadable: None,
    })
}

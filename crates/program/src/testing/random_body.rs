//! Random bodies in SSA form by construction: first the control flow, then its dominators, then instructions that use only
//! what dominates them, last the entries of phis.

use drip_base::{Dominators, Graph};

use crate::body::*;
use crate::builder::BodyBuilder;
use crate::ids::*;
use crate::model::Program;
use crate::types::Type;

use super::random_flow::{End, reducible_flow, wild_flow};
use super::random_items::Universe;
use super::{Choices, Shape};

/// A function that bodies can call.
pub(super) struct Callee {
    pub id: FuncId,
    pub ret: TypeId,
    pub params: Vec<TypeId>,
}

pub fn random_body(
    c: &mut Choices<'_>,
    program: &mut Program,
    universe: &Universe,
    shape: &Shape,
    func: FuncId,
) -> Body {
    let (ret, params) = match program.types.get(program.funcs[func].ty) {
        Type::Func { ret, params, .. } => (*ret, params.to_vec()),
        _ => (universe.void, Vec::new()),
    };
    let blocks = 1 + c.below(shape.blocks.max(1));
    let ends = match shape.wild_flow {
        true => wild_flow(c, blocks, shape.exotic),
        false => reducible_flow(c, blocks),
    };
    let graph = Graph::from_fn(blocks, |block: BlockId, row: &mut Vec<BlockId>| {
        row.extend(ends[block.index()].targets());
    });
    let preds = graph.reversed();
    let mut body = Generator {
        c,
        program,
        universe,
        shape,
        ret,
        callees: Vec::new(),
        dominators: Dominators::compute(&graph, &preds, BlockId::new(0)),
        preds,
        defs: vec![Vec::new(); blocks],
        b: BodyBuilder::new(params),
        vars: 0,
    };
    body.run(&ends)
}

pub struct Generator<'g, 'c> {
    pub(super) c: &'g mut Choices<'c>,
    pub(super) program: &'g mut Program,
    pub(super) universe: &'g Universe,
    pub(super) shape: &'g Shape,
    ret: TypeId,
    pub(super) callees: Vec<Callee>,
    pub(super) dominators: Dominators<BlockId>,
    preds: Graph<BlockId>,
    /// Values that each block makes, so far.
    pub(super) defs: Vec<Vec<(Operand, TypeId)>>,
    pub(super) b: BodyBuilder,
    pub(super) vars: usize,
}

impl Generator<'_, '_> {
    fn run(&mut self, ends: &[End]) -> Body {
        let blocks: Vec<BlockId> = ends.iter().map(|_| self.b.block()).collect();
        self.find_callees();
        self.entry();
        // Dominators first, so that what they define can be used.
        let mut order = self.dominators.preorder().to_vec();
        order.extend(blocks.iter().filter(|&&b| !self.dominators.is_reachable(b)));
        let mut phis = Vec::new();
        for &block in &order {
            self.phis(block, &mut phis);
            for _ in 0..self.c.below(self.shape.insts + 1) {
                self.random_loc();
                self.inst(block);
            }
            self.end(block, &ends[block.index()]);
        }
        for (block, phi, ty) in phis {
            let preds = self.preds.succs(block).to_vec();
            let mut last: Option<(BlockId, Operand)> = None;
            for pred in preds {
                // Parallel edges are neighbours and carry the same value.
                let value = match last {
                    Some((block, value)) if block == pred => value,
                    _ => self.value(pred, ty),
                };
                last = Some((pred, value));
                self.b.add_incoming(phi, pred, value);
            }
        }
        std::mem::take(&mut self.b).finish()
    }

    fn find_callees(&mut self) {
        for (id, function) in self.program.funcs.iter_enumerated() {
            if let Type::Func { ret, params, .. } = self.program.types.get(function.ty) {
                self.callees.push(Callee {
                    id,
                    ret: *ret,
                    params: params.to_vec(),
                });
            }
        }
    }

    /// Variables, and their unknown first values.
    fn entry(&mut self) {
        self.vars = self.c.below(4);
        for number in 0..self.vars {
            let name = self.program.strings.intern(&format!("var{number}"));
            let di_types = self.program.di_types.len();
            let var = self.b.var(Var {
                name,
                ty: (di_types > 0 && self.c.chance(50))
                    .then(|| DiTypeId::new(self.c.below(di_types))),
                param: self.c.chance(30).then(|| u32::from(self.c.byte() % 4)),
                line: u32::from(self.c.byte()),
            });
            if self.c.chance(60) {
                let ty = self.any_type();
                let var = (!self.c.chance(10)).then_some(var);
                self.def(BlockId::new(0), Op::Uninit { var }, ty);
            }
        }
    }

    pub(super) fn any_type(&mut self) -> TypeId {
        let types = self.universe.value_types(self.shape.exotic);
        self.c.pick(&types)
    }

    fn random_loc(&mut self) {
        let mut outer = None;
        for _ in 0..self.c.below(3) {
            let loc = Loc {
                file: FileId::new(self.c.below(self.program.files.len())),
                line: u32::from(self.c.byte()),
                column: u32::from(self.c.byte()),
                inlined_at: outer,
            };
            outer = Some(self.b.loc(loc));
        }
        self.b.set_loc(outer);
    }

    fn phis(&mut self, block: BlockId, phis: &mut Vec<(BlockId, Operand, TypeId)>) {
        if self.preds.succs(block).is_empty() {
            return;
        }
        for _ in 0..self.c.below(3) {
            let ty = self.any_type();
            let phi = self.b.phi(block, ty);
            self.defs[block.index()].push((phi, ty));
            phis.push((block, phi, ty));
        }
    }

    /// An instruction with a result that later ones may use.
    pub(super) fn def(&mut self, block: BlockId, op: Op, ty: TypeId) -> Operand {
        let value = self.b.push(block, op, ty);
        self.defs[block.index()].push((value, ty));
        value
    }

    pub(super) fn effect(&mut self, block: BlockId, op: Op) {
        self.b.push(block, op, self.universe.void);
    }

    fn end(&mut self, block: BlockId, end: &End) {
        let Universe {
            i1, i32, ptr, node, ..
        } = *self.universe;
        let op = match end {
            End::Ret => Op::Ret {
                value: match self.ret == self.universe.void {
                    true => None,
                    false => Some(self.value(block, self.ret)),
                },
            },
            End::Unreachable => Op::Unreachable,
            End::Br(target) => Op::Br { target: *target },
            End::CondBr(then, els) => Op::CondBr {
                cond: self.value(block, i1),
                then: *then,
                els: *els,
            },
            End::Switch(default, targets) => {
                let cases: Vec<SwitchCase> = (0u64..)
                    .zip(targets)
                    .map(|(value, &target)| SwitchCase { value, target })
                    .collect();
                Op::Switch {
                    value: self.value(block, i32),
                    default: *default,
                    cases: self.b.cases(&cases),
                }
            }
            End::IndirectBr(targets) => Op::IndirectBr {
                addr: self.value(block, ptr),
                targets: self.b.targets(targets),
            },
            End::CallBr(normal, targets) => {
                let arg = self.value(block, i32);
                Op::CallBr {
                    args: self.b.operands(&[arg]),
                    normal: *normal,
                    targets: self.b.targets(targets),
                }
            }
            End::Invoke(normal, unwind) => return self.invoke(block, *normal, *unwind),
            End::Resume => Op::Resume {
                value: self.value(block, node),
            },
        };
        self.effect(block, op);
    }

    fn invoke(&mut self, block: BlockId, normal: BlockId, unwind: BlockId) {
        let (callee, args, ty) = self.call_parts(block);
        let flags = self.flags();
        let op = Op::Invoke {
            callee,
            args,
            flags,
            normal,
            unwind,
        };
        let result = self.b.push(block, op, ty);
        // The result exists only where the normal edge is the one way in.
        if ty != self.universe.void && self.preds.succs(normal) == [block] {
            self.defs[normal.index()].push((result, ty));
        }
    }
}

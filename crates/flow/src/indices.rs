//! What is asked of a function again and again: who reads a value, where memory is touched, which cells hold numbers. Built on first use.

use drip_base::{Graph, IdSet};
use drip_pointer::CellId;
use drip_program::{InstId, Op, Type, ValueId};

use crate::frame::Frame;
use crate::sparse::Touches;
use crate::values::Values;

impl Frame<'_> {
    /// Instructions that read a value; binding markers do not count.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = InstId> + '_ {
        let graph = self.uses.get_or_init(|| {
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for (inst, data) in self.body.insts.iter_enumerated() {
                if !matches!(data.op, Op::Bind { .. }) {
                    self.body.for_each_operand(inst, |operand| {
                        if let Some(value) = operand.as_value() {
                            edges.push((value.as_u32(), inst.as_u32()));
                        }
                    });
                }
            }
            Graph::from_edges(self.body.value_count().max(self.body.insts.len()), edges)
        });
        graph
            .succs(value.as_u32())
            .iter()
            .map(|&inst| InstId::from_u32(inst))
    }

    /// Where memory is touched, for explorations that jump over the rest.
    pub(crate) fn touches(&self, values: &Values) -> &Touches {
        self.touches.get_or_init(|| Touches::build(self, values))
    }

    /// Is the cell accessed here as an integer, and never as a pointer? What it holds is no pointer then.
    pub fn holds_number(&self, cell: CellId) -> bool {
        let numbers = self.numbers.get_or_init(|| {
            let (mut numbers, mut pointers) = (IdSet::new(), IdSet::new());
            for data in self.body.insts.iter() {
                let (addr, ty) = match data.op {
                    Op::Load { addr } => (addr, Some(data.ty)),
                    Op::Store { addr, value } => {
                        (addr, value.as_value().map(|v| self.body.value_ty(v)))
                    }
                    _ => continue,
                };
                let is_number = match ty {
                    Some(ty) => matches!(self.program.types.get(ty), Type::Int(_)),
                    // A constant says nothing of the type.
                    None => continue,
                };
                for &loc in self.local.targets(addr) {
                    let into = if is_number {
                        &mut numbers
                    } else {
                        &mut pointers
                    };
                    into.extend(self.local.memory.find_cell(loc));
                }
            }
            numbers.subtract(&pointers);
            numbers
        });
        numbers.contains(cell)
    }
}

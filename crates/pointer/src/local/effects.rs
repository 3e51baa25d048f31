//! What callees do to memory, by their summaries: fresh objects, writes, copies, escapes.

use drip_models::{Offset, Root, Summary, Value, ValuePath};
use drip_program::{InstId, Op, Operand, ValueId};
use smallvec::SmallVec;

use super::aggregates::is_field_of_result;
use super::object::{CellId, Loc, ObjId, ObjKind};
use super::solve::{LocSet, Solver, insert, world};

impl Solver<'_> {
    /// What a call returns at `offset` of a struct.
    pub(super) fn add_field_of_result(
        &mut self,
        result: ValueId,
        call: InstId,
        summary: &Summary,
        offset: i64,
    ) {
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = self.body.insts[call].op else {
            return;
        };
        let args = self.body.list(args);
        for outcome in &summary.outcomes {
            let fields = outcome.writes.iter();
            let fields = fields.filter(|write| is_field_of_result(&write.cell, offset));
            // The value of a struct is that of its first scalar.
            let whole = Some(&outcome.ret).filter(|_| offset == 0);
            for value in fields.map(|write| &write.value).chain(whole) {
                for target in self.value_targets(call, args, value) {
                    self.add(result, target);
                }
            }
        }
    }

    pub(super) fn call(&mut self, inst: InstId, summary: &Summary, args: &[Operand]) {
        let result = self.body.result(inst);
        for outcome in &summary.outcomes {
            for &index in &outcome.fresh {
                self.out
                    .memory
                    .object(ObjKind::Fresh { call: inst, index }, 0);
            }
            for target in self.value_targets(inst, args, &outcome.ret) {
                self.add(result, target);
            }
            for write in &outcome.writes {
                let targets = self.value_targets(inst, args, &write.value);
                if write.cell.base.root == Root::Ret {
                    for target in targets {
                        self.add(result, target);
                    }
                    continue;
                }
                for loc in self.resolve(inst, args, &write.cell.base) {
                    self.store_at(
                        Loc {
                            obj: loc.obj,
                            off: loc.off.plus(write.cell.offset),
                        },
                        &targets,
                    );
                }
            }
            for copy in &outcome.copies {
                let to = self.out.memory.object(
                    ObjKind::Fresh {
                        call: inst,
                        index: copy.to,
                    },
                    0,
                );
                for from in self.resolve(inst, args, &copy.from) {
                    self.copy_object(
                        from,
                        Loc {
                            obj: to,
                            off: Offset::ZERO,
                        },
                    );
                }
            }
            for escape in &outcome.escapes {
                for loc in self.resolve(inst, args, &escape.path) {
                    self.havoc(loc.obj);
                }
            }
            for free in &outcome.frees {
                // Makes the cells on the way, so that the engine can name what is freed.
                self.resolve(inst, args, &free.path);
            }
            for atom in &outcome.when {
                // The tested cell itself is no pointer that anybody follows.
                if let drip_models::Subject::Entry(path) = &atom.subject
                    && let Some((&last, front)) = path.loads.split_last()
                {
                    let base = ValuePath {
                        root: path.root,
                        loads: front.into(),
                    };
                    for loc in self.resolve(inst, args, &base) {
                        self.read(
                            Loc {
                                obj: loc.obj,
                                off: loc.off.plus(last),
                            },
                            false,
                        );
                    }
                }
            }
        }
    }

    fn havoc(&mut self, obj: ObjId) {
        let object = &mut self.out.memory.objects[obj];
        if !object.havoc && object.kind != ObjKind::World {
            object.havoc = true;
            self.object_grew(obj);
        }
    }

    /// What a havocked object leads to is havocked too.
    pub(super) fn spread_havoc(&mut self) {
        let mut stack: Vec<ObjId> = self
            .out
            .memory
            .objects
            .iter_enumerated()
            .filter(|(_, o)| o.havoc)
            .map(|(id, _)| id)
            .collect();
        while let Some(obj) = stack.pop() {
            let cells: SmallVec<[CellId; 8]> =
                self.out.memory.objects[obj].cells.iter().copied().collect();
            for cell in cells {
                for loc in self.out.contents[cell].clone() {
                    let target = &mut self.out.memory.objects[loc.obj];
                    if !target.havoc && target.kind != ObjKind::World {
                        target.havoc = true;
                        self.object_grew(loc.obj);
                        stack.push(loc.obj);
                    }
                }
            }
        }
    }

    fn value_targets(&mut self, inst: InstId, args: &[Operand], value: &Value) -> LocSet {
        match value {
            Value::Int(_) => LocSet::new(),
            Value::Entry { path, plus } => self
                .resolve(inst, args, path)
                .into_iter()
                .map(|l| Loc {
                    obj: l.obj,
                    off: l.off.plus(*plus),
                })
                .collect(),
            Value::Fresh { index, offset } => {
                let obj = self.out.memory.object(
                    ObjKind::Fresh {
                        call: inst,
                        index: *index,
                    },
                    0,
                );
                LocSet::from_slice(&[Loc { obj, off: *offset }])
            }
            Value::Func(func) => {
                let obj = self.out.memory.object(ObjKind::Func(*func), 0);
                LocSet::from_slice(&[Loc {
                    obj,
                    off: Offset::ZERO,
                }])
            }
            Value::Unknown(_) => {
                if self.pointer_like(self.body.insts[inst].ty) {
                    LocSet::from_slice(&[world()])
                } else {
                    LocSet::new()
                }
            }
        }
    }

    /// As [`LocalMemory::resolve`], making cells on the way.
    fn resolve(&mut self, call: InstId, args: &[Operand], path: &ValuePath) -> LocSet {
        let mut set: LocSet = match path.root {
            Root::Arg(n) => match args.get(usize::from(n)) {
                Some(&arg) => self.out.targets(arg).into(),
                None => LocSet::new(),
            },
            Root::Global(g) => {
                let obj = self.out.memory.object(ObjKind::Global(g), 0);
                LocSet::from_slice(&[Loc {
                    obj,
                    off: Offset::ZERO,
                }])
            }
            Root::Fresh(index) => {
                let obj = self.out.memory.object(ObjKind::Fresh { call, index }, 0);
                LocSet::from_slice(&[Loc {
                    obj,
                    off: Offset::ZERO,
                }])
            }
            Root::Ret => LocSet::new(),
        };
        for &offset in &path.loads {
            let mut next = LocSet::new();
            for loc in set {
                let loc = Loc {
                    obj: loc.obj,
                    off: loc.off.plus(offset),
                };
                self.holds_pointer(loc);
                for target in self.read(loc, true) {
                    insert(&mut next, target);
                }
            }
            set = next;
        }
        set
    }
}

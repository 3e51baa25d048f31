//! What can be asked of a solved function: targets of values, contents of cells, callees' paths, reachable objects.

use drip_base::IdSet;
use drip_models::{Offset, Root, ValuePath};
use drip_program::{InstId, Operand, OperandKind};

use super::object::{Loc, Memory, ObjId, ObjKind};
use super::solve::{LocSet, LocalMemory, insert, world};

/// Targets of one load, before offsets are joined; more are unknown.
const MAX_LOADED: usize = 32;

impl LocalMemory {
    pub fn targets(&self, operand: Operand) -> &[Loc] {
        match operand.kind() {
            OperandKind::Value(v) => &self.values[v],
            OperandKind::Const(c) => &self.consts[c],
        }
    }

    /// What the cells at `loc` may hold.
    pub fn load(&self, loc: Loc) -> LocSet {
        let mut set = LocSet::new();
        if loc.obj == Memory::WORLD {
            insert(&mut set, world());
            return set;
        }
        for cell in self.memory.overlapping(loc) {
            for &target in &self.contents[cell] {
                insert(&mut set, target);
            }
            // More than any set may have: it may be anything.
            if set.len() > MAX_LOADED {
                set.clear();
                set.push(world());
                return set;
            }
        }
        set
    }

    /// Targets of a path of a callee's summary, at a call.
    pub fn resolve(&self, call: InstId, args: &[Operand], path: &ValuePath) -> LocSet {
        let mut set: LocSet = match path.root {
            Root::Arg(n) => match args.get(usize::from(n)) {
                Some(&arg) => self.targets(arg).iter().copied().collect(),
                None => LocSet::new(),
            },
            Root::Global(g) => self.object_set(ObjKind::Global(g)),
            Root::Fresh(k) => self.object_set(ObjKind::Fresh { call, index: k }),
            Root::Ret => LocSet::new(),
        };
        for &offset in &path.loads {
            let mut next = LocSet::new();
            for loc in &set {
                for target in self.load(Loc {
                    obj: loc.obj,
                    off: loc.off.plus(offset),
                }) {
                    insert(&mut next, target);
                }
            }
            set = next;
        }
        set
    }

    fn object_set(&self, kind: ObjKind) -> LocSet {
        self.memory
            .find_object(kind)
            .map(|obj| Loc {
                obj,
                off: Offset::ZERO,
            })
            .into_iter()
            .collect()
    }

    /// Objects that can be reached from `from` by following what cells hold, `from` included; sorted.
    pub fn reachable(&self, from: &[Loc]) -> Vec<ObjId> {
        let mut seen: IdSet<ObjId> = IdSet::with_capacity(self.memory.objects.len());
        let mut stack: Vec<ObjId> = from.iter().map(|l| l.obj).collect();
        while let Some(obj) = stack.pop() {
            if !seen.insert(obj) {
                continue;
            }
            for &cell in &self.memory.objects[obj].cells {
                stack.extend(
                    self.contents[cell]
                        .iter()
                        .map(|l| l.obj)
                        .filter(|&o| !seen.contains(o)),
                );
            }
        }
        seen.iter().collect()
    }
}

//! What does one function do with fields and variables?

use std::collections::btree_map::Entry;

use drip_models::{Offset, Root, Summary, Value, ValuePath};
use drip_pointer::owners::{Field, structure_name, structures_apart, structures_in};
use drip_program::{Const, DiTypeId, InstId, Op, Operand, StrId};

use super::facts::{Facts, Made, Place, Release, Taking};
use super::view::{Uses, View, new_block, releases, returns, taking_of};

/// One function.
pub struct Scan<'v, 's, 'c> {
    view: &'v View<'s, 'c>,
    facts: &'v mut Facts,
    /// Somebody in sight calls the function.
    is_called: bool,
    /// Places that get back what they held before.
    restored: Vec<Place>,
}

impl<'v, 's, 'c> Scan<'v, 's, 'c> {
    pub fn new(view: &'v View<'s, 'c>, facts: &'v mut Facts, is_called: bool) -> Self {
        Scan {
            view,
            facts,
            is_called,
            restored: Vec::new(),
        }
    }

    pub fn run(&mut self) {
        let body = self.view.body;
        for (inst, data) in body.insts.iter_enumerated() {
            match data.op {
                Op::Store { addr, value } => self.store(inst, addr, value),
                Op::Load { addr } => self.load(addr, inst),
                Op::MemCopy { dst, src, .. } => self.copy(inst, dst, src),
                // Bytes of a structure by number: whatever is there.
                Op::PtrAdd { base, indices, .. }
                    if body.scaled(indices).iter().any(|s| s.scale == 1) =>
                {
                    self.hide(base);
                }
                Op::Call { args, .. } | Op::Invoke { args, .. } => {
                    let args = body.list(args).to_vec();
                    self.call(inst, &args);
                }
                _ => {}
            }
            self.addresses(inst);
        }
        // Who puts something else there for a while has seen to it when the old value comes back; if not, that shows on a path.
        for place in std::mem::take(&mut self.restored) {
            if let Entry::Occupied(mut made) = self.facts.made.entry(place) {
                made.get_mut().retain(|made| made.0 != self.view.func);
                if made.get().is_empty() {
                    made.remove();
                }
            }
        }
    }

    /// A variable whose address goes anywhere but to a load, a store or a call may hold anything.
    fn addresses(&mut self, inst: InstId) {
        let body = self.view.body;
        let addr = match body.insts[inst].op {
            Op::Load { addr } | Op::Store { addr, .. } => Some(addr),
            Op::Call { .. } | Op::Invoke { .. } => return,
            _ => None,
        };
        body.for_each_operand(inst, |operand| {
            if Some(operand) != addr
                && let Some(&Const::Global { global, .. }) = body.const_of(operand)
            {
                self.facts.borrow(self.view, Place::Variable(global), inst);
            }
        });
    }

    fn store(&mut self, inst: InstId, addr: Operand, value: Operand) {
        if let Some(place) = self.view.place(addr) {
            if self.is_restored(addr, value) {
                self.restored.push(place);
            }
            self.put(inst, place, value);
        }
    }

    /// `old = s->name; … s->name = old;`
    fn is_restored(&self, addr: Operand, value: Operand) -> bool {
        let way = self.view.way(addr);
        let mut origins = self.view.body.origins(value).into_iter();
        let is_old = |origin: Operand| {
            let def = origin
                .as_value()
                .and_then(|value| self.view.body.def(value));
            match def.map(|inst| self.view.body.insts[inst].op) {
                Some(Op::Load { addr }) => self.view.way(addr) == way,
                _ => false,
            }
        };
        way.is_some() && origins.all(is_old)
    }

    fn copy(&mut self, inst: InstId, dst: Operand, src: Operand) {
        if !self.is_filled_by_copy(inst, dst, src) {
            self.hide(dst);
            self.hide(src);
        }
    }

    /// `*s = (struct s){ .name = … };`: a structure without a name is filled, copied once, and never seen again. That is as good as a store
    /// into each field.
    fn is_filled_by_copy(&mut self, copy: InstId, dst: Operand, src: Operand) -> bool {
        let Some(ty) = self.view.owners.structure(dst) else {
            return false;
        };
        let Some(stores) = self.view.only_filled_for(src, copy) else {
            return false;
        };
        for (store, offset) in stores {
            if let Some(field) = self.view.owners.field_at(ty, offset)
                && let Op::Store { value, .. } = self.view.body.insts[store].op
            {
                self.put(store, Place::Field(field), value);
            }
        }
        true
    }

    /// A value is put into a place.
    fn put(&mut self, inst: InstId, place: Place, value: Operand) {
        let func = self.view.func;
        self.facts.stored.entry(place).or_default().insert(func);
        let made = self.view.maker(value);
        let given = made.and_then(|made| self.view.given_block(value, made, inst));
        let stays = given.is_some();
        if let Some(made) = made.filter(|_| stays) {
            self.facts.made.entry(place).or_default().push(made);
        }
        if let Some(mut cursors) = given {
            cursors.remove(&place);
            self.facts.point_into(place, cursors);
        }
        if self.view.may_be_null_constant(value) {
            self.facts.emptied.entry(place).or_default().insert(func);
        }
        let body = self.view.body;
        let is_fixed =
            |&origin: &Operand| matches!(body.const_of(origin), Some(Const::Global { .. }));
        if body.origins(value).iter().any(is_fixed) {
            self.facts.fixed.insert(place);
        }
        let is_own = stays && self.view.is_null_or_new(value);
        if is_own || self.view.is_null(value) {
            return;
        }
        match self.view.parameter(value) {
            Some(n) => self.facts.handed.push((place, func, n, inst)),
            None => self.facts.borrow(self.view, place, inst),
        }
    }

    fn load(&mut self, addr: Operand, inst: InstId) {
        let types = &self.view.context.program.types;
        if types.size_of(self.view.body.insts[inst].ty) > types.layout.pointer_bytes {
            self.hide(addr);
            return;
        }
        if let Some(place) = self.view.place(addr) {
            self.read(place, inst);
        }
    }

    /// What becomes of what an instruction has read out of a place. A getter moves nothing: its callers, if they are in sight, read the
    /// field by calling it.
    fn read(&mut self, place: Place, inst: InstId) {
        let mut uses = self.view.uses(self.view.body.result(inst), None);
        if let Some(taking) = uses.taking {
            let program = self.view.context.program;
            let function = program.func_name(self.view.func);
            tracing::trace!(place = place.text(program), function, ?taking, takers = ?uses.takers, "taken");
        }
        match uses.taking {
            Some(Taking::Returned)
                if self.stores_behind(place, inst) || self.frees_owner(place, inst) =>
            {
                self.facts.take(place, Taking::Moved, self.view.func);
            }
            Some(Taking::Returned) if self.is_called => {}
            Some(taking) => self.facts.take(place, taking, self.view.func),
            None => {}
        }
        if let Place::Field(field) = place {
            self.elements(field, inst, &uses);
        }
        uses.aliases.remove(&place);
        self.facts.point_into(place, uses.aliases);
    }

    /// Is a new block put here, and nowhere else?
    fn is_given_whole(&self, value: Operand, made: Made, inst: InstId) -> bool {
        let given = self.view.given_block(value, made, inst);
        given.is_some_and(|cursors| cursors.is_empty())
    }

    /// What becomes of the elements of the array that a field points to.
    fn elements(&mut self, field: Field, read: InstId, uses: &Uses) {
        let place = Place::Elements(field);
        let body = self.view.body;
        let is_of_parameter = match body.insts[read].op {
            Op::Load { addr } => {
                let base = self.view.base(addr);
                base.is_some_and(|base| self.is_parameter(Operand::value(base)))
            }
            _ => false,
        };
        let types = &self.view.context.program.types;
        for &inst in &uses.through {
            match body.insts[inst].op {
                Op::Load { .. }
                    if types.size_of(body.insts[inst].ty) == types.layout.pointer_bytes =>
                {
                    let element = self.view.uses(body.result(inst), None);
                    if let Some(taking) = element.taking {
                        self.facts.take(place, taking, self.view.func);
                    }
                    if !element.aliases.is_empty() {
                        self.facts.moved.insert(place);
                    }
                }
                // A field of a structure with a name goes by that.
                Op::Store { addr, .. } if self.view.place(addr).is_some() => {}
                Op::Store { value, .. } => match self.view.maker(value) {
                    Some(made) if self.is_given_whole(value, made, inst) => {
                        self.facts.made.entry(place).or_default().push(made);
                    }
                    _ if self.view.is_null(value) => {}
                    _ => self.facts.borrow(self.view, place, inst),
                },
                _ => {}
            }
        }
        for &(call, n) in &uses.handed {
            let Some(summary) = self.view.summary(call) else {
                continue;
            };
            let is_inside = |path: &ValuePath| path.root == Root::Arg(n) && !path.loads.is_empty();
            let taking = match returns(&summary, is_inside) {
                true => Some(Taking::Moved),
                false => taking_of(&summary, is_inside),
            };
            if let Some(taking) = taking {
                self.facts.take(place, taking, self.view.func);
            }
            if releases(&summary, &ValuePath::arg(n)) {
                let release = Release {
                    func: self.view.func,
                    call,
                    is_parameter: is_of_parameter,
                    is_new: false,
                    is_by_name: true,
                    is_around: false,
                };
                let places = self.facts.released_arrays.entry(field).or_default();
                if places.last().is_none_or(|last| last.func != release.func) {
                    places.push(release);
                }
            }
        }
        let is_shared = matches!(
            uses.taking,
            Some(Taking::Moved | Taking::Lent | Taking::Returned)
        );
        if !uses.aliases.is_empty() || is_shared {
            self.facts.moved.insert(place);
        }
    }

    /// Is the structure that an instruction has read from freed here, too, or one of its kind (`item = q->head->item; old = q->head;
    /// free(old);`)? Then what it held is moved out of it.
    fn frees_owner(&self, place: Place, read: InstId) -> bool {
        let Op::Load { addr } = self.view.body.insts[read].op else {
            return false;
        };
        let owner = self.view.base(addr);
        let is_freed = owner.is_some_and(|owner| {
            let takers = self.view.uses(owner, None).takers;
            takers.iter().any(|taker| taker.1 == Taking::Freed)
        });
        is_freed || place.structure().is_some_and(|name| self.frees_kind(name))
    }

    /// Does the function free a structure of this name?
    fn frees_kind(&self, name: StrId) -> bool {
        let body = self.view.body;
        body.insts.iter_enumerated().any(|(call, data)| {
            let (Op::Call { args, .. } | Op::Invoke { args, .. }) = data.op else {
                return false;
            };
            let mut args = (0u16..).zip(body.list(args));
            args.any(|(n, &arg)| {
                let ty = self.view.owners.structure(arg);
                let kind = ty.and_then(|ty| structure_name(self.view.context.program, ty));
                let summary = self.view.summary(call).filter(|_| kind == Some(name));
                summary.is_some_and(|summary| releases(&summary, &ValuePath::arg(n)))
            })
        })
    }

    /// Does the function put something into the place after it has read it? What it returns then is not there any more.
    fn stores_behind(&self, place: Place, read: InstId) -> bool {
        let mut insts = self.view.body.insts.iter_enumerated();
        insts.any(|(inst, data)| match data.op {
            Op::Store { addr, .. } => {
                self.view.place(addr) == Some(place) && !self.view.is_before(inst, read)
            }
            _ => false,
        })
    }

    /// The structure behind a pointer is not told field by field.
    fn hide(&mut self, pointer: Operand) {
        if let Some(ty) = self.view.owners.structure(pointer) {
            let hidden = structures_in(self.view.context.program, ty);
            self.facts.opaque.extend(hidden);
        }
    }

    /// Is it a parameter of the function, under whatever name?
    fn is_parameter(&self, operand: Operand) -> bool {
        let value = operand.as_value();
        value.is_some_and(|value| self.view.body.as_param(value).is_some())
    }

    /// Structures that a call makes or frees; places whose address it gets; fields that its summary says it frees.
    fn call(&mut self, call: InstId, args: &[Operand]) {
        let Some(summary) = self.view.summary(call) else {
            return;
        };
        let result = Operand::value(self.view.body.result(call));
        if let Some(index) = new_block(&summary)
            && let Some(ty) = self.view.owners.structure(result)
            && let Some(name) = structure_name(self.view.context.program, ty)
        {
            let made = self.facts.made_structures.entry(name).or_default();
            made.push((self.view.func, call, index));
        }
        for (n, &arg) in (0u16..).zip(args) {
            self.place_by_address(call, &summary, n, arg);
            self.release_by_address(call, &summary, n, arg);
            let Some(ty) = self.view.owners.structure(arg) else {
                continue;
            };
            if new_block(&summary).is_some() && self.is_copied(call, n) {
                self.hide(arg);
            }
            for outcome in &summary.outcomes {
                if let Value::Entry { path, plus } = &outcome.ret
                    && let (Root::Arg(m), [load]) = (path.root, &path.loads[..])
                    && (m, *plus, load.is_exact()) == (n, Offset::ZERO, true)
                    && let Some(field) = self.view.owners.field_at(ty, load.base)
                {
                    self.read(Place::Field(field), call);
                }
            }
            if releases(&summary, &ValuePath::arg(n)) {
                let (is_parameter, is_new) =
                    (self.is_parameter(arg), self.view.may_be_made_here(arg));
                self.release(call, ty, is_parameter, is_new);
            }
            self.freed_by_summary(call, &summary, n, ty);
        }
    }

    /// `release(&s)`: the structure is freed that a variable of the function's own points to.
    fn release_by_address(&mut self, call: InstId, summary: &Summary, n: u16, arg: Operand) {
        let held = ValuePath::arg(n).load(Offset::ZERO);
        let Some(ty) = self.view.owners.held_structure(arg) else {
            return;
        };
        if let Some(stored) = self.view.put_into_variable(arg)
            && releases(summary, &held)
        {
            let mut origins = stored
                .iter()
                .flat_map(|&value| self.view.body.origins(value));
            let is_parameter =
                !stored.is_empty() && origins.all(|origin| self.is_parameter(origin));
            let is_new = stored.is_empty()
                || (stored.iter()).any(|&value| self.view.may_be_made_here(value));
            self.release(call, ty, is_parameter, is_new);
        }
    }

    /// Does a function that makes a block copy what this argument points to (`memdup(p, sizeof(*p))`)?
    fn is_copied(&self, call: InstId, n: u16) -> bool {
        let body = self.view.body;
        let (Op::Call { callee, .. } | Op::Invoke { callee, .. }) = body.insts[call].op else {
            return false;
        };
        let Some(&Const::Func(callee)) = body.const_of(callee) else {
            return false;
        };
        let n = usize::from(n);
        let copier = self.view.context.program.funcs[callee].body.as_ref();
        copier.is_some_and(|body| {
            let is_parameter =
                |src: Operand| src.as_value().and_then(|src| body.as_param(src)) == Some(n);
            let mut insts = body.insts.iter();
            insts.any(|data| matches!(data.op, Op::MemCopy { src, .. } if is_parameter(src)))
        })
    }

    /// Freed by somebody who sees the structure as something else.
    fn freed_by_summary(&mut self, call: InstId, summary: &Summary, n: u16, ty: DiTypeId) {
        let frees = summary.outcomes.iter().flat_map(|outcome| &outcome.frees);
        for free in frees.filter(|free| free.path.root == Root::Arg(n)) {
            let Some(load) = free.path.loads.first() else {
                continue;
            };
            let field = self.view.owners.field_at(ty, load.base);
            match field.filter(|_| load.is_exact()) {
                Some(field) => {
                    let place = match free.path.loads.len() {
                        1 => Place::Field(field),
                        _ => Place::Elements(field),
                    };
                    let calls = self.facts.freed_by_calls.entry(place).or_default();
                    calls.push((self.view.func, call));
                }
                None if load.is_exact() => {}
                // Whoever frees a field by its name is seen there.
                None => {
                    for hidden in structures_in(self.view.context.program, ty) {
                        let calling = self.facts.vague.entry(hidden).or_default();
                        calling.insert(self.view.func);
                    }
                }
            }
        }
    }

    fn release(&mut self, call: InstId, ty: DiTypeId, is_parameter: bool, is_new: bool) {
        let program = self.view.context.program;
        let own = structure_name(program, ty);
        let apart = structures_apart(program, ty);
        for name in structures_in(program, ty) {
            let place = Release {
                func: self.view.func,
                call,
                is_parameter,
                is_new,
                is_by_name: apart.contains(&name),
                is_around: own != Some(name),
            };
            let places = self.facts.released.entry(name).or_default();
            let is_known = |known: &&mut Release| known.func == place.func;
            match places.last_mut().filter(is_known) {
                Some(known) => known.is_around &= place.is_around,
                None => places.push(place),
            }
        }
    }

    /// `make(&s->name)`, `clear(&s->name)`.
    fn place_by_address(&mut self, call: InstId, summary: &Summary, n: u16, arg: Operand) {
        let place = self.view.place(arg);
        let Some(place) = place.filter(|place| {
            matches!(place, Place::Variable(_)) || !self.view.owners.is_pointer_itself(arg)
        }) else {
            return;
        };
        let func = self.view.func;
        // What the callee does to other fields of the same structure is their matter.
        let is_inside = |path: &ValuePath| {
            let first = path.loads.first();
            let is_here = first.is_none_or(|load| !load.is_exact() || load.base == 0);
            path.root == Root::Arg(n) && is_here
        };
        let taking = match returns(summary, is_inside) {
            true => Some(Taking::Moved),
            false => taking_of(summary, is_inside),
        };
        if let Some(taking) = taking {
            self.facts.take(place, taking, func);
        }
        for write in summary.outcomes.iter().flat_map(|outcome| &outcome.writes) {
            if write.cell.base != ValuePath::arg(n) {
                continue;
            }
            self.facts.stored.entry(place).or_default().insert(func);
            let is_first = write.cell.offset.is_exact() && write.cell.offset.base == 0;
            match write.value {
                Value::Fresh { index, .. } if is_first => {
                    let made = (func, call, index);
                    self.facts.made.entry(place).or_default().push(made);
                    let mut others = self.places_of_block(call, summary, n, index);
                    others.retain(|&other| other != place);
                    self.facts.point_into(place, others.into_iter().collect());
                }
                Value::Int(0) => {}
                _ => self.facts.borrow(self.view, place, call),
            }
        }
    }

    /// Other places that a call puts the same new block into (`append(&s->items, &s->current)`).
    fn places_of_block(&self, call: InstId, summary: &Summary, n: u16, index: u16) -> Vec<Place> {
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = self.view.body.insts[call].op
        else {
            return Vec::new();
        };
        let args = self.view.body.list(args);
        let writes = summary.outcomes.iter().flat_map(|outcome| &outcome.writes);
        let same = writes.filter(
            |write| matches!(write.value, Value::Fresh { index: other, .. } if other == index),
        );
        let places = same.filter_map(|write| match write.cell.base.root {
            Root::Arg(m) if m != n && write.cell.base == ValuePath::arg(m) => {
                self.view.place(*args.get(usize::from(m))?)
            }
            _ => None,
        });
        places.collect()
    }
}

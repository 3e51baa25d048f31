//! Single instructions: what they compute, read and write.

use std::rc::Rc;

use drip_cond::{Sort, TermId};
use drip_flow::arithmetic::{self, sort_of, widened};
use drip_flow::{as_error_number, reads_error_number};
use drip_program::{
    BinaryOp, Body, CastOp, CmpPred, Const, InstId, Op, Operand, RmwOp, Type, TypeId, ValueId,
};

use super::machine::Machine;
use super::run::{Activation, Env, Next, Run};
use super::world::{Fate, Kind, Place, Value, Word, World};

impl Machine<'_, '_> {
    pub fn condition(
        &mut self,
        activation: &Activation<'_>,
        env: &Env,
        operand: Operand,
    ) -> TermId {
        let term = self.word(activation, env, operand).term;
        self.terms.truthy(term)
    }

    pub fn word(&mut self, activation: &Activation<'_>, env: &Env, operand: Operand) -> Word {
        match self.value(activation, env, operand) {
            Value::Word(word) => word,
            _ => self.unknown_word(Sort::Bits(64)),
        }
    }

    pub fn value(&mut self, activation: &Activation<'_>, env: &Env, operand: Operand) -> Value {
        let body = activation.body;
        let program = self.context.program;
        if let Some(value) = operand.as_value() {
            return match env.get(value) {
                Some(known) => known.clone(),
                None => {
                    let sort = sort_of(program, body.value_ty(value));
                    Value::Word(self.unknown_word(sort))
                }
            };
        }
        let word = match body.const_of(operand) {
            Some(&Const::Int { ty, bits }) => self.number(sort_of(program, ty), bits),
            Some(Const::Null) => self.number(Sort::Bits(64), 0),
            Some(&Const::Global { global, offset }) => {
                let obj = self.object(Kind::Global(global));
                self.address(obj, offset)
            }
            Some(&Const::Func(func)) => {
                let obj = self.object(Kind::Func(func));
                self.address(obj, 0)
            }
            Some(&Const::Float { bits, .. }) => self.number(Sort::Bits(64), bits),
            Some(&Const::Zero(ty)) => match program.types.get(ty) {
                Type::Struct(fields) => {
                    let sorts: Vec<Sort> = fields
                        .fields
                        .iter()
                        .map(|f| sort_of(program, f.0))
                        .collect();
                    let zeros = sorts.into_iter().map(|sort| self.number(sort, 0));
                    return Value::Fields(zeros.collect());
                }
                _ => self.number(sort_of(program, ty), 0),
            },
            Some(Const::Undef(ty) | Const::Opaque(ty) | Const::Aggregate { ty, .. }) => {
                match program.types.get(*ty) {
                    Type::Struct(fields) => {
                        let sorts: Vec<Sort> = fields
                            .fields
                            .iter()
                            .map(|f| sort_of(program, f.0))
                            .collect();
                        let unknown = sorts.into_iter().map(|sort| self.unknown_word(sort));
                        return Value::Fields(unknown.collect());
                    }
                    _ => self.unknown_word(sort_of(program, *ty)),
                }
            }
            None => self.unknown_word(Sort::Bits(64)),
        };
        Value::Word(word)
    }

    /// Executes one instruction that is no branch. `None` when the fuel is used up.
    pub fn step(
        &mut self,
        activation: &Activation<'_>,
        run: &mut Run,
        inst: InstId,
    ) -> Option<Next> {
        let body = activation.body;
        let data = body.insts[inst];
        let result = body.result(inst);
        let sort = sort_of(self.context.program, data.ty);
        let value = match data.op {
            Op::Alloca { .. } => {
                let activation = activation.number;
                let obj = self.object(Kind::Stack { activation, inst });
                Value::Word(self.address(obj, 0))
            }
            Op::Load { addr } => {
                let at = self.word(activation, &run.env, addr);
                let Some(place) = self.used_place(&mut run.world, at) else {
                    return Some(Next::Dead);
                };
                match self.read(&mut run.world, place, data.ty) {
                    Value::Word(word) if reads_error_number(self.context.program, body, addr) => {
                        let term = as_error_number(&mut self.terms, word.term);
                        Value::Word(Word { term, ..word })
                    }
                    value => value,
                }
            }
            Op::Store { addr, value } => {
                let addr = self.word(activation, &run.env, addr);
                let new = self.value(activation, &run.env, value);
                let Some(place) = self.used_place(&mut run.world, addr) else {
                    return Some(Next::Dead);
                };
                let ty = self.operand_type(body, value);
                self.write(&mut run.world, place, &new, ty);
                return Some(Next::Here);
            }
            Op::PtrAdd {
                base,
                offset,
                indices,
            } => {
                let base = self.word(activation, &run.env, base);
                let mut delta = self.terms.int(64, offset as u64);
                for scaled in body.scaled(indices) {
                    let index = self.word(activation, &run.env, scaled.index).term;
                    let index = widened(&mut self.terms, index, 64, true);
                    let scale = self.terms.int(64, scaled.scale as u64);
                    let product = self.terms.mul(index, scale);
                    delta = self.terms.add(delta, product);
                }
                Value::Word(self.moved(base, delta))
            }
            Op::MemCopy { .. } | Op::MemSet { .. } => {
                return Some(self.fill(activation, run, data.op));
            }
            Op::Cast { op, value } => {
                let word = self.word(activation, &run.env, value);
                Value::Word(self.cast(op, word, sort))
            }
            Op::Binary { op, a, b } => {
                let (a, b) = (
                    self.word(activation, &run.env, a),
                    self.word(activation, &run.env, b),
                );
                Value::Word(self.binary(op, a, b, sort))
            }
            Op::Cmp { pred, a, b } => {
                let (a, b) = (
                    self.word(activation, &run.env, a),
                    self.word(activation, &run.env, b),
                );
                Value::Word(self.compare(&run.world, pred, a, b))
            }
            Op::Select { cond, then, els } => {
                return Some(self.select(activation, run, result, cond, then, els));
            }
            Op::Call { .. } | Op::Invoke { .. } => return self.call(activation, run, inst),
            Op::ExtractValue { .. } | Op::InsertValue { .. } => {
                self.part(activation, run, data.op, sort)
            }
            Op::AtomicRmw { addr, value, op } => {
                let addr = self.word(activation, &run.env, addr);
                let new = self.word(activation, &run.env, value);
                let Some(place) = self.used_place(&mut run.world, addr) else {
                    return Some(Next::Dead);
                };
                Value::Word(self.modify(&mut run.world, place, op, new, data.ty))
            }
            Op::CmpXchg {
                addr,
                expected,
                new,
            } => {
                let addr = self.word(activation, &run.env, addr);
                let expected = self.word(activation, &run.env, expected);
                let new = self.word(activation, &run.env, new);
                let Some(place) = self.used_place(&mut run.world, addr) else {
                    return Some(Next::Dead);
                };
                self.exchange(&mut run.world, place, expected, new)
            }
            Op::Opaque { args } | Op::CallBr { args, .. } => {
                for &arg in body.list(args) {
                    let word = self.word(activation, &run.env, arg);
                    self.lose_sight(&mut run.world, word);
                }
                Value::Word(self.unknown_word(sort))
            }
            Op::Bind { .. } => return Some(Next::Here),
            _ => Value::Word(self.unknown_word(sort)),
        };
        Rc::make_mut(&mut run.env).insert(result, value);
        Some(Next::Here)
    }

    /// Copies or sets a range of memory.
    fn fill(&mut self, activation: &Activation<'_>, run: &mut Run, op: Op) -> Next {
        match op {
            Op::MemCopy { dst, src, len } => {
                let (dst, src) = (
                    self.word(activation, &run.env, dst),
                    self.word(activation, &run.env, src),
                );
                let len = self.word(activation, &run.env, len).term;
                let len = self.offset(len);
                if len == Some(0) {
                    return Next::Here;
                }
                let world = &mut run.world;
                let (to, from) = (self.used_place(world, dst), self.used_place(world, src));
                let (Some(to), Some(from)) = (to, from) else {
                    return Next::Dead;
                };
                self.copy(world, to, from, len.filter(|&len| len > 0));
                Next::Here
            }
            Op::MemSet { dst, byte, len } => {
                let dst = self.word(activation, &run.env, dst);
                let byte = self.word(activation, &run.env, byte).term;
                let len = self.word(activation, &run.env, len).term;
                let Some(place) = self.used_place(&mut run.world, dst) else {
                    return Next::Dead;
                };
                let is_zero = self.terms.as_int(byte) == Some(0);
                match (self.offset(place.off), self.offset(len)) {
                    (Some(at), Some(len)) if is_zero && len >= 0 => {
                        run.world.set_zero(place.obj, at, at.saturating_add(len));
                    }
                    _ => {
                        run.world.blur_held(place.obj);
                        run.world.forget(place.obj);
                    }
                }
                Next::Here
            }
            _ => Next::Here,
        }
    }

    /// A member of a structure, or a structure with another member.
    fn part(&mut self, activation: &Activation<'_>, run: &mut Run, op: Op, sort: Sort) -> Value {
        let body = activation.body;
        let (agg, path) = match op {
            Op::ExtractValue { agg, path } | Op::InsertValue { agg, path, .. } => (agg, path),
            _ => return Value::None,
        };
        let fields = match self.value(activation, &run.env, agg) {
            Value::Fields(fields) => Some(fields),
            _ => None,
        };
        let at = match body.indices(path) {
            &[n] => fields
                .filter(|f| (n as usize) < f.len())
                .map(|f| (f, n as usize)),
            _ => None,
        };
        match (op, at) {
            (Op::InsertValue { value, .. }, Some((fields, n))) => {
                let mut fields = fields.to_vec();
                fields[n] = self.word(activation, &run.env, value);
                Value::Fields(fields.into())
            }
            (Op::InsertValue { value, .. }, None) => {
                let word = self.word(activation, &run.env, value);
                self.lose_sight(&mut run.world, word);
                Value::None
            }
            (_, Some((fields, n))) => Value::Word(fields[n]),
            (_, None) => Value::Word(self.unknown_word(sort)),
        }
    }

    fn operand_type(&self, body: &Body, operand: Operand) -> Option<TypeId> {
        match (operand.as_value(), body.const_of(operand)) {
            (Some(value), _) => Some(body.value_ty(value)),
            (
                _,
                Some(
                    Const::Int { ty, .. }
                    | Const::Float { ty, .. }
                    | Const::Zero(ty)
                    | Const::Undef(ty)
                    | Const::Opaque(ty)
                    | Const::Aggregate { ty, .. },
                ),
            ) => Some(*ty),
            // An address.
            _ => None,
        }
    }

    /// What a place holds, by type.
    fn read(&mut self, world: &mut World, place: Place, ty: TypeId) -> Value {
        let program = self.context.program;
        if let Type::Struct(layout) = program.types.get(ty) {
            let fields = layout.fields.iter().map(|&(field, at)| {
                let place = self.shifted(place, at as i64);
                let bytes = program.types.size_of(field) as u32;
                self.load(world, place, bytes.clamp(1, 8), sort_of(program, field))
            });
            return Value::Fields(fields.collect());
        }
        let bytes = program.types.size_of(ty).clamp(1, 8) as u32;
        Value::Word(self.load(world, place, bytes, sort_of(program, ty)))
    }

    fn write(&mut self, world: &mut World, place: Place, value: &Value, ty: Option<TypeId>) {
        let program = self.context.program;
        match (value, ty.map(|ty| (ty, program.types.get(ty)))) {
            (Value::Fields(words), Some((_, Type::Struct(layout)))) => {
                for (word, &(field, at)) in words.iter().zip(layout.fields.iter()) {
                    let place = self.shifted(place, at as i64);
                    let bytes = program.types.size_of(field).clamp(1, 8) as u32;
                    self.store(world, place, *word, bytes);
                }
            }
            (Value::Word(word), Some((ty, _))) => {
                let size = program.types.size_of(ty);
                if let (true, Some(at)) = (size > 8, self.offset(place.off)) {
                    world.clear(place.obj, at, at.saturating_add(size as i64));
                }
                self.store(world, place, *word, size.clamp(1, 8) as u32);
            }
            (Value::Word(word), None) => self.store(world, place, *word, 8),
            _ => world.forget(place.obj),
        }
    }

    pub fn shifted(&mut self, place: Place, by: i64) -> Place {
        let by = self.terms.int(64, by as u64);
        Place {
            obj: place.obj,
            off: self.terms.add(place.off, by),
        }
    }

    /// A pointer moved by a number of bytes.
    pub fn moved(&mut self, base: Word, delta: TermId) -> Word {
        if self.terms.sort(base.term) != Sort::Bits(64) {
            return self.unknown_word(Sort::Bits(64));
        }
        let term = self.terms.add(base.term, delta);
        let at = self.place(base).map(|place| Place {
            obj: place.obj,
            off: self.terms.add(place.off, delta),
        });
        Word { term, at }
    }

    fn cast(&mut self, op: CastOp, word: Word, sort: Sort) -> Word {
        let keeps = matches!(op, CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast);
        match arithmetic::cast(&mut self.terms, op, word.term, sort) {
            Some(term) => Word {
                term,
                at: word.at.filter(|_| keeps && sort == Sort::Bits(64)),
            },
            None => self.unknown_word(sort),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Word, b: Word, sort: Sort) -> Word {
        let term = match arithmetic::binary(&mut self.terms, op, a.term, b.term) {
            Some(term) => term,
            None => self.unknown(sort),
        };
        // An address with a tag, or aligned: still in its object, nobody knows where. The distance of two addresses is a number.
        let is_distance = op == BinaryOp::Sub && self.found(b).is_some();
        let at = match (a.at, b.at) {
            _ if is_distance => None,
            (Some(place), None) | (None, Some(place)) if sort == Sort::Bits(64) => Some(Place {
                obj: place.obj,
                off: match op {
                    BinaryOp::Add => {
                        let delta = if a.at.is_some() { b.term } else { a.term };
                        self.terms.add(place.off, delta)
                    }
                    BinaryOp::Sub => self.terms.sub(place.off, b.term),
                    _ => term,
                },
            }),
            _ => None,
        };
        Word { term, at }
    }

    fn compare(&mut self, world: &World, pred: CmpPred, a: Word, b: Word) -> Word {
        // Which elements the two point to is not told.
        if self.is_in_bag(a) && self.is_in_bag(b) {
            let word = self.unknown_word(Sort::Bool);
            self.remember_as_memory();
            return word;
        }
        if let (Some(x), Some(y), CmpPred::Eq | CmpPred::Ne) = (a.at, b.at, pred) {
            let apart = x.obj != y.obj
                && (self.is_own(x.obj) || self.is_own(y.obj))
                && world.fate(x.obj) != Some(Fate::Escaped)
                && world.fate(y.obj) != Some(Fate::Escaped);
            if apart {
                return self.number(Sort::Bool, u64::from(pred == CmpPred::Ne));
            }
        }
        if let CmpPred::Eq | CmpPred::Ne = pred
            && (self.is_null(a.term) && self.is_moved(b)
                || self.is_null(b.term) && self.is_moved(a))
        {
            return self.number(Sort::Bool, u64::from(pred == CmpPred::Ne));
        }
        let term = match arithmetic::compare(&mut self.terms, pred, a.term, b.term) {
            Some(term) => term,
            None => self.unknown(Sort::Bool),
        };
        Word { term, at: None }
    }

    fn is_null(&self, term: TermId) -> bool {
        self.terms.as_int(term) == Some(0)
    }

    /// The address of a variable or a block, one that was computed from a pointer, or a parameter of which callers say so: never null.
    fn is_moved(&self, word: Word) -> bool {
        self.granted.contains(&word.term)
            || word.at.is_some_and(|place| match self.objects[place.obj] {
                Kind::Behind(_) => !self.is_null(place.off),
                _ => true,
            })
    }

    fn select(
        &mut self,
        activation: &Activation<'_>,
        run: &mut Run,
        result: ValueId,
        cond: Operand,
        then: Operand,
        els: Operand,
    ) -> Next {
        let cond = self.condition(activation, &run.env, cond);
        let (a, b) = (
            self.value(activation, &run.env, then),
            self.value(activation, &run.env, els),
        );
        let merged = match (self.terms.as_bool(cond), &a, &b) {
            (Some(true), ..) => Some(a.clone()),
            (Some(false), ..) => Some(b.clone()),
            (None, Value::Word(x), Value::Word(y))
                if x.at.is_none()
                    && y.at.is_none()
                    && self.terms.sort(x.term) == self.terms.sort(y.term) =>
            {
                let term = self.terms.ite(cond, x.term, y.term);
                Some(Value::Word(Word { term, at: None }))
            }
            _ => None,
        };
        if let Some(value) = merged {
            Rc::make_mut(&mut run.env).insert(result, value);
            return Next::Here;
        }
        let not = self.terms.not(cond);
        let mut ways = Vec::new();
        for (fact, value) in [(cond, a), (not, b)] {
            let mut world = run.world.clone();
            if self.assume(&mut world, fact) {
                ways.push((world, value));
            }
        }
        Next::Several(ways)
    }

    fn modify(
        &mut self,
        world: &mut World,
        place: Place,
        op: RmwOp,
        operand: Word,
        ty: TypeId,
    ) -> Word {
        let program = self.context.program;
        let sort = sort_of(program, ty);
        let bytes = program.types.size_of(ty).clamp(1, 8) as u32;
        let old = self.load(world, place, bytes, sort);
        let op = match op {
            RmwOp::Xchg => None,
            RmwOp::Add => Some(BinaryOp::Add),
            RmwOp::Sub => Some(BinaryOp::Sub),
            RmwOp::And => Some(BinaryOp::And),
            RmwOp::Or => Some(BinaryOp::Or),
            RmwOp::Xor => Some(BinaryOp::Xor),
            _ => {
                let unknown = self.unknown_word(sort);
                self.store(world, place, unknown, bytes);
                return old;
            }
        };
        let new = match op {
            None => operand,
            Some(op) => self.binary(op, old, operand, sort),
        };
        self.store(world, place, new, bytes);
        old
    }

    fn exchange(&mut self, world: &mut World, place: Place, expected: Word, new: Word) -> Value {
        let sort = self.terms.sort(expected.term);
        let bytes = sort.width().div_ceil(8);
        let old = self.load(world, place, bytes, sort);
        let same = match sort {
            Sort::Bool => self.terms.iff(old.term, expected.term),
            Sort::Bits(_) => self.terms.eq(old.term, expected.term),
        };
        let stored = match self.terms.as_bool(same) {
            Some(true) => new,
            Some(false) => old,
            None => {
                self.lose_sight(world, new);
                self.lose_sight(world, old);
                self.unknown_word(sort)
            }
        };
        self.store(world, place, stored, bytes);
        let success = Word {
            term: same,
            at: None,
        };
        Value::Fields([old, success].into())
    }

    /// Something happens to a pointer that nobody follows.
    pub fn lose_sight(&mut self, world: &mut World, word: Word) {
        if let Some(place) = word.at {
            world.escape(place.obj);
        }
    }
}

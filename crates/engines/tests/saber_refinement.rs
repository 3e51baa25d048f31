//! The flow-sensitive refinement of points-to sets (SABER §4.1): what it gives on a small program, and against a dense twin that
//! keeps a whole state per block.

use std::collections::{BTreeMap, BTreeSet};

use drip_base::Watch;
use drip_engines::saber::Facts;
use drip_models::Library;
use drip_pointer::andersen::{
    Callee, End, Flow, InstanceId, LocId, LocSet, Memory, ObjectId, ObjectKind, Refined,
    copied_operands,
};
use drip_pointer::modref::Tracking;
use drip_program::testing::{Shape, program, random_program};
use drip_program::{BlockId, Body, Const, InstId, Op, Program};
use proptest::prelude::*;

fn library() -> Library {
    Library::builtin().expect("the built-in models are right")
}

fn facts<'p>(program: &'p Program, library: &'p Library) -> Facts<'p> {
    Facts::collect(program, library, Tracking::All, &Watch::default()).expect("nobody stops it")
}

/// Refined sets of a function's values, by name.
fn refined(text: &str, name: &str) -> Vec<String> {
    let (program, library) = (program(text), library());
    let facts = facts(&program, &library);
    let func = program.find_func(name).expect("a function");
    let instances = facts.points_to.instances().list.iter_enumerated();
    let mut out = Vec::new();
    for (instance, _) in instances.filter(|(_, data)| data.func == func) {
        let memory = facts.memories[instance].as_ref().expect("a body");
        for (value, set) in &memory.refined {
            out.push(format!("{value} {}", facts.points_to.set_text(set)));
        }
    }
    out.sort();
    out
}

/// `slot` first leads to one variable, then to another.
fn two_targets(between: &str) -> String {
    format!(
        "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @look(ptr %where) {{
          %seen = load ptr %where
          ret
        }}
        func @change(ptr %where, ptr %to) {{
          store %to, %where
          ret
        }}
        func @main() {{
          %a = alloca ptr
          %b = alloca ptr
          %slot = alloca ptr
          store %a, %slot
          %p = load ptr %slot
          %m = call ptr @malloc(i64 8)
          store %m, %p
          store %b, %slot
          {between}
          %q = load ptr %slot
          %n = call ptr @malloc(i64 8)
          store %n, %q
          %l = load ptr %a
          call void @free(%l)
          ret
        }}
        "
    )
}

#[test]
fn what_is_read_from_a_variable_is_what_was_stored_last() {
    // v4 is %p, v8 is %q, and v11, which is freed, is the first block alone.
    assert_eq!(
        refined(&two_targets(""), "main"),
        [
            "v11 {heap(main.i5)}",
            "v4 {stack(main.i0)}",
            "v8 {stack(main.i1)}"
        ]
    );
}

#[test]
fn a_callee_that_stores_to_the_variable_may_have_changed_it() {
    let looked_at = refined(&two_targets("call void @look(%slot)"), "main");
    assert_eq!(looked_at.len(), 3, "{looked_at:?}");
    // Whatever the pre-analysis says is there now; before the call it is known.
    let changed = refined(&two_targets("call void @change(%slot, %a)"), "main");
    assert_eq!(changed, ["v4 {stack(main.i0)}"]);
}

// ----- the twin -----

type Set = BTreeSet<LocId>;
type State = BTreeMap<LocId, Set>;

struct Dense<'d, 'p> {
    facts: &'d Facts<'p>,
    instance: InstanceId,
    body: &'d Body,
    cells: Set,
    passed: BTreeSet<ObjectId>,
    values: Refined,
}

fn set(locs: &LocSet) -> Set {
    locs.iter().collect()
}

/// Everything that is reachable from these locations, by objects.
fn reachable(facts: &Facts<'_>, from: Set) -> BTreeSet<ObjectId> {
    let objects = facts.points_to.objects();
    let mut found = BTreeSet::new();
    let mut todo: Vec<LocId> = from.into_iter().collect();
    while let Some(loc) = todo.pop() {
        if found.insert(objects.object_of(loc)) {
            for &(_, at) in objects.list[objects.object_of(loc)].locs() {
                todo.extend(facts.points_to.content(at).iter());
            }
        }
    }
    found
}

impl Dense<'_, '_> {
    fn content(&self, loc: LocId) -> Set {
        set(self.facts.points_to.content(loc))
    }

    fn memory(&self) -> Memory<'_, '_> {
        Memory {
            points_to: &self.facts.points_to,
            refined: Some(&self.values),
        }
    }

    fn read(&self, state: &State, locs: &LocSet) -> Set {
        let held = |loc| match self.cells.contains(&loc) {
            true => state.get(&loc).cloned().unwrap_or_default(),
            false => self.content(loc),
        };
        locs.iter().flat_map(held).collect()
    }

    fn value(&self, state: &State, inst: InstId) -> Set {
        let points_to = &self.facts.points_to;
        let operand = |operand| set(&self.memory().operand(self.instance, self.body, operand));
        match self.body.insts[inst].op {
            Op::Load { .. } => {
                let flows = self.memory().flows(self.instance, self.body, inst);
                let read = flows.iter().map(|flow| match &flow.from {
                    End::Memory(locs) => self.read(state, locs),
                    other => panic!("a load reads memory, not {other:?}"),
                });
                read.flatten().collect()
            }
            Op::PtrAdd { base, .. } => {
                let objects = points_to.objects();
                let inside: BTreeSet<ObjectId> = operand(base)
                    .iter()
                    .map(|&l| objects.object_of(l))
                    .collect();
                let all = points_to.value(self.instance, self.body.result(inst));
                all.iter()
                    .filter(|&l| inside.contains(&objects.object_of(l)))
                    .collect()
            }
            Op::MemCopy { dst, .. } | Op::MemSet { dst, .. } => operand(dst),
            Op::Cast { .. }
            | Op::Binary { .. }
            | Op::Select { .. }
            | Op::Phi { .. }
            | Op::ExtractValue { .. }
            | Op::InsertValue { .. }
            | Op::Opaque { .. } => {
                let operands = copied_operands(self.body, inst);
                operands.into_iter().flat_map(operand).collect()
            }
            _ => set(points_to.value(self.instance, self.body.result(inst))),
        }
    }

    /// One concrete variable, by the pre-analysis?
    fn is_one(&self, locs: &LocSet, in_loop: &BTreeSet<InstId>) -> bool {
        let points_to = &self.facts.points_to;
        let Some(loc) = locs.single() else {
            return false;
        };
        let ObjectKind::Stack { inst, instance } = points_to.objects().kind_of(loc) else {
            return false;
        };
        if instance != self.instance {
            return false;
        }
        let Op::Alloca { count, .. } = self.body.insts[inst].op else {
            return false;
        };
        let once = matches!(self.body.const_of(count), Some(Const::Int { bits: 1, .. }));
        let types = &points_to.system.program.types;
        once && !in_loop.contains(&inst) && points_to.objects().is_single_cell(types, loc)
    }

    fn store(&self, state: &mut State, inst: InstId, in_loop: &BTreeSet<InstId>) {
        let points_to = &self.facts.points_to;
        let rough = Memory {
            points_to,
            refined: None,
        };
        let before = state.clone();
        let rough = rough.flows(self.instance, self.body, inst);
        if let [flow] = rough.as_slice()
            && let End::Memory(locs) = &flow.to
            && self.is_one(locs, in_loop)
        {
            for loc in locs.iter() {
                state.remove(&loc);
            }
        }
        for flow in self.memory().flows(self.instance, self.body, inst) {
            let End::Memory(to) = &flow.to else { continue };
            for loc in to.iter().filter(|loc| self.cells.contains(loc)) {
                let stored = match &flow.from {
                    End::Operand(operand) => {
                        set(&self.memory().operand(self.instance, self.body, *operand))
                    }
                    End::Memory(from) => self.read(&before, from),
                    _ => self.content(loc),
                };
                state.entry(loc).or_default().extend(stored);
            }
        }
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = self.body.insts[inst].op else {
            return;
        };
        let mut handed = set(points_to.value(self.instance, self.body.result(inst)));
        for &arg in self.body.list(args) {
            handed.extend(points_to.operand(self.instance, self.body, arg).iter());
        }
        let handed = reachable(self.facts, handed);
        for &loc in &self.cells {
            let object = points_to.objects().object_of(loc);
            let mut callees = points_to.callees(self.instance, inst).iter();
            let is_modified = callees.any(|callee| match callee {
                Callee::Instance(callee) => self.facts.mod_ref.effects(*callee).defs.contains(loc),
                Callee::External(_) => false,
            });
            let is_written = |flow: &Flow| matches!(&flow.to, End::Memory(to) if to.contains(loc));
            let by_callee =
                self.passed.contains(&object) && handed.contains(&object) && is_modified;
            if by_callee || rough.iter().any(is_written) {
                state.entry(loc).or_default().extend(self.content(loc));
            }
        }
    }

    fn solve(&mut self) {
        let facts = self.facts;
        let func = facts.points_to.instances().list[self.instance].func;
        let cfg = &facts.flows[func].as_ref().expect("a body").cfg;
        let mut in_loop = BTreeSet::new();
        for block in self
            .body
            .blocks
            .ids()
            .iter()
            .filter(|&b| cfg.loops().innermost(b).is_some())
        {
            in_loop.extend(self.body.block_insts(block));
        }
        let mut ends: BTreeMap<BlockId, State> = BTreeMap::new();
        loop {
            let before = (ends.clone(), self.values.clone());
            for block in self
                .body
                .blocks
                .ids()
                .iter()
                .filter(|&b| cfg.is_reachable(b))
            {
                let mut state = State::new();
                for pred in cfg.preds(block) {
                    for (&loc, held) in ends.get(pred).into_iter().flatten() {
                        state.entry(loc).or_default().extend(held);
                    }
                }
                for inst in self.body.block_insts(block) {
                    let result = self.body.result(inst);
                    let node = facts.points_to.system.value(self.instance, result);
                    if node.is_some_and(|node| !facts.points_to.is_wide(node)) {
                        let new = self.value(&state, inst);
                        self.values.entry(result).or_default().extend(new);
                    }
                    self.store(&mut state, inst, &in_loop);
                }
                ends.insert(block, state);
            }
            if before == (ends.clone(), self.values.clone()) {
                return;
            }
        }
    }
}

/// The twin's sets for an instance's values.
fn dense(facts: &Facts<'_>, instance: InstanceId, body: &Body) -> Refined {
    let points_to = &facts.points_to;
    let objects = points_to.objects();
    let owner = |object: ObjectId| match objects.list[object].kind {
        ObjectKind::Stack { instance, .. } => Some(instance),
        _ => None,
    };
    let (mut kept, mut passed) = (set(points_to.outside()), Set::new());
    for (object, _, loc) in points_to.locations() {
        match owner(object) {
            None => kept.extend(points_to.content(loc).iter()),
            Some(by) if by != instance => passed.extend(points_to.content(loc).iter()),
            Some(_) => {}
        }
    }
    for (other, data) in points_to.instances().list.iter_enumerated() {
        let body = points_to.system.program.funcs[data.func].body.as_ref();
        for param in body
            .into_iter()
            .flat_map(|b| (0..b.param_count()).map(|i| b.param(i)))
        {
            passed.extend(points_to.value(other, param).iter());
        }
    }
    let stack = |locs: Set| {
        let of_stack = locs
            .into_iter()
            .filter(|&l| owner(objects.object_of(l)).is_some());
        reachable(facts, of_stack.collect())
    };
    let (kept, passed) = (stack(kept), stack(passed));
    let mut cells = Set::new();
    let memory = Memory {
        points_to,
        refined: None,
    };
    for (inst, data) in body.insts.iter_enumerated() {
        if matches!(data.op, Op::Load { .. }) {
            for flow in memory.flows(instance, body, inst) {
                if let End::Memory(locs) = flow.from {
                    cells.extend(locs.iter().filter(|&loc| {
                        facts.mod_ref.is_local(points_to, instance, loc)
                            && !kept.contains(&objects.object_of(loc))
                            && points_to.content(loc).iter().count() > 1
                    }));
                }
            }
        }
    }
    let mut dense = Dense {
        facts,
        instance,
        body,
        cells,
        passed,
        values: Refined::default(),
    };
    dense.solve();
    dense.values
}

/// Text of a program whose `main` moves addresses between four variables, over five blocks; every byte decides one thing.
fn pointer_shuffle(bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().copied();
    let mut choose = |of: u8| bytes.next().unwrap_or(0) % of;
    let mut out = String::from(
        "declare @malloc(i64) -> ptr
        func @change(ptr %where, ptr %to) {
          store %to, %where
          ret
        }
        func @main(i1 %c) {
          %a0 = alloca ptr
          %a1 = alloca ptr
          %a2 = alloca ptr
          %a3 = alloca ptr
          br l0
        ",
    );
    let mut name = 0;
    for block in 0..5 {
        out.push_str(&format!("l{block}:\n"));
        let mut known = vec!["%a0".to_owned(), "%a1".into(), "%a2".into(), "%a3".into()];
        for _ in 0..choose(6) {
            let one = known[usize::from(choose(known.len() as u8))].clone();
            let other = known[usize::from(choose(known.len() as u8))].clone();
            match choose(8) {
                0..=2 => out.push_str(&format!("store {one}, {other}\n")),
                3..=5 => {
                    out.push_str(&format!("%x{name} = load ptr {one}\n"));
                    known.push(format!("%x{name}"));
                    name += 1;
                }
                6 => {
                    out.push_str(&format!("%x{name} = call ptr @malloc(i64 8)\n"));
                    known.push(format!("%x{name}"));
                    name += 1;
                }
                _ => out.push_str(&format!("call void @change({one}, {other})\n")),
            }
        }
        match block {
            4 => out.push_str("ret\n"),
            _ => {
                let (left, right) = (choose(5), block + 1);
                out.push_str(&format!("br %c, l{left}, l{right}\n"));
            }
        }
    }
    out + "}\n"
}

/// Compares all instances; returns how many values were refined.
fn compare(program: &Program) -> Result<usize, TestCaseError> {
    let library = library();
    let facts = facts(program, &library);
    let mut refined = 0;
    for (instance, data) in facts.points_to.instances().list.iter_enumerated() {
        let (Some(body), Some(memory)) =
            (&program.funcs[data.func].body, &facts.memories[instance])
        else {
            continue;
        };
        refined += memory.refined.len();
        for (value, twin) in dense(&facts, instance, body) {
            let rough = facts.points_to.value(instance, value);
            let sparse = memory.refined.get(&value).unwrap_or(rough);
            prop_assert!(sparse.is_subset(rough), "{value} grew");
            prop_assert!(twin.is_subset(sparse), "{value} lost something\n{program}");
            if memory.refined.contains_key(&value) {
                prop_assert_eq!(&twin, sparse, "{}\n{}", value, program);
            }
        }
    }
    Ok(refined)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sparse_equals_dense_on_any_program(bytes in proptest::collection::vec(any::<u8>(), 0..900)) {
        compare(&random_program(&bytes, &Shape::default()))?;
    }

    #[test]
    fn sparse_equals_dense_where_addresses_move(bytes in proptest::collection::vec(any::<u8>(), 20..150)) {
        compare(&program(&pointer_shuffle(&bytes)))?;
    }
}

#[test]
fn the_shuffle_has_something_to_refine() {
    let mut seed = 7u32;
    let mut refined = 0;
    for _ in 0..50 {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let bytes: Vec<u8> = (0..150).map(|_| next()).collect();
        refined += compare(&program(&pointer_shuffle(&bytes))).expect("they are the same");
    }
    assert!(refined > 50, "{refined}");
}

//! Properties of random programs: they verify, print → parse → print is stable and loses nothing, and the products of
//! control flow agree with their definitions.

use drip_base::IdSet;
use drip_program::noreturn::NoReturn;
use drip_program::testing::{Shape, differences, random_program};
use drip_program::*;
use proptest::prelude::*;

/// A program that a failing test shows as text.
#[derive(Clone)]
struct Shown(Program);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

fn programs(shape: Shape) -> impl Strategy<Value = Shown> {
    proptest::collection::vec(any::<u8>(), 0..600)
        .prop_map(move |bytes| Shown(random_program(&bytes, &shape)))
}

fn bodies(program: &Program) -> impl Iterator<Item = &Body> {
    program.funcs.iter().filter_map(|f| f.body.as_ref())
}

/// Blocks that the entry reaches without going through `without`.
fn reached(cfg: &Cfg, without: Option<BlockId>) -> IdSet<BlockId> {
    let mut seen = IdSet::new();
    let mut todo = vec![cfg.entry()];
    while let Some(block) = todo.pop() {
        if Some(block) != without && seen.insert(block) {
            todo.extend(cfg.succs(block));
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_are_well_formed(Shown(program) in programs(Shape::default())) {
        let errors = verify(&program);
        prop_assert!(errors.is_empty(), "{}", errors[0]);
    }

    #[test]
    fn plain_programs_are_well_formed(Shown(program) in programs(Shape::plain_c())) {
        let errors = verify(&program);
        prop_assert!(errors.is_empty(), "{}", errors[0]);
        for body in bodies(&program) {
            let cfg = Cfg::build(body);
            let all_reachable = body.blocks.ids().iter().all(|b| cfg.is_reachable(b));
            prop_assert!(all_reachable);
            let reducible = cfg.loops().ids().iter().all(|l| !cfg.loops().is_irreducible(l));
            prop_assert!(reducible);
        }
    }

    #[test]
    fn printing_and_parsing_lose_nothing(Shown(program) in programs(Shape::default())) {
        let text = print_program(&program);
        let again = parse_program(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(differences(&program, &again), None, "{}", text);
        prop_assert_eq!(print_program(&again), text);
    }

    #[test]
    fn dominance_is_being_on_every_path(Shown(program) in programs(Shape::default())) {
        for body in bodies(&program) {
            let cfg = Cfg::build(body);
            let all = reached(&cfg, None);
            for a in body.blocks.ids() {
                prop_assert_eq!(cfg.is_reachable(a), all.contains(a));
                let without = reached(&cfg, Some(a));
                for b in body.blocks.ids() {
                    let on_every_path = all.contains(a) && all.contains(b) && !without.contains(b);
                    prop_assert_eq!(cfg.dominates(a, b), on_every_path || a == b, "{} {}", a, b);
                }
            }
        }
    }

    #[test]
    fn edges_have_two_ends(Shown(program) in programs(Shape::default())) {
        for body in bodies(&program) {
            let cfg = Cfg::build(body);
            let mut edges = 0;
            for block in body.blocks.ids() {
                for (place, edge) in cfg.out_edges(block).into_iter().enumerate() {
                    prop_assert_eq!((cfg.source(edge), cfg.position(edge)), (block, place));
                    prop_assert_eq!(cfg.target(edge), cfg.succs(block)[place]);
                    prop_assert!(cfg.in_edges(cfg.target(edge)).contains(&edge));
                    edges += 1;
                }
                let sources: Vec<_> = cfg.in_edges(block).iter().map(|&e| cfg.source(e)).collect();
                prop_assert_eq!(sources, cfg.preds(block));
            }
            prop_assert_eq!(edges, cfg.num_edges());
        }
    }

    /// Every cycle goes through the header of a loop that contains it; headers of reducible loops dominate them.
    #[test]
    fn loops_hold_all_cycles(Shown(program) in programs(Shape::default())) {
        for body in bodies(&program) {
            let cfg = Cfg::build(body);
            let loops = cfg.loops();
            for block in body.blocks.ids().iter().filter(|&b| cfg.is_reachable(b)) {
                let mut seen = IdSet::new();
                let mut todo = cfg.succs(block).to_vec();
                while let Some(next) = todo.pop() {
                    if seen.insert(next) {
                        todo.extend(cfg.succs(next));
                    }
                }
                prop_assert_eq!(seen.contains(block), loops.innermost(block).is_some(), "{}", block);
            }
            for id in loops.ids() {
                let dominates = loops.blocks(id).iter().all(|&b| cfg.dominates(loops.header(id), b));
                prop_assert!(dominates || loops.is_irreducible(id));
            }
        }
    }

    /// A function never returns iff no `ret` is reachable in the graph that is cut at calls that never return: the result
    /// is a fixpoint.
    #[test]
    fn functions_never_return_iff_no_ret_is_reachable(Shown(program) in programs(Shape::default())) {
        let found = NoReturn::build(&program, &[]);
        for (func, function) in program.funcs.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            let cut = Cfg::build_cut(body, |inst| found.never_passes(body, inst));
            let returns = body.blocks.ids().iter().any(|b| {
                let ends = matches!(body.insts[body.terminator(b)].op, Op::Ret { .. });
                let stopped = body.block_insts(b).any(|inst| found.never_passes(body, inst));
                ends && !stopped && cut.is_reachable(b)
            });
            let marked = function.attrs.has(FuncAttrs::NORETURN);
            prop_assert_eq!(found.contains(func), marked || !returns);
        }
    }

    /// The verifier survives whatever a program holds.
    #[test]
    fn broken_programs_do_not_panic(
        Shown(mut program) in programs(Shape::default()),
        damage in proptest::collection::vec(any::<(u8, u16, u32)>(), 1..6),
    ) {
        for (kind, place, value) in damage {
            break_something(&mut program, kind, usize::from(place), value);
        }
        verify(&program);
        print_program(&program);
    }

    #[test]
    fn texts_from_anywhere_do_not_panic(text in "\\PC{0,200}") {
        let _ = parse_program(&text);
    }

    #[test]
    fn words_in_any_order_do_not_panic(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "func", "declare", "global", "type", "@f", "%x", "%t", "(", ")", "{", "}", "[", "]", "<", ">", "=", ",",
                ":", "\n", "i32", "ptr", "4", "-1", "v0", "b0", "c0", "x0", "br", "ret", "phi", "call", "const", "var",
                "->", "...", "@", "!", "\"s\"", "zero", "null", "switch", "unit", "u0", "file", "file0", "di", "d0",
                "struct", "x", "*", "load", "layout", "at", "slots", "#",
            ]),
            0..60,
        )
    ) {
        let _ = parse_program(&words.join(" "));
    }
}

fn break_something(program: &mut Program, kind: u8, place: usize, value: u32) {
    let funcs: Vec<FuncId> = program
        .funcs
        .iter_enumerated()
        .filter(|(_, f)| f.body.is_some())
        .map(|(id, _)| id)
        .collect();
    let Some(&func) = funcs.get(place % funcs.len().max(1)) else {
        return;
    };
    let small = value % 64;
    let function = &mut program.funcs[func];
    let Some(body) = &mut function.body else {
        return;
    };
    let insts = body.insts.len().max(1);
    let inst = body.insts.get_mut(InstId::new(place % insts));
    let operand = match value % 3 {
        0 => Operand::value(ValueId::from_u32(small)),
        1 => Operand::constant(ConstId::from_u32(small)),
        _ => Operand::value(ValueId::from_u32(value >> 1)),
    };
    match kind % 13 {
        0 => inst
            .into_iter()
            .for_each(|i| i.ty = TypeId::from_u32(small)),
        1 => inst
            .into_iter()
            .for_each(|i| i.op = Op::Load { addr: operand }),
        2 => inst.into_iter().for_each(|i| {
            i.op = Op::Br {
                target: BlockId::from_u32(small % 16),
            }
        }),
        3 => body.operands.iter_mut().take(1).for_each(|o| *o = operand),
        4 => body
            .incoming
            .iter_mut()
            .take(2)
            .for_each(|i| i.value = operand),
        5 => body.cases.clear(),
        6 => drop(body.consts.pop()),
        7 => body
            .blocks
            .iter_mut()
            .take(1)
            .for_each(|b| b.insts.end = small),
        8 => drop(body.insts.pop()),
        9 => body
            .locs
            .iter_mut()
            .take(1)
            .for_each(|l| l.inlined_at = Some(LocId::new(0))),
        10 => inst.into_iter().for_each(|i| {
            i.op = Op::Phi {
                incoming: PoolRange {
                    start: small,
                    len: value,
                },
            }
        }),
        11 => function.ty = TypeId::from_u32(small),
        _ => program
            .globals
            .iter_mut()
            .take(1)
            .for_each(|g| g.ty = TypeId::from_u32(small)),
    }
}

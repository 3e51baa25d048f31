//! What instructions, intrinsics and constants become.

mod load_common;

use drip_program::*;
use load_common::*;

#[test]
fn address_computations_are_in_bytes() {
    let program = load_c(
        "struct in { char c; int a[4]; };\nstruct s { long k; struct in in[3]; };\n\
         int f(struct s *s, int i, long j) { return s->in[i].a[j]; }\nlong g(struct s *s) { return s->k; }\n",
    );
    let body_f = body(&program, "f");
    let adds = find(body_f, |inst| match inst.op {
        Op::PtrAdd {
            offset, indices, ..
        } => Some((
            offset,
            body_f
                .scaled(indices)
                .iter()
                .map(|s| s.scale)
                .collect::<Vec<_>>(),
        )),
        _ => None,
    });
    let total: i64 = adds.iter().map(|a| a.0).sum();
    let scales: Vec<i64> = adds.iter().flat_map(|a| a.1.clone()).collect();
    assert_eq!(
        (total, scales),
        (12, vec![20, 4]),
        "{}",
        text(&program, "f")
    );
    // The first field has its struct's address.
    let body_g = body(&program, "g");
    let loads = find(body_g, |inst| match inst.op {
        Op::Load { addr } => addr.as_value().and_then(|v| body_g.as_param(v)),
        _ => None,
    });
    assert_eq!(loads, [0]);
}

#[test]
fn memory_intrinsics() {
    let program = load_c(
        "#include <string.h>\nstruct s { int a[20]; };\nvoid f(struct s *a, struct s *b, int n) { *a = *b; memmove(a, b, n); memset(b, 1, n); memcpy(a, b, 8); }\n",
    );
    let body = body(&program, "f");
    let names = find(body, |inst| match inst.op {
        Op::MemCopy { .. } => Some("copy"),
        Op::MemSet { .. } => Some("set"),
        _ => None,
    });
    assert_eq!(names, ["copy", "copy", "set", "copy"]);
    assert_eq!(callees(&program, body), [""; 0]);
    assert_eq!(program.funcs.len(), 1);
}

#[test]
fn hints_leave_no_trace() {
    let program = load_c(
        "int f(long a) { if (__builtin_expect(a, 1)) return 1; __builtin_assume(a > 3); return __builtin_constant_p(a); }\n",
    );
    let body = body(&program, "f");
    assert_eq!(callees(&program, body), [""; 0]);
    let compares = find(body, |inst| match inst.op {
        Op::Cmp { a, .. } => a.as_value().and_then(|v| body.as_param(v)),
        _ => None,
    });
    assert_eq!(compares.first(), Some(&0), "{}", text(&program, "f"));
}

#[test]
fn overflow_checks_keep_the_number() {
    let program = load_c(
        "int f(unsigned long n, unsigned long m, unsigned long *r) { return __builtin_mul_overflow(n, m, r); }\n",
    );
    let body = body(&program, "f");
    let found = find(body, |inst| match inst.op {
        Op::Binary {
            op: BinaryOp::Mul, ..
        } => Some("mul"),
        Op::Opaque { .. } => Some("opaque"),
        Op::InsertValue { .. } => Some("insert"),
        Op::ExtractValue { .. } => Some("extract"),
        _ => None,
    });
    // The number is the product itself; only whether it has overflown is taken out of the pair.
    assert_eq!(found, ["opaque", "mul", "insert", "extract"]);
}

#[test]
fn traps_and_variable_arguments_stay_calls() {
    let program = load_c(
        "#include <stdarg.h>\nint f(int n, ...) { va_list l; va_start(l, n); int r = va_arg(l, int); va_end(l); if (!r) __builtin_trap(); return r; }\n",
    );
    let body = body(&program, "f");
    let names = callees(&program, body);
    let starts = |prefix: &str| names.iter().any(|n| n.starts_with(prefix));
    assert!(
        starts("llvm.va_start") && starts("llvm.va_end"),
        "{names:?}"
    );
    let traps = find(body, |inst| match inst.op {
        Op::Call { flags, .. } if flags.has(CallFlags::NORETURN) => Some(()),
        _ => None,
    });
    assert_eq!(traps.len(), 1);
    assert!(
        program.funcs[func(&program, "f")]
            .attrs
            .has(FuncAttrs::VARARG)
    );
}

#[test]
fn inline_assembly_is_a_marked_call() {
    let program = load_c(
        "int f(int a) { int r; __asm__ volatile(\"mov %1, %0\" : \"=r\"(r) : \"r\"(a) : \"memory\"); return r; }\n",
    );
    let body = body(&program, "f");
    let calls = find(body, |inst| match inst.op {
        Op::Call { callee, flags, .. } => {
            Some((body.const_of(callee).cloned(), flags.has(CallFlags::ASM)))
        }
        _ => None,
    });
    assert!(
        matches!(calls.as_slice(), [(Some(Const::Opaque(_)), true)]),
        "{calls:?}"
    );
}

#[test]
fn jumps_of_all_kinds() {
    let program = load_c(
        "int f(int n) { static void *t[] = {&&a, &&b}; goto *t[n]; a: return 1; b: return 2; }\n\
         int g(int n) { __asm__ goto(\"# %0\" :: \"r\"(n) :: out); return 1; out: return 2; }\n\
         int h(int n) { switch (n) { case -1: return 1; case 3 ... 4: return 2; } return 0; }\n",
    );
    let has =
        |name: &str, pick: fn(&Op) -> bool| body(&program, name).insts.iter().any(|i| pick(&i.op));
    assert!(has(
        "f",
        |op| matches!(op, Op::IndirectBr { targets, .. } if targets.len == 2)
    ));
    assert!(has(
        "g",
        |op| matches!(op, Op::CallBr { targets, .. } if targets.len == 1)
    ));
    let body = body(&program, "h");
    let cases = find(body, |inst| match inst.op {
        Op::Switch { cases, .. } => Some(
            body.cases(cases)
                .iter()
                .map(|c| c.value)
                .collect::<Vec<_>>(),
        ),
        _ => None,
    });
    assert_eq!(cases, [vec![0xffff_ffff, 3, 4]]);
}

#[test]
fn atomics() {
    let program = load_c(
        "#include <stdatomic.h>\nint f(_Atomic int *p, int e) { atomic_fetch_add(p, 2); atomic_thread_fence(memory_order_seq_cst);\n\
         return atomic_compare_exchange_strong(p, &e, 5) + atomic_load(p); }\n",
    );
    let found = find(body(&program, "f"), |inst| match inst.op {
        Op::AtomicRmw { op: RmwOp::Add, .. } => Some("add"),
        Op::CmpXchg { .. } => Some("cmpxchg"),
        _ => None,
    });
    assert_eq!(found, ["add", "cmpxchg"]);
}

#[test]
fn exceptions() {
    let program = load_cpp(
        "struct R { R(); ~R(); };\nvoid work();\nint f() { try { R r; work(); } catch (int &e) { return e; } return 0; }\n",
    );
    let body = body(&program, "_Z1fv");
    let found = find(body, |inst| match inst.op {
        Op::Invoke { .. } => Some("invoke"),
        Op::LandingPad { .. } => Some("pad"),
        Op::Resume { .. } => Some("resume"),
        _ => None,
    });
    for kind in ["invoke", "pad", "resume"] {
        assert!(found.contains(&kind), "{kind}: {}", text(&program, "_Z1fv"));
    }
}

#[test]
fn constants_fold_to_objects_and_offsets() {
    let program = load_c(
        "struct s { int a, b[4]; };\nstruct s g;\nvoid sink(void *, void *, void *, void *, unsigned long);\nvoid callee(void);\n\
         void f(void) { sink(&g.b[2], (char *)&g + 1, (void *)-1, (void *)callee, (unsigned long)&((struct s *)0)->b[1]); }\n",
    );
    let body = body(&program, "f");
    let args = find(body, |inst| match inst.op {
        Op::Call { args, .. } => Some(body.list(args).to_vec()),
        _ => None,
    });
    let consts: Vec<Const> = args[0]
        .iter()
        .filter_map(|&o| body.const_of(o).cloned())
        .collect();
    let [a, b, c, d, e] = consts.as_slice() else {
        panic!("{consts:?}")
    };
    assert!(matches!(a, Const::Global { offset: 12, .. }), "{a:?}");
    assert!(matches!(b, Const::Global { offset: 1, .. }), "{b:?}");
    assert!(matches!(c, Const::Int { bits: u64::MAX, .. }), "{c:?}");
    assert!(matches!(d, Const::Func(_)), "{d:?}");
    assert!(matches!(e, Const::Int { bits: 8, .. }), "{e:?}");
}

#[test]
fn attributes_of_parameters() {
    let program = load_c(
        "struct big { long a[5]; };\nstruct big make(struct big b, int *__attribute__((nonnull)) p) { b.a[0] = *p; return b; }\n\
         void *my(unsigned long) __attribute__((malloc));\nvoid *f(void) { return my(3); }\n",
    );
    let params = &program.funcs[func(&program, "make")].params;
    assert!(params[0].has(ParamAttrs::SRET) && params[1].has(ParamAttrs::BYVAL));
    assert!(
        program.funcs[func(&program, "my")]
            .attrs
            .has(FuncAttrs::NOALIAS_RETURN)
    );
}

#[test]
fn minimum_and_maximum_become_a_choice() {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let source = "unsigned f(unsigned a, unsigned b) { return a < b ? a : b; }\n";
    let program = load_clean(vec![shop.compile(
        version,
        Way::O0,
        "t.c",
        source,
        &["-O2"],
    )]);
    let found = find(body(&program, "f"), |inst| match inst.op {
        Op::Cmp { .. } => Some("cmp"),
        Op::Select { .. } => Some("select"),
        Op::Call { .. } | Op::Opaque { .. } => Some("call"),
        _ => None,
    });
    assert_eq!(found, ["cmp", "select"]);
}

#[test]
fn exceptions_of_windows() {
    let shop = Workshop::new();
    let source = "struct R { ~R(); };\nvoid work(int);\n\
                  int f(int n) { try { R r; work(n); } catch (int e) { return e; } catch (...) { return 9; } return 0; }\n";
    let flags = [
        "-target",
        "x86_64-pc-windows-msvc",
        "-fexceptions",
        "-fcxx-exceptions",
    ];
    for version in versions() {
        let input = shop.compile(version, Way::O0, "t.cpp", source, &flags);
        let program = load_clean(vec![input]);
        let body = body(&program, "?f@@YAHH@Z");
        let pads = find(body, |inst| match inst.op {
            Op::LandingPad { cleanup } => Some(cleanup),
            _ => None,
        });
        assert_eq!(pads, [true, false, false], "clang{version}");
        let choices = find(body, |inst| match inst.op {
            Op::IndirectBr { targets, .. } => Some(targets.len),
            _ => None,
        });
        assert_eq!(choices, [2], "clang{version}");
    }
}

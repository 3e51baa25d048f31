//! Each kind of instruction, written in LLVM's text and turned into bitcode by every installed clang.

mod common;

use common::ll::mnemonics;
use common::{body, clang_versions, module_of};
use drip_bitcode::{
    BlockId, CastOp, CmpPredicate, OperandKind, Ordering, RawBody, RawConst, RawInst, RawInstKind,
    RawModule, RawType, RmwOp, TailKind, TypeId, ValueId,
};

/// Versions that read opaque pointers in text; older ones get typed pointers from the C tests.
fn opaque_versions() -> Vec<u32> {
    clang_versions().into_iter().filter(|v| *v >= 15).collect()
}

/// Runs `check` on the function `f` of a text, for every version.
fn with_function(text: &str, check: impl Fn(&RawModule, &RawBody)) {
    for version in opaque_versions() {
        let module = module_of(version, "ll", text, &["-O0"]);
        check(&module, &body(&module, "f"));
    }
}

fn ty(module: &RawModule, id: TypeId) -> &RawType {
    module.ty(id).expect("a type")
}

fn int(module: &RawModule, body: &RawBody, id: ValueId) -> i64 {
    let (constant, _) = body.constant(module, id).expect("a constant");
    match constant.kind {
        RawConst::Int(number) => number,
        RawConst::Null => 0,
        other => panic!("{other:?}"),
    }
}

fn first(body: &RawBody) -> RawInst {
    body.insts[0]
}

#[test]
fn arithmetic() {
    let text = "define i32 @f(i32 %a, i32 %b, float %x) {
        %1 = add nuw nsw i32 %a, 7
        %2 = sdiv exact i32 %1, %b
        %3 = fneg float %x
        %4 = frem float %3, %x
        %5 = fptosi float %4 to i32
        %6 = xor i32 %5, %2
        %7 = freeze i32 %6
        ret i32 %7
    }";
    with_function(text, |module, body| {
        assert_eq!(
            mnemonics(body),
            [
                "add", "sdiv", "fneg", "frem", "fptosi", "xor", "freeze", "ret"
            ]
        );
        let RawInstKind::Binop {
            flags, lhs, rhs, ..
        } = first(body).kind
        else {
            panic!("{:?}", first(body));
        };
        assert_eq!(flags, 0b11);
        assert_eq!(lhs, body.arg(0));
        assert_eq!(int(module, body, rhs), 7);
        assert_eq!(ty(module, first(body).ty), &RawType::Integer(32));
        let RawInstKind::Ret { value } = body.insts[7].kind else {
            panic!("{:?}", body.insts[7]);
        };
        assert_eq!(value, body.insts[6].result);
    });
}

#[test]
fn comparisons_and_select() {
    let text = "define <4 x i1> @f(<4 x i32> %a, ptr %p, double %d) {
        %1 = icmp eq ptr %p, null
        %2 = fcmp ult double %d, 2.5
        %3 = select i1 %1, i1 %2, i1 true
        %4 = icmp sgt <4 x i32> %a, zeroinitializer
        %5 = select i1 %3, <4 x i1> %4, <4 x i1> zeroinitializer
        ret <4 x i1> %5
    }";
    with_function(text, |module, body| {
        let predicates: Vec<_> = body
            .insts
            .iter()
            .filter_map(|inst| match inst.kind {
                RawInstKind::Cmp { predicate, .. } => Some(predicate),
                _ => None,
            })
            .collect();
        use CmpPredicate::*;
        assert_eq!(predicates, [Eq, FUlt, Sgt]);
        assert_eq!(ty(module, body.insts[0].ty), &RawType::Integer(1));
        assert!(matches!(
            ty(module, body.insts[3].ty),
            RawType::Vector { len: 4, .. }
        ));
        let RawInstKind::Select { else_value, .. } = body.insts[2].kind else {
            panic!("{:?}", body.insts[2]);
        };
        assert_eq!(int(module, body, else_value), -1);
    });
}

#[test]
fn memory() {
    let text = "%s = type { i64, [8 x i16], ptr }
    define i16 @f(ptr %p, i64 %i) {
        %1 = alloca %s, align 8
        %2 = alloca i8, i64 %i, align 1
        %3 = getelementptr inbounds %s, ptr %p, i64 1, i32 1, i64 %i
        %4 = load volatile i16, ptr %3, align 2
        store i16 %4, ptr %3, align 2
        %5 = load atomic i32, ptr %p acquire, align 4
        store atomic i32 %5, ptr %p release, align 4
        fence seq_cst
        ret i16 %4
    }";
    with_function(text, |module, body| {
        let RawInstKind::Alloca {
            allocated, count, ..
        } = first(body).kind
        else {
            panic!("{:?}", first(body));
        };
        assert!(
            matches!(ty(module, allocated), RawType::Struct { name: Some(n), .. } if &**n == "s")
        );
        assert_eq!(int(module, body, count), 1);
        assert!(matches!(
            ty(module, first(body).ty),
            RawType::Pointer { pointee: None, .. }
        ));
        let RawInstKind::Alloca { count, .. } = body.insts[1].kind else {
            panic!("{:?}", body.insts[1]);
        };
        assert_eq!(count, body.arg(1));
        let RawInstKind::Gep {
            source_ty,
            operands,
            inbounds,
        } = body.insts[2].kind
        else {
            panic!("{:?}", body.insts[2]);
        };
        assert!(inbounds);
        assert_eq!(source_ty, allocated);
        let operands = body.operands(operands);
        assert_eq!(operands.len(), 4);
        assert_eq!(operands[0].as_value(), Some(body.arg(0)));
        assert_eq!(operands[3].as_value(), Some(body.arg(1)));
        assert_orderings(body);
    });
}

fn assert_orderings(body: &RawBody) {
    let orderings: Vec<_> = body
        .insts
        .iter()
        .filter_map(|inst| match inst.kind {
            RawInstKind::Load {
                ordering, volatile, ..
            }
            | RawInstKind::Store {
                ordering, volatile, ..
            } => Some((ordering, volatile)),
            RawInstKind::Fence { ordering } => Some((ordering, false)),
            _ => None,
        })
        .collect();
    let expected = [
        (Ordering::NotAtomic, true),
        (Ordering::NotAtomic, false),
        (Ordering::Acquire, false),
        (Ordering::Release, false),
        (Ordering::SeqCst, false),
    ];
    assert_eq!(orderings, expected);
}

#[test]
fn atomics() {
    let text = "define i1 @f(ptr %p, i32 %v) {
        %1 = atomicrmw umax ptr %p, i32 %v seq_cst, align 4
        %2 = atomicrmw volatile xchg ptr %p, i32 %1 monotonic, align 4
        %3 = cmpxchg weak ptr %p, i32 %2, i32 %v acq_rel monotonic, align 4
        %4 = extractvalue { i32, i1 } %3, 1
        ret i1 %4
    }";
    with_function(text, |module, body| {
        let rmw = |index: usize| match body.insts[index].kind {
            RawInstKind::AtomicRmw { op, volatile, .. } => (op, volatile),
            other => panic!("{other:?}"),
        };
        assert_eq!(rmw(0), (RmwOp::UMax, false));
        assert_eq!(rmw(1), (RmwOp::Xchg, true));
        assert!(matches!(
            body.insts[2].kind,
            RawInstKind::CmpXchg { weak: true, .. }
        ));
        assert!(
            matches!(ty(module, body.insts[2].ty), RawType::Struct { elems, .. } if elems.len() == 2)
        );
        let RawInstKind::ExtractValue { indices, .. } = body.insts[3].kind else {
            panic!("{:?}", body.insts[3]);
        };
        let indices: Vec<_> = body.operands(indices).iter().map(|o| o.raw()).collect();
        assert_eq!(indices, [1]);
        assert_eq!(ty(module, body.insts[3].ty), &RawType::Integer(1));
    });
}

#[test]
fn vectors_and_aggregates() {
    let text = "define { i32, [2 x float] } @f(<4 x i32> %v, { i32, [2 x float] } %s, i32 %i) {
        %1 = insertelement <4 x i32> %v, i32 9, i32 %i
        %2 = shufflevector <4 x i32> %1, <4 x i32> poison, <2 x i32> <i32 3, i32 0>
        %3 = extractelement <2 x i32> %2, i32 1
        %4 = insertvalue { i32, [2 x float] } %s, i32 %3, 0
        %5 = insertvalue { i32, [2 x float] } %4, float 1.5, 1, 1
        %6 = getelementptr i8, ptr null, <4 x i32> %v
        ret { i32, [2 x float] } %5
    }";
    with_function(text, |module, body| {
        assert!(matches!(
            ty(module, body.insts[1].ty),
            RawType::Vector { len: 2, .. }
        ));
        assert_eq!(ty(module, body.insts[2].ty), &RawType::Integer(32));
        let RawInstKind::InsertValue { indices, .. } = body.insts[4].kind else {
            panic!("{:?}", body.insts[4]);
        };
        let indices: Vec<_> = body.operands(indices).iter().map(|o| o.raw()).collect();
        assert_eq!(indices, [1, 1]);
        // An address computation with a vector of indices gives a vector of pointers.
        let RawType::Vector { len: 4, elem, .. } = *ty(module, body.insts[5].ty) else {
            panic!("{:?}", ty(module, body.insts[5].ty));
        };
        assert!(matches!(ty(module, elem), RawType::Pointer { .. }));
    });
}

#[test]
fn casts() {
    let text = "define ptr @f(i64 %a, ptr %p, double %d) {
        %1 = trunc i64 %a to i8
        %2 = zext i8 %1 to i32
        %3 = sext i8 %1 to i64
        %4 = uitofp i32 %2 to float
        %5 = fpext float %4 to double
        %6 = fptrunc double %d to float
        %7 = fptoui float %6 to i32
        %8 = sitofp i32 %7 to double
        %9 = bitcast double %8 to i64
        %10 = ptrtoint ptr %p to i64
        %11 = addrspacecast ptr %p to ptr addrspace(1)
        %12 = inttoptr i64 %10 to ptr
        ret ptr %12
    }";
    with_function(text, |module, body| {
        let casts: Vec<_> = body
            .insts
            .iter()
            .filter_map(|inst| match inst.kind {
                RawInstKind::Cast { op, .. } => Some(op),
                _ => None,
            })
            .collect();
        use CastOp::*;
        assert_eq!(
            casts,
            [
                Trunc,
                ZExt,
                SExt,
                UiToFp,
                FpExt,
                FpTrunc,
                FpToUi,
                SiToFp,
                BitCast,
                PtrToInt,
                AddrSpaceCast,
                IntToPtr
            ]
        );
        let far = ty(module, body.insts[10].ty);
        assert!(matches!(far, RawType::Pointer { addrspace: 1, .. }));
    });
}

#[test]
fn control_flow_and_phi() {
    let text = "define i32 @f(i32 %n) {
    start:
        switch i32 %n, label %loop [
            i32 3, label %out
            i32 -4, label %dead
        ]
    loop:
        %i = phi i32 [ 0, %start ], [ %next, %loop ]
        %next = add i32 %i, 1
        %done = icmp eq i32 %next, %n
        br i1 %done, label %out, label %loop
    out:
        %r = phi i32 [ 5, %start ], [ %i, %loop ]
        ret i32 %r
    dead:
        unreachable
    }";
    with_function(text, |module, body| {
        assert_eq!(body.blocks.len(), 4);
        let RawInstKind::Switch {
            cond,
            default,
            cases,
        } = first(body).kind
        else {
            panic!("{:?}", first(body));
        };
        assert_eq!((cond, default), (body.arg(0), BlockId(1)));
        let cases: Vec<_> = body
            .operands(cases)
            .chunks_exact(2)
            .map(|pair| {
                let value = pair[0].as_value().expect("a value");
                (
                    int(module, body, value),
                    pair[1].as_block().expect("a block"),
                )
            })
            .collect();
        assert_eq!(cases, [(3, BlockId(2)), (-4, BlockId(3))]);
        let RawInstKind::Phi { incoming } = body.block(BlockId(1))[0].kind else {
            panic!("{:?}", body.block(BlockId(1)));
        };
        // The second value is defined after the phi.
        let incoming = body.operands(incoming);
        assert_eq!(incoming[2].as_value(), body.block(BlockId(1))[1].result);
        assert_eq!(incoming[3].kind(), OperandKind::Block(BlockId(1)));
        let RawInstKind::CondBr {
            then_block,
            else_block,
            ..
        } = body.block(BlockId(1))[3].kind
        else {
            panic!("{:?}", body.block(BlockId(1)));
        };
        assert_eq!((then_block, else_block), (BlockId(2), BlockId(1)));
    });
}

#[test]
fn calls() {
    let text = "declare i32 @printf(ptr, ...)
    declare fastcc ptr @g(ptr noundef nonnull)
    declare void @llvm.assume(i1)
    define i32 @f(ptr %p, ptr %h) {
        %1 = tail call fastcc ptr @g(ptr nonnull %p)
        %2 = call i32 (ptr, ...) @printf(ptr %1, i64 5, double 1.0)
        call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 16) ]
        %3 = call i32 %h(i32 %2)
        %4 = call i32 asm sideeffect \"nop\", \"=r\"()
        %5 = musttail call i32 @f(ptr %p, ptr %h)
        ret i32 %5
    }";
    with_function(text, |module, body| {
        let call = |index: usize| {
            let id = body.insts[index].kind.call().expect("a call");
            *body.call(id).expect("a call")
        };
        assert_eq!(call(0).tail, TailKind::Tail);
        assert_eq!(call(0).calling_conv, 8);
        let attrs = module.attrs_or_empty(call(0).attrs);
        assert!(attrs.param(0).has(drip_bitcode::AttrKind::NonNull));
        assert_eq!(body.operands(call(1).args).len(), 3);
        assert!(matches!(
            ty(module, call(1).function_ty),
            RawType::Function { vararg: true, .. }
        ));
        let bundles = call(2).bundles.of(&body.bundles);
        assert_eq!(bundles.len(), 1);
        assert_eq!(module.bundle_tag(bundles[0].tag), Some("align"));
        assert_eq!(body.operands(bundles[0].inputs).len(), 2);
        assert_eq!(body.insts[2].result, None);
        assert_eq!(call(3).callee, body.arg(1));
        assert!(call(3).bundles.is_empty());
        let (asm, table) = body.constant(module, call(4).callee).expect("assembly");
        let RawConst::InlineAsm {
            text,
            constraints,
            side_effects,
            ..
        } = asm.kind
        else {
            panic!("{asm:?}");
        };
        assert!(side_effects);
        assert_eq!(text.of(&table.bytes), b"nop");
        assert_eq!(constraints.of(&table.bytes), b"=r");
        assert_eq!(call(5).tail, TailKind::MustTail);
    });
}

#[test]
fn exceptions() {
    let text = "@type = external constant ptr
    declare i32 @personality(...)
    declare i32 @g()
    define i32 @f() personality ptr @personality {
        %1 = invoke i32 @g() to label %ok unwind label %bad
    ok:
        ret i32 %1
    bad:
        %2 = landingpad { ptr, i32 } cleanup catch ptr @type filter [1 x ptr] [ptr @type]
        resume { ptr, i32 } %2
    }";
    with_function(text, |module, body| {
        let RawInstKind::Invoke { normal, unwind, .. } = first(body).kind else {
            panic!("{:?}", first(body));
        };
        assert_eq!((normal, unwind), (BlockId(1), BlockId(2)));
        let RawInstKind::LandingPad { cleanup, clauses } = body.block(unwind)[0].kind else {
            panic!("{:?}", body.block(unwind));
        };
        assert!(cleanup);
        let kinds: Vec<_> = body
            .operands(clauses)
            .chunks_exact(2)
            .map(|pair| pair[0].raw())
            .collect();
        assert_eq!(kinds, [0, 1]);
        let f = common::function(module, "f");
        let personality = module.functions[f].personality.expect("a personality");
        assert!(matches!(
            module.value(personality),
            Some(drip_bitcode::ModuleValue::Function(_))
        ));
    });
}

#[test]
fn variable_arguments_and_indirect_branches() {
    let text = "@targets = constant [1 x ptr] [ptr blockaddress(@f, %one)]
    define i32 @f(ptr %list, ptr %t) {
        %1 = va_arg ptr %list, i32
        indirectbr ptr %t, [label %one, label %two]
    one:
        ret i32 %1
    two:
        callbr void asm sideeffect \"nop\", \"!i\"() to label %one [label %three]
    three:
        ret i32 3
    }";
    with_function(text, |module, body| {
        assert!(matches!(first(body).kind, RawInstKind::VaArg { list } if list == body.arg(0)));
        assert_eq!(ty(module, first(body).ty), &RawType::Integer(32));
        let RawInstKind::IndirectBr { targets, .. } = body.insts[1].kind else {
            panic!("{:?}", body.insts[1]);
        };
        let blocks: Vec<_> = body
            .operands(targets)
            .iter()
            .filter_map(|o| o.as_block())
            .collect();
        assert_eq!(blocks, [BlockId(1), BlockId(2)]);
        let RawInstKind::CallBr {
            default, indirect, ..
        } = body.block(BlockId(2))[0].kind
        else {
            panic!("{:?}", body.block(BlockId(2)));
        };
        assert_eq!(default, BlockId(1));
        assert_eq!(body.operands(indirect)[0].as_block(), Some(BlockId(3)));
        let has_address =
            module.constants.constants.iter().any(
                |c| matches!(c.kind, RawConst::BlockAddress { block, .. } if block == BlockId(1)),
            );
        assert!(has_address);
    });
}

#[test]
fn names_of_locals_when_kept() {
    let text = "define i32 @f(i32 %width) {
    begin:
        %twice = shl i32 %width, 1
        ret i32 %twice
    }";
    for version in opaque_versions() {
        let flags = ["-O0", "-fno-discard-value-names"];
        let module = module_of(version, "ll", text, &flags);
        let body = body(&module, "f");
        let mut names = module
            .value_names(common::function(&module, "f"))
            .expect("names");
        names.values.sort();
        let expected: Vec<(ValueId, Box<str>)> = vec![
            (body.arg(0), "width".into()),
            (first(&body).result.expect("a result"), "twice".into()),
        ];
        assert_eq!(names.values, expected, "clang-{version}");
        assert_eq!(names.blocks, [(BlockId(0), "begin".into())]);
    }
}

/// Typed pointers of LLVM ≤ 14: results of address computations and loads have exact pointer types.
#[test]
fn typed_pointers() {
    let text = "%s = type { i32, [4 x %s*] }
    define %s* @f(%s* %p, i64 %i) {
        %1 = getelementptr inbounds %s, %s* %p, i64 0, i32 1, i64 %i
        %2 = load %s*, %s** %1
        %3 = alloca %s*
        store %s* %2, %s** %3
        ret %s* %2
    }";
    for version in clang_versions().into_iter().filter(|v| *v <= 14) {
        let module = module_of(version, "ll", text, &["-O0"]);
        let body = body(&module, "f");
        let pointee = |id: TypeId| match *ty(&module, id) {
            RawType::Pointer { pointee, .. } => pointee.expect("a typed pointer"),
            ref other => panic!("{other:?}"),
        };
        let arg = body.local_type(body.arg(0)).expect("a type");
        assert_eq!(pointee(body.insts[0].ty), arg);
        assert_eq!(body.insts[1].ty, arg);
        assert_eq!(pointee(body.insts[2].ty), arg);
    }
}

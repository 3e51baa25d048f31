//! Tables, blocks and ids of one body.

use super::*;

#[test]
fn tables_of_a_body() {
    changed_body(
        |b| b.params.push(TypeId::new(0)),
        "@f: the body's parameters are not those of the function's type",
    );
    changed_body(
        |b| b.locs[LocId::new(0)].file = FileId::new(9),
        "@f: a position is in no file or inlined at no position",
    );
    changed_body(
        |b| b.locs[LocId::new(1)].inlined_at = Some(LocId::new(9)),
        "@f: a position is in no file or inlined at no position",
    );
    changed_body(
        |b| b.locs[LocId::new(0)].inlined_at = Some(LocId::new(1)),
        "@f: a position is inlined into itself",
    );
    changed_body(
        |b| b.locs[LocId::new(1)].inlined_at = Some(LocId::new(1)),
        "@f: a position is inlined into itself",
    );
    changed_body(
        |b| b.vars[VarId::new(0)].ty = Some(DiTypeId::new(99)),
        "@f: a variable's name or type does not exist",
    );
    // Later positions may be the outer ones.
    let mut program = parse(GOOD);
    let locs = &mut good_body(&mut program).locs;
    let outer = locs.push(Loc {
        file: FileId::new(0),
        line: 1,
        column: 1,
        inlined_at: None,
    });
    locs[LocId::new(0)].inlined_at = Some(outer);
    assert_eq!(messages(&program), [""; 0]);
}

#[test]
fn constants_fit_their_types() {
    line(
        "store i8 256, %p",
        "@f: constant c0 has more bits than its type",
    );
    body(
        "const c0 = %pair { i32 4, null }\nret %n",
        "@f: constant c2 has elements of other types than its own type",
    );
    body(
        "const c0 = [2 x ptr] { null }\nret %n",
        "@f: constant c1 has elements of other types than its own type",
    );
    body(
        "const c0 = ptr { }\nret %n",
        "@f: constant c0 has elements of other types than its own type",
    );
    line(
        "store undef void, %p",
        "@f: constant c0 has a type or symbol that does not fit",
    );
    line(
        "store opaque fn(), %p",
        "@f: constant c0 has a type or symbol that does not fit",
    );
    let constant = |constant: Const| {
        let mut program = parse(GOOD);
        good_body(&mut program).consts.push(constant);
        messages(&program)
    };
    let message = ["@f: constant c5 has a type or symbol that does not fit"];
    assert_eq!(constant(Const::Func(FuncId::new(77))), message);
    assert_eq!(
        constant(Const::Global {
            global: GlobalId::new(77),
            offset: 0
        }),
        message
    );
    assert_eq!(
        constant(Const::Float {
            ty: TypeId::new(0),
            bits: 0
        }),
        message
    );
    assert_eq!(
        constant(Const::Zero(TypeId::new(999))),
        ["@f: constant c5 has a type that does not exist"]
    );
    let elems = [ConstId::new(5)].into();
    assert_eq!(
        constant(Const::Aggregate {
            ty: TypeId::new(0),
            elems
        }),
        ["@f: constant c5 contains a later constant"]
    );
}

#[test]
fn blocks_tile_the_instructions() {
    let tile = "blocks are empty or don't tile the instructions in order";
    changed_body(
        |b| b.blocks[BlockId::new(1)].insts.start += 1,
        &format!("@f b1: {tile}"),
    );
    changed_body(
        |b| b.blocks[BlockId::new(3)].insts.end += 1,
        &format!("@f b3: {tile}"),
    );
    body("br b1\nb1:\nb2:\nret %n", &format!("@f b1: {tile}"));
    changed_body(
        |b| {
            let last = b.insts[InstId::new(11)];
            b.insts.push(last);
        },
        "@f: instructions lie behind the last block",
    );
    broken("func @f() { }", "@f: the body has no blocks");
    body(
        "%x = add i32 %n, 1",
        "@f b0 i0: the block has no terminator",
    );
    body(
        "br b1\nret %n\nb1:\nret %n",
        "@f b0 i0: a terminator stands inside a block",
    );
    body(
        "br b1\nb1:\n%x = add i32 %n, 1\n%y = phi i32 [b0: 1]\nret %n",
        "@f b1 i2: a phi stands behind other instructions",
    );
}

/// Every id and pool range of every operation is looked at.
#[test]
fn ids_of_instructions_exist() {
    const NOWHERE: u32 = 1 << 20;
    let value = Operand::value(ValueId::from_u32(NOWHERE));
    let constant = Operand::constant(ConstId::from_u32(NOWHERE));
    let pool = PoolRange {
        start: NOWHERE,
        len: 1,
    };
    let wrapping = PoolRange {
        start: 1,
        len: u32::MAX,
    };
    let block = BlockId::from_u32(NOWHERE);
    let (b0, none) = (BlockId::new(3), PoolRange::default());
    let ok = Operand::value(ValueId::new(0));
    let var = VarId::from_u32(NOWHERE);
    let ty = TypeId::from_u32(NOWHERE);
    let flags = CallFlags(0);
    let ops = [
        Op::Alloca {
            elem: ty,
            count: ok,
            var: None,
        },
        Op::Alloca {
            elem: TypeId::new(0),
            count: value,
            var: None,
        },
        Op::Alloca {
            elem: TypeId::new(0),
            count: ok,
            var: Some(var),
        },
        Op::Load { addr: constant },
        Op::Store { addr: ok, value },
        Op::Store {
            addr: value,
            value: ok,
        },
        Op::PtrAdd {
            base: value,
            offset: 0,
            indices: none,
        },
        Op::PtrAdd {
            base: ok,
            offset: 0,
            indices: pool,
        },
        Op::MemCopy {
            dst: value,
            src: ok,
            len: ok,
        },
        Op::MemCopy {
            dst: ok,
            src: value,
            len: ok,
        },
        Op::MemSet {
            dst: ok,
            byte: ok,
            len: value,
        },
        Op::Cast {
            op: CastOp::Trunc,
            value,
        },
        Op::Binary {
            op: BinaryOp::Add,
            a: ok,
            b: value,
        },
        Op::Cmp {
            pred: CmpPred::Eq,
            a: value,
            b: ok,
        },
        Op::Select {
            cond: ok,
            then: ok,
            els: constant,
        },
        Op::Call {
            callee: value,
            args: none,
            flags,
        },
        Op::Call {
            callee: ok,
            args: pool,
            flags,
        },
        Op::Call {
            callee: ok,
            args: wrapping,
            flags,
        },
        Op::ExtractValue {
            agg: value,
            path: none,
        },
        Op::ExtractValue {
            agg: ok,
            path: pool,
        },
        Op::InsertValue {
            agg: ok,
            value,
            path: none,
        },
        Op::InsertValue {
            agg: ok,
            value: ok,
            path: pool,
        },
        Op::AtomicRmw {
            addr: ok,
            value,
            op: RmwOp::Add,
        },
        Op::CmpXchg {
            addr: ok,
            expected: ok,
            new: value,
        },
        Op::VaArg { list: value },
        Op::Opaque { args: pool },
        Op::Uninit { var: Some(var) },
        Op::Bind { var, value: ok },
        Op::Bind {
            var: VarId::new(0),
            value,
        },
    ];
    let terminators = [
        Op::Ret { value: Some(value) },
        Op::Br { target: block },
        Op::CondBr {
            cond: value,
            then: b0,
            els: b0,
        },
        Op::CondBr {
            cond: ok,
            then: b0,
            els: block,
        },
        Op::Switch {
            value,
            default: b0,
            cases: none,
        },
        Op::Switch {
            value: ok,
            default: block,
            cases: none,
        },
        Op::Switch {
            value: ok,
            default: b0,
            cases: pool,
        },
        Op::IndirectBr {
            addr: value,
            targets: none,
        },
        Op::IndirectBr {
            addr: ok,
            targets: pool,
        },
        Op::CallBr {
            args: pool,
            normal: b0,
            targets: none,
        },
        Op::CallBr {
            args: none,
            normal: block,
            targets: none,
        },
        Op::CallBr {
            args: none,
            normal: b0,
            targets: pool,
        },
        Op::Invoke {
            callee: value,
            args: none,
            flags,
            normal: b0,
            unwind: b0,
        },
        Op::Invoke {
            callee: ok,
            args: pool,
            flags,
            normal: b0,
            unwind: b0,
        },
        Op::Invoke {
            callee: ok,
            args: none,
            flags,
            normal: block,
            unwind: b0,
        },
        Op::Invoke {
            callee: ok,
            args: none,
            flags,
            normal: b0,
            unwind: block,
        },
        Op::Resume { value },
    ];
    let no_id = "refers to an id that does not exist";
    for op in ops {
        changed_body(
            |b| b.insts[InstId::new(1)].op = op,
            &format!("@f b0 i1: {no_id}"),
        );
    }
    for op in terminators {
        changed_body(
            |b| b.insts[InstId::new(11)].op = op,
            &format!("@f b3 i11: {no_id}"),
        );
    }
    changed_body(
        |b| b.insts[InstId::new(9)].op = Op::Phi { incoming: pool },
        &format!("@f b3 i9: {no_id}"),
    );
    changed_body(
        |b| b.incoming[0].block = block,
        &format!("@f b3 i9: {no_id}"),
    );
    changed_body(
        |b| b.incoming[0].value = value,
        &format!("@f b3 i9: {no_id}"),
    );
    changed_body(|b| b.scaled[0].index = value, &format!("@f b2 i6: {no_id}"));
    changed_body(|b| b.cases[0].target = block, &format!("@f b1 i5: {no_id}"));
    changed_body(|b| b.operands[0] = value, &format!("@f b0 i1: {no_id}"));
    changed_body(
        |b| b.insts[InstId::new(1)].ty = ty,
        &format!("@f b0 i1: {no_id}"),
    );
    changed_body(
        |b| b.insts[InstId::new(1)].loc = Some(LocId::from_u32(NOWHERE)),
        &format!("@f b0 i1: {no_id}"),
    );
}

//! The verifier: each rule has a program that breaks it, and no other.

use drip_base::IndexVec;
use drip_program::*;

#[track_caller]
fn parse(text: &str) -> Program {
    parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn messages(program: &Program) -> Vec<String> {
    verify(program).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn clean(text: &str) {
    assert_eq!(messages(&parse(text)), [""; 0]);
}

/// The program breaks exactly this rule.
#[track_caller]
fn broken(text: &str, expected: &str) {
    assert_eq!(messages(&parse(text)), [expected]);
}

fn function(body: &str) -> String {
    format!(
        "type %pair = {{ ptr, i32 }}\ndeclare @callee(ptr) address_taken\n\
         func @f(ptr %p, i32 %n, i1 %c, f64 %d, %pair %s) -> i32 {{\nvar x\n{body}\n}}"
    )
}

/// A line in the entry block breaks exactly this rule.
#[track_caller]
fn line(line: &str, expected: &str) {
    broken(&function(&format!("{line}\nret %n")), expected);
}

#[track_caller]
fn body(body: &str, expected: &str) {
    broken(&function(body), expected);
}

/// A well-formed program changed by `change` breaks exactly this rule.
#[track_caller]
fn changed(change: impl FnOnce(&mut Program), expected: &str) {
    let mut program = parse(GOOD);
    change(&mut program);
    assert_eq!(messages(&program), [expected]);
}

#[track_caller]
fn changed_body(change: impl FnOnce(&mut Body), expected: &str) {
    changed(|program| change(good_body(program)), expected);
}

fn good_body(program: &mut Program) -> &mut Body {
    let f = program.find_func("f").unwrap();
    program.funcs[f].body.as_mut().unwrap()
}

const GOOD: &str = r#"
type %node = { ptr, i32 }
file file0 "" "a.c"
unit u0 "a.bc"
di d0 = base "int" 4 signed
di d1 = struct "node" 16 { "next" @0 d2 }
di d2 = ptr d1
di d3 = enum 4 { "A" = 1 }
di d4 = fn(d0) -> void
di d5 = typedef "T" d0
di d6 = array d0 x 4
global @g %node = { 0: @g, 8: i32 1 } at file0:1:1 di d1
global @s internal [3 x i8] = "ab\x00"
global @s#1 internal ptr = @h
declare @malloc(i64) -> ptr family "malloc"
func @h() { ret }
func @f(ptr %p, i32 %n) -> i32 at file0:3:5 di d4 source "f" {
  var a d0 param 0
  const c0 = %node { null, i32 4 }
b0:
  %u = uninit i32 var a
  %q = call ptr @malloc(i64 16)  !4:1
  bind a, %n
  %c = cmp eq %q, null
  br %c, b1, b2
b1:
  switch %n, b2 [0: b3, 1: b3]
b2:
  %y = ptradd %q, 8, %n * 4  !5:1 inlined 4:1
  %z = load i32 %y
  br b3
b3:
  %r = phi i32 [b1: %u, b1: %u, b2: %z]
  %e = extractvalue i32 c0, 1
  ret %r
}
"#;

#[test]
fn good_programs() {
    clean("");
    clean(GOOD);
    clean(&function("ret %n"));
    // Unreachable blocks may use anything, and be named in phis.
    clean(&function(
        "br b2\nb1:\n%x = add i32 %y, %y\n%y = add i32 %x, %x\nbr b2\nb2:\n%z = phi i32 [b0: 1, b1: %y]\nret %z",
    ));
    // Calls through a K&R declaration, with any arguments.
    clean(&function(
        "call i32 @callee(i32 1, %d)\ncall void @callee()\nret %n",
    ));
    clean(&function(
        "%l = alloca i32\n%v: <2 x ptr> = ptradd zero <2 x ptr>, zero <2 x i64> * 4\n\
         %m: <2 x i1> = cmp eq %v, zero <2 x ptr>\n%w = select <2 x ptr> %m, %v, %v\n\
         %b = bitcast zero <4 x i8> to i32\n%t = trunc zero <2 x i64> to <2 x i32>\n\
         memcopy %l, %p, i64 4\n%r: ptr = memset %l, i32 0, i64 4\n%o = atomicrmw add i32 %p, 1\n\
         %k = cmpxchg { i32, i1 } %p, i32 1, i32 2\n%i = insertvalue %pair %s, %p, 0\nopaque void (%l)\nret %n",
    ));
    clean(&function(
        "%x = invoke i32 @callee(%p) to b1 unwind b2\nb1:\nret %x\nb2:\n%l = landingpad %pair cleanup\nresume %l",
    ));
    clean(&function(
        "callbr void () to b1 [b1]\nb1:\nindirectbr %p [b2, b1]\nb2:\nunreachable",
    ));
}

#[test]
fn types_are_sane() {
    let errors = |text: &str| messages(&parse(text));
    let with = |ty: &str| errors(&format!("global @g {ty} size 0"));
    assert_eq!(
        with("[2 x void]"),
        ["program: type t1 has elements that can have no value"]
    );
    assert_eq!(
        with("{ i8, void }"),
        ["program: type t2 has a field that can have no value"]
    );
    assert_eq!(
        with("[9223372036854775807 x i64]"),
        ["program: type t1 is too large"]
    );
    assert_eq!(
        with("fn(void)"),
        ["program: type t1 has a parameter or result that can have no value"]
    );
    assert_eq!(
        with("fn() -> fn()"),
        ["program: type t2 has a parameter or result that can have no value"]
    );
    assert_eq!(
        errors("type %a = { i32, i32 @2 }"),
        ["program: type t1 has overlapping fields"]
    );
    assert_eq!(
        errors("type %a = { i32 } size 3"),
        ["program: type t1 has fields beyond its size"]
    );
    assert_eq!(
        errors("type %a = { i32 } align 3"),
        ["program: type t1 has an alignment that is no power of two"]
    );
    assert_eq!(
        errors("layout ptr 3"),
        ["program: the data layout has alignments that are no powers of two"]
    );
    let mut program = Program::default();
    program.types.intern(Type::Int(0));
    assert_eq!(
        messages(&program),
        ["program: type t0 has an impossible width"]
    );
    let mut program = Program::default();
    program.types.intern(Type::Array {
        elem: TypeId::new(0),
        len: 1,
    });
    assert_eq!(
        messages(&program),
        ["program: type t0 refers to a later type"]
    );
    let mut program = Program::default();
    let fields = [].into();
    let name = Some(StrId::new(7));
    program.types.intern(Type::Struct(StructType {
        name,
        fields,
        packed: false,
        size: 0,
        align: 1,
    }));
    assert_eq!(
        messages(&program),
        ["program: type t0 has a name that does not exist"]
    );
    let mut program = Program::default();
    let mut ty = program.types.intern(Type::Ptr);
    for _ in 0..print::MAX_TYPE_DEPTH {
        ty = program.types.intern(Type::Array { elem: ty, len: 1 });
    }
    assert_eq!(
        messages(&program),
        ["program: type t128 is nested too deep"]
    );
}

#[test]
fn items_refer_to_what_exists() {
    let bad = StrId::from_u32(u32::MAX);
    let bad_di = Some(DiTypeId::new(99));
    let g = GlobalId::new(0);
    let f = FuncId::new(2);
    changed(
        |p| p.files[FileId::new(0)].name = bad,
        "program: file0 has a name that does not exist",
    );
    changed(
        |p| p.units[UnitId::new(0)].source = bad,
        "program: u0 has a name that does not exist",
    );
    for n in 0..7 {
        let expected = format!("program: d{n} refers to a name or type that does not exist");
        let change = |p: &mut Program| match &mut p.di_types[DiTypeId::new(n)] {
            DiType::Base { name, .. } => *name = bad,
            DiType::Struct { members, .. } => members[0].ty = bad_di,
            DiType::Pointer { to } => *to = bad_di,
            DiType::Enum { values, .. } => values[0].0 = bad,
            DiType::Func { params, .. } => params[0] = bad_di,
            DiType::Typedef { of, .. } => *of = bad_di,
            DiType::Array { elem, .. } => *elem = bad_di,
            other => panic!("{other:?}"),
        };
        changed(change, &expected);
    }
    changed(
        |p| p.globals[g].name = bad,
        "program: g0 has a name that does not exist",
    );
    changed(
        |p| p.globals[g].unit = UnitId::new(4),
        "program: g0 is in no unit",
    );
    changed(
        |p| p.globals[g].ty = TypeId::new(999),
        "program: g0 has a type that does not exist",
    );
    changed(
        |p| p.globals[g].di_type = bad_di,
        "program: g0 has a type that does not exist",
    );
    changed(
        |p| p.globals[g].loc.as_mut().unwrap().file = FileId::new(4),
        "program: g0 has a position in no file",
    );
    changed(
        |p| p.funcs[f].source_name = Some(bad),
        "program: f2 has a name that does not exist",
    );
    changed(
        |p| p.funcs[f].unit = UnitId::new(4),
        "program: f2 is in no unit",
    );
    changed(
        |p| p.funcs[f].loc.as_mut().unwrap().file = FileId::new(4),
        "program: f2 has a position in no file",
    );
    changed(
        |p| p.funcs[f].di_type = bad_di,
        "program: f2 has a source type that does not exist",
    );
    changed(
        |p| p.funcs[f].unreadable = Some("x".into()),
        "program: f2 has a body that could not be read",
    );
    changed(
        |p| p.funcs[FuncId::new(0)].ty = TypeId::new(0),
        "program: f0 has a type that is no function's",
    );
    changed(
        |p| p.funcs[FuncId::new(0)].params = [].into(),
        "program: f0 has attributes for another number of parameters",
    );
}

#[test]
fn initialisers_fit() {
    broken(
        "global @g i8 = \"ab\"",
        "program: g0 is initialised beyond its size",
    );
    broken(
        "global @g i32 = { 2: i32 1 }",
        "program: g0 is initialised beyond its size",
    );
    broken(
        "global @g i64 = { 2: i32 1, 0: i16 1 }",
        "program: g0 has overlapping or unsorted initialisers",
    );
    broken(
        "global @g i64 = { 0: i32 1, 2: i16 1 }",
        "program: g0 has overlapping or unsorted initialisers",
    );
    changed(
        |p| {
            let slots = [(0, Scalar::Func(FuncId::new(77)))].into();
            p.globals[GlobalId::new(0)].init = Init::Slots {
                slots,
                complete: true,
            };
        },
        "program: g0 is initialised with a symbol that does not exist",
    );
    changed(
        |p| p.funcs[FuncId::new(1)].attrs.0 = 0,
        "program: g2 takes the address of a function that is not marked so",
    );
}

#[test]
fn visible_names_are_distinct() {
    broken(
        "global @a i8\ndeclare @a#1()",
        "program: symbol @a is visible twice",
    );
    clean("global @a i8\nfunc @a#1() internal { ret }");
}

#[test]
fn marks_of_taken_addresses() {
    let mut program = parse("declare @h()\nfunc @f(ptr %p) {\nstore @h, %p\nret\n}");
    program.funcs[FuncId::new(0)].attrs.0 = 0;
    assert_eq!(
        messages(&program),
        ["@f: takes the address of f0, which is not marked so"]
    );
}

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

#[test]
fn operands_have_the_right_types() {
    let at = |message: &str| format!("@f b0 i0: {message}");
    line("%x = load i32 %n", &at("expects a pointer"));
    line("load void %p", &at("must have a result"));
    line("store %n, %n", &at("expects a pointer"));
    line("%x: i32 = store %n, %p", &at("must have no result"));
    line("%x = alloca i32, %p", &at("expects an integer"));
    line(
        "%x = alloca fn()",
        &at("allocates a type that can have no value"),
    );
    line("%x: i32 = alloca i32", &at("must be a pointer"));
    line("%x = ptradd %n, 4", &at("expects a pointer"));
    line("%x = ptradd %p, %p * 4", &at("expects an integer"));
    line("%x: i64 = ptradd %p, 4", &at("must be a pointer"));
    line("memcopy %n, %p, i64 4", &at("expects a pointer"));
    line("memcopy %p, %n, i64 4", &at("expects a pointer"));
    line("memcopy %p, %p, %p", &at("expects an integer"));
    line(
        "%x: i32 = memcopy %p, %p, i64 4",
        &at("must have no result but a pointer"),
    );
    line("memset %p, %p, i64 4", &at("expects an integer"));
    line("%x = vaarg i32 %n", &at("expects a pointer"));
    line("%x = atomicrmw add i32 %n, 4", &at("expects a pointer"));
    line(
        "%x = atomicrmw add i32 %p, i64 4",
        &at("operands and result must have the same type"),
    );
    line(
        "%x = cmpxchg { i32, i1 } %n, i32 1, i32 2",
        &at("expects a pointer"),
    );
    line(
        "%x = cmpxchg { i32, i1 } %p, i64 1, i32 2",
        &at("operands and result must have the same type"),
    );
    line(
        "%x = cmpxchg { i64, i1 } %p, i32 1, i32 2",
        &at("must be a pair of old value and i1"),
    );
    line("call void %n()", &at("expects a pointer"));
    line("landingpad void", &at("must have a result"));
    line("%x: i32 = bind x, %n", &at("must have no result"));
}

#[test]
fn values_have_the_right_types() {
    let at = |message: &str| format!("@f b0 i0: {message}");
    line(
        "%x = add i32 %n, i64 1",
        &at("operands and result must have the same type"),
    );
    line(
        "%x = add i64 %n, i32 1",
        &at("operands and result must have the same type"),
    );
    line("%x = add f64 %d, %d", &at("has operands of the wrong kind"));
    line(
        "%x = fadd i32 %n, %n",
        &at("has operands of the wrong kind"),
    );
    line("%x = add ptr %p, %p", &at("has operands of the wrong kind"));
    line(
        "%x = cmp eq %n, i64 1",
        &at("operands and result must have the same type"),
    );
    line(
        "%x = cmp eq %d, %d",
        &at("has operands or a predicate of the wrong kind"),
    );
    line(
        "%x = fcmp oeq %n, %n",
        &at("has operands or a predicate of the wrong kind"),
    );
    line(
        "%x = fcmp 16 %d, %d",
        &at("has operands or a predicate of the wrong kind"),
    );
    line("%x: i32 = cmp eq %n, %n", &at("must be an i1"));
    line(
        "%x = select i32 %c, %n, i64 1",
        &at("operands and result must have the same type"),
    );
    line(
        "%x = select i32 %n, %n, %n",
        &at("expects an i1 as condition"),
    );
    for cast in [
        "trunc %n to i64",
        "zext %n to i8",
        "sext %n to ptr",
        "ptrtoint %n to i64",
        "inttoptr %p to ptr",
        "fptrunc %n to f32",
        "fptosi %d to f32",
        "uitofp %d to f64",
        "trunc %n to <2 x i8>",
    ] {
        line(
            &format!("%x = {cast}"),
            &at("has a value or result of the wrong kind"),
        );
    }
    line(
        "%x = bitcast %n to i64",
        &at("reinterprets a value of another size"),
    );
    line(
        "%x = extractvalue i32 %s, 0",
        &at("extracts no field, or one of another type"),
    );
    line(
        "%x = extractvalue i32 %s, 2",
        &at("extracts no field, or one of another type"),
    );
    line(
        "%x = extractvalue %pair %s",
        &at("extracts no field, or one of another type"),
    );
    line(
        "%x = extractvalue ptr %s, 0, 0",
        &at("extracts no field, or one of another type"),
    );
    line(
        "%x = insertvalue %pair %s, %n, 0",
        &at("replaces no field, or one of another type"),
    );
    line(
        "%x = insertvalue { ptr } %s, %p, 0",
        &at("operands and result must have the same type"),
    );
    body(
        "br b1\nb1:\n%x = phi i32 [b0: %p]\nret %n",
        "@f b1 i1: operands and result must have the same type",
    );
    body(
        "br b1\nb1:\n%x = uninit i32\nret %n",
        "@f b1 i1: stands outside of the entry block",
    );
    // The binding marker has a number but no value.
    changed_body(
        |b| b.operands[0] = Operand::value(ValueId::new(4)),
        "@f b0 i1: uses an instruction that has no result",
    );
}

#[test]
fn terminators_have_the_right_types() {
    let at = |message: &str| format!("@f b0 i0: {message}");
    body("ret", &at("returns another type than the function's"));
    body("ret %p", &at("returns another type than the function's"));
    broken(
        "func @f() { ret i32 1 }",
        &at("returns another type than the function's"),
    );
    body(
        "br %n, b1, b1\nb1:\nret %n",
        &at("expects an i1 as condition"),
    );
    body("switch %p, b1 []\nb1:\nret %n", &at("expects an integer"));
    body(
        "switch %n, b1 [4294967296: b1]\nb1:\nret %n",
        &at("has a case wider than its value"),
    );
    body("indirectbr %n []", &at("expects a pointer"));
    body(
        "invoke void %n() to b1 unwind b1\nb1:\nret %n",
        &at("expects a pointer"),
    );
    body("%x: i32 = unreachable", &at("must have no result"));
}

#[test]
fn control_flow() {
    body("br b0", "@f b0: the entry block has predecessors");
    let edges = "a phi must have one entry per incoming edge";
    let join = "br %c, b1, b2\nb1:\nbr b2\nb2:\n";
    for entries in [
        "b0: 1",
        "b0: 1, b0: 1",
        "b0: 1, b1: 1, b1: 1",
        "b0: 1, b2: 1",
        "",
    ] {
        body(
            &format!("{join}%x = phi i32 [{entries}]\nret %x"),
            &format!("@f b2 i2: {edges}"),
        );
    }
    body(
        "br %c, b1, b1\nb1:\n%x = phi i32 [b0: 1, b0: 2]\nret %x",
        "@f b1 i1: a phi has different values on parallel edges",
    );
    body(
        "%x = phi i32 [b0: 1]\nret %x",
        "@f b0 i0: a phi must have one entry per incoming edge",
    );
}

#[test]
fn definitions_dominate_uses() {
    let message = "uses a value that its definition does not dominate";
    line(
        "%x = add i32 %y, 1\n%y = add i32 %n, 1",
        &format!("@f b0 i0: {message}"),
    );
    line("%x = add i32 %x, 1", &format!("@f b0 i0: {message}"));
    body(
        "br %c, b1, b2\nb1:\n%x = add i32 %n, 1\nbr b2\nb2:\nret %x",
        &format!("@f b2 i3: {message}"),
    );
    body(
        "br %c, b1, b2\nb1:\n%x = add i32 %n, 1\nbr b2\nb2:\n%y = phi i32 [b0: %x, b1: %x]\nret %y",
        &format!("@f b2 i3: {message}"),
    );
    // The result of an invoke exists behind its normal edge only.
    let invoke = "%x = invoke i32 @callee(%p) to b1 unwind b2\nb1:\n";
    let pad = "%l = landingpad %pair";
    body(
        &format!("{invoke}ret %x\nb2:\n{pad}\nret %x"),
        &format!("@f b2 i3: {message}"),
    );
    body(
        &format!("{invoke}br b2\nb2:\n%y = phi i32 [b0: %x, b1: %x]\nret %y"),
        &format!("@f b2 i2: {message}"),
    );
    body(
        "%x = invoke i32 @callee(%p) to b1 unwind b1\nb1:\nret %x",
        &format!("@f b1 i1: {message}"),
    );
    body(
        "br %c, b1, b3\nb1:\n%x = invoke i32 @callee(%p) to b3 unwind b2\nb2:\nunreachable\nb3:\n\
         %y = phi i32 [b0: 1, b1: %x]\n%z = add i32 %x, 1\nret %y",
        &format!("@f b3 i4: {message}"),
    );
    clean(&function(&format!(
        "{invoke}%y = phi i32 [b0: %x, b1: %z]\n%z = add i32 %x, %y\nbr %c, b1, b3\nb2:\n{pad}\nresume %l\nb3:\nret %x"
    )));
    // A definition in an unreachable block dominates nothing.
    body(
        "br b2\nb1:\n%x = add i32 %n, 1\nunreachable\nb2:\nret %x",
        &format!("@f b2 i3: {message}"),
    );
    // A phi may use itself around a loop, and what is defined later in the loop.
    clean(&function(
        "br b1\nb1:\n%x = phi i32 [b0: 1, b1: %x]\n%y = phi i32 [b0: 1, b1: %z]\n%z = add i32 %y, 1\nbr %c, b1, b2\nb2:\nret %z",
    ));
}

#[test]
fn errors_are_bounded_and_located() {
    let many = "store %n, %n\n".repeat(100);
    let errors = verify(&parse(&function(&format!("{many}ret %n"))));
    assert_eq!(errors.len(), verify::MAX_ERRORS_PER_FUNCTION);
    assert_eq!(errors[1].func, Some(FuncId::new(1)));
    assert_eq!(
        (errors[1].block, errors[1].inst),
        (Some(BlockId::new(0)), Some(InstId::new(1)))
    );
    assert_eq!(errors[1].name, "f");
}

/// Errors come in the order of the functions.
#[test]
fn order_is_the_programs() {
    let text: String = (0..200)
        .map(|i| format!("func @f{i}() {{ ret i32 1 }}\n"))
        .collect();
    let funcs: Vec<_> = verify(&parse(&text))
        .iter()
        .filter_map(|e| e.func)
        .collect();
    let expected: IndexVec<FuncId, ()> = (0..200).map(|_| ()).collect();
    assert!(funcs.into_iter().eq(expected.ids()));
}

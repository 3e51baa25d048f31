//! Types, globals, functions and what they refer to.

use super::*;

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

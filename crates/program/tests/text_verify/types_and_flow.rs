//! Types of operands, control flow, and how errors are told.

use super::*;

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

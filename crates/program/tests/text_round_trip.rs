//! The textual form: what the printer writes the parser reads back, instruction by instruction and item by item; what hands
//! write more freely comes out in the one canonical form.

use drip_program::{parse_program, print_function, print_program};

/// The text is canonical: reading and printing it changes nothing.
#[track_caller]
fn canonical(text: &str) {
    let program = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print_program(&program), text);
}

/// `text` prints as `expected`, which is canonical.
#[track_caller]
fn becomes(text: &str, expected: &str) {
    let program = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print_program(&program), expected);
    canonical(expected);
}

/// A line of a body survives as it is; `v0` is a pointer, `v1` an i32, `v2` an i1; `v3` a struct; x0 a variable.
#[track_caller]
fn line(line: &str) {
    canonical(&format!(
        r#"program
type %node = {{ ptr @0, i32 @8 }} size 16 align 8
file file0 "dir" "a.c"
file file1 "dir" "a.h"
global @g i32
declare @callee(ptr) -> ptr address_taken
func @f(ptr v0, i32 v1, i1 v2, %node v3, f64 v4) {{
  var x0 "p"
b0:
  br b1
b1:
  {line}
b2:
  unreachable
}}
"#
    ));
}

#[test]
fn memory_instructions() {
    line("v6 = alloca %node");
    line("v6 = alloca [4 x i8], v1");
    line("v6 = alloca i32, i64 1 var x0");
    line("v6 = load ptr v0");
    line("v6 = load <2 x i32> @g+8");
    line("store i32 -7, v0");
    line("store v0, @g-4");
    line("v6 = ptradd v0, 8");
    line("v6 = ptradd v0, 0");
    line("v6 = ptradd v0, v1 * 4");
    line("v6 = ptradd v0, -16, v1 * 4, i64 3 * -8");
    line("v6: <4 x ptr> = ptradd v0, 4");
    line("memcopy v0, @g, i64 16");
    line("v6: ptr = memcopy v0, @g, i64 16");
    line("memset v0, i8 0, i64 16");
    line("v6 = atomicrmw add i32 v0, i32 1");
    line("v6 = atomicrmw other f64 v0, v4");
    line("v6 = cmpxchg { i32, i1 } v0, v1, i32 5");
    line("v6 = vaarg ptr v0");
}

#[test]
fn values() {
    for word in [
        "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr",
    ] {
        line(&format!("v6 = {word} i32 v1, i32 3"));
    }
    for word in ["and", "or", "xor", "fadd", "fsub", "fmul", "fdiv", "frem"] {
        line(&format!("v6 = {word} i32 v1, i32 3"));
    }
    for word in [
        "eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle",
    ] {
        line(&format!("v6 = cmp {word} v1, i32 3"));
    }
    for word in ["false", "oeq", "ogt", "uno", "ueq", "une", "true", "17"] {
        line(&format!("v6 = fcmp {word} v4, f64 0x3ff0000000000000"));
    }
    line("v6: <4 x i1> = cmp eq undef <4 x i32>, zero <4 x i32>");
    for word in ["trunc", "zext", "sext", "ptrtoint", "inttoptr", "bitcast"] {
        line(&format!("v6 = {word} v1 to i64"));
    }
    for word in ["fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"] {
        line(&format!("v6 = {word} v4 to i64"));
    }
    line("v6 = select ptr v2, v0, null");
    line("v6 = phi i32 [b0: v1]");
    line("v6 = phi ptr []");
    line("v6 = extractvalue i32 v3, 1");
    line("v6 = insertvalue %node v3, v1, 1");
    line("v6 = opaque <4 x i32> (v1, i32 2)");
    line("opaque void ()");
    line("v6 = uninit ptr var x0");
    line("v6 = uninit i32");
    line("bind x0, v0");
}

#[test]
fn calls_and_exceptions() {
    line("v6 = call ptr @callee(v0)");
    line("call void v0(v1, i64 16, @g, @callee)");
    line("call void opaque ptr(v0) noreturn asm nounwind readnone readonly bits 64");
    line("v6 = invoke ptr @callee(v0) nounwind to b2 unwind b1");
    line("invoke void @callee(null) to b2 unwind b2");
    line("v6 = landingpad { ptr, i32 } cleanup");
    line("v6 = landingpad { ptr, i32 }");
    line("resume v3");
}

#[test]
fn terminators() {
    line("ret");
    line("ret v1");
    line("ret i32 0");
    line("br b2");
    line("br v2, b1, b2");
    line("br true, b2, b2");
    line("br opaque i1, b1, b2");
    line("br b2  !3:1");
    line("switch v1, b2 []");
    line("switch v1, b2 [1: b1, 4294967295: b2, 18446744073709551615: b2]");
    line("indirectbr v0 [b1, b2]");
    line("indirectbr v0 []");
    line("callbr void (v1) to b2 [b1]");
    line("v6 = callbr i32 () to b2 []");
    line("unreachable");
}

#[test]
fn constants() {
    line("store i8 -1, v0");
    line("store i8 256, v0");
    line("store i64 -9223372036854775808, v0");
    line("store i64 9223372036854775807, v0");
    line("store i128 18446744073709551615, v0");
    line("store true, v0");
    line("store false, v0");
    line("store i1 2, v0");
    line("store f32 0x40000000, v0");
    line("store zero %node, v0");
    line("store undef [2 x { i8, i8 }], v0");
    line("store opaque i128, v0");
    line("store @callee, v0");
    line("store ptr -1, v0");
    line("store ptr 4096, v0");
}

#[test]
fn positions() {
    line("unreachable  !3:7");
    line("ret  !0:0");
    line("ret v1  !file1:3:7");
    line("v6 = load ptr v0  !3:7 inlined file1:10:3 inlined 20:1");
}

#[test]
fn aggregates_stand_before_the_blocks() {
    canonical(
        "program
type %pair = { i32 @0, i32 @4 } size 8 align 4
func @f() -> %pair {
  const c0 = %pair { i32 1, undef i32 }
  const c1 = [2 x %pair] { c0, zero %pair }
  const c2 = %pair { i32 1, undef i32 }
b0:
  v0 = extractvalue %pair c1, 1
  v1 = select %pair true, c0, c2
  ret v1
}
",
    );
}

#[test]
fn items() {
    canonical(
        r#"program
layout ptr 4 i64 4 f64 4 f80 4 i128 16 big_endian
type %struct.node = { ptr @0, i32 @4 } size 8 align 4
type %struct.node#1 = <{ i8 @0, i32 @1 }> size 5 align 1
type %0 = { [2 x i8] @0, f80 @4 } size 16 align 4
type %"a b" = { %0 @0, <4 x f32> @16, other @32 } size 40 align 8
type %1 = { i8 @0, i8 @9 } size 10 align 1
file file0 "/src" "a.c"
file file1 "/src" "näme \"x\"\n"
unit u0 "a.bc" source "a.c" lang c
unit u1 "b.bc" source "b.cc" lang cxx
unit u2 "" source "" lang other
di d0 = base "int" 4 signed
di d1 = ptr d2
di d2 = struct "node" 8 { "next" @0 d1, "x" @4 d0, base "B" @6 void }
di d3 = union 4 { }
di d4 = typedef "T" d3
di d5 = const void
di d6 = qualified d5
di d7 = array d0 x 10
di d8 = array void
di d9 = enum "e" 4 { "A" = 0, "B" = -1 }
di d10 = fn(d0, void) -> d1
di d11 = fn() -> void
di d12 = other
di d13 = base "char" 1 unsigned
global @counter internal i32 = { 0: i32 -7 } unit u1 at file0:3:12 di d0 source "n"
global @.str const [4 x i8] = "a\n\x00\xff"
global @tls weak thread_local ptr = zero
global @ext [0 x i8] size 12
global @table [4 x ptr] = { 0: @f, 4: @counter+4, 8: opaque 4, 12: i8 1, ... }
global @many [9 x ptr] = { ... }
global @counter#1 internal i32 = { }
declare @malloc(i64) -> ptr noalias_return alloc family "malloc"
declare @free(ptr nocapture allocptr) free family "malloc"
declare @printf(ptr readonly, ...) -> i32
declare @old(...) -> i32 not_vararg no_prototype
declare @callback(fn(i32, ...) -> ptr, fn()) vararg bits 1048576
declare @counter#2(i32 sret bits 32768) unit u1 unreadable "why \"not\""
func @f(ptr nonnull pointee_const v0, i32 v1) -> i32 internal address_taken at file1:12:5 di d10 source "f" {
  var x0 "p" d1 param 0 line 12
  var x1 "q"
b0:
  ret v1
}
"#,
    );
}

#[test]
fn freely_written_text_becomes_canonical() {
    becomes(
        r#"
        ; no header, no units; any labels
        type %node = { ptr, i32 }
        declare @malloc(i64) -> ptr
        func @list(i32 %n) -> ptr {
            var head line 3
            %none = uninit ptr var head
            br loop
          loop:                         // phis may look ahead
            %i = phi i32 [b0: 0, next: %j]
            %p = phi ptr [b0: null, next: %cell]
            bind head, %p
            %more = cmp slt %i, %n
            br %more, next, done
          next:
            %cell = call ptr @malloc(i64 16)  !file0:7:3
            store %p, %cell
            %j = add i32 %i, 1
            br loop
          done:
            ret %p
        }
        global @start ptr = @list
        "#,
        r#"program
type %node = { ptr @0, i32 @8 } size 16 align 8
file file0 "" ""
global @start ptr = { 0: @list }
declare @malloc(i64) -> ptr
func @list(i32 v0) -> ptr address_taken {
  var x0 "head" line 3
b0:
  v1 = uninit ptr var x0
  br b1
b1:
  v3 = phi i32 [b0: i32 0, b2: v10]
  v4 = phi ptr [b0: null, b2: v8]
  bind x0, v4
  v6 = cmp slt v3, v0
  br v6, b2, b3
b2:
  v8 = call ptr @malloc(i64 16)  !7:3
  store v4, v8
  v10 = add i32 v3, i32 1
  br b1
b3:
  ret v4
}
"#,
    );
}

#[test]
fn one_function_prints_as_in_the_program() {
    let text = "program
func @f() {
b0:
  ret
}
func @g() {
b0:
  call void @f()
  ret
}
";
    let program = parse_program(text).unwrap();
    let g = program.find_func("g").unwrap();
    assert_eq!(
        print_function(&program, g),
        text[text.find("func @g").unwrap()..]
    );
    assert_eq!(program.to_string(), text);
}

#[test]
fn empty_programs() {
    canonical("program\n");
    becomes("", "program\n");
    becomes("; nothing\n", "program\n");
}

#[test]
fn addresses_that_are_taken() {
    let text = "
        declare @direct()
        declare @passed()
        declare @stored()
        declare @in_table()
        declare @in_aggregate()
        global @table ptr = @in_table
        func @f(ptr %p) {
            const c0 = [1 x ptr] { @in_aggregate }
            call void @direct()
            call void @direct(@passed)
            store @stored, %p
            ret
        }";
    let program = parse_program(text).unwrap();
    let taken = drip_program::address_taken::address_taken(&program);
    let names: Vec<&str> = taken.iter().map(|f| program.func_name(f)).collect();
    assert_eq!(names, ["passed", "stored", "in_table", "in_aggregate"]);
}

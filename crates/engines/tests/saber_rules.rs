//! One test per rule of SABER: a minimal program, and exactly what the rule gives.

use drip_base::Watch;
use drip_engines::saber::{Bdds, Facts, Guards, Test};
use drip_flow::svfg::{Namer, Node, Place, Use};
use drip_models::Library;
use drip_pointer::andersen::InstanceId;
use drip_pointer::modref::Tracking;
use drip_program::testing::program;
use drip_program::{CmpPred, InstId, Program};

fn library() -> Library {
    Library::builtin().expect("the built-in models are right")
}

/// What is known of a program, by the names of its functions.
struct Known<'k> {
    program: &'k Program,
    facts: Facts<'k>,
}

impl<'k> Known<'k> {
    fn new(program: &'k Program, library: &'k Library) -> Known<'k> {
        Known {
            program,
            facts: Facts::collect(program, library, Tracking::All, &Watch::default())
                .expect("nobody stops it"),
        }
    }

    fn instance(&self, name: &str) -> InstanceId {
        let instances = self.facts.points_to.instances().list.ids();
        instances
            .iter()
            .find(|&i| self.facts.points_to.instance_name(i) == name)
            .unwrap_or_else(|| panic!("no instance {name}"))
    }

    /// 𝒰 and 𝒟.
    fn effects(&self, name: &str) -> [String; 2] {
        let effects = self.facts.mod_ref.effects(self.instance(name));
        [&effects.uses, &effects.defs].map(|set| self.facts.points_to.set_text(set))
    }

    /// Regions, then μ and χ.
    fn annotations(&self, name: &str) -> String {
        let instance = self.instance(name);
        let func = self.facts.points_to.instances().list[instance].func;
        let body = self.program.funcs[func].body.as_ref().expect("a body");
        let memory = self.facts.memories[instance].as_ref().expect("a body");
        let mut out = String::new();
        for (id, region) in memory.regions.iter_enumerated() {
            let locs = self.facts.points_to.set_text(&region.locs);
            out.push_str(&format!("{id} {locs}\n"));
        }
        out + &memory.annotations(body)
    }

    /// Versions.
    fn versions(&self, name: &str) -> String {
        let instance = self.instance(name);
        let memory = self.facts.memories[instance].as_ref().expect("a body");
        memory.ssa.to_string()
    }

    /// Edges that start or end in a function.
    fn edges(&self, name: &str) -> String {
        let namer = Namer {
            points_to: &self.facts.points_to,
            memories: &self.facts.memories,
        };
        let func = self.program.find_func(name).expect("a function");
        namer.edges(&self.facts.svfg, Some(func))
    }
}

/// Asserts on the lines of a text, whatever the indentation of the expectation.
#[track_caller]
fn same(text: &str, expected: &str) {
    let lines = |t: &str| -> Vec<String> {
        let lines = t.lines().map(str::trim).filter(|l| !l.is_empty());
        lines.map(str::to_owned).collect()
    };
    assert_eq!(lines(text), lines(expected), "\n{text}");
}

// ----- mod/ref, fig. 3 -----

const MOD_REF: &str = "
    func @reads(ptr %q) -> ptr {
      %p = load ptr %q
      ret %p
    }
    func @writes(ptr %p, ptr %v) {
      store %v, %p
      ret
    }
    func @neither(ptr %q) -> ptr {
      %own = alloca ptr
      %copy = ptradd %q, 0
      store %copy, %own
      %back = load ptr %own
      ret %back
    }
    func @calls(ptr %q) {
      %own = alloca ptr
      %p = call ptr @reads(%q)
      call void @writes(%own, %p)
      %same = call ptr @neither(%q)
      ret
    }
    func @main() {
      %x = alloca ptr
      call void @calls(%x)
      ret
    }
";

#[test]
fn i_ld() {
    let (program, library) = (program(MOD_REF), library());
    let known = Known::new(&program, &library);
    assert_eq!(known.effects("reads"), ["{stack(main.i0)}", "{}"]);
}

#[test]
fn i_st() {
    let (program, library) = (program(MOD_REF), library());
    let known = Known::new(&program, &library);
    assert_eq!(known.effects("writes"), ["{}", "{stack(calls.i0)}"]);
}

#[test]
fn i_add_i_copy_i_ret_and_local_variables_have_no_effect() {
    let (program, library) = (program(MOD_REF), library());
    let known = Known::new(&program, &library);
    assert_eq!(known.effects("neither"), ["{}", "{}"]);
}

#[test]
fn i_call_and_i_proc() {
    let (program, library) = (program(MOD_REF), library());
    let known = Known::new(&program, &library);
    // What `writes` modifies is local to `calls`.
    assert_eq!(known.effects("calls"), ["{stack(main.i0)}", "{}"]);
    assert_eq!(known.effects("main"), ["{}", "{}"]);
}

#[test]
fn i_call_is_a_fixpoint_in_recursion() {
    let text = "
        func @even(ptr %q, i1 %c) {
          br %c, more, done
        more:
          call void @odd(%q, %c)
          br done
        done:
          ret
        }
        func @odd(ptr %q, i1 %c) {
          store null, %q
          call void @even(%q, %c)
          ret
        }
        func @main(i1 %c) {
          %x = alloca ptr
          call void @even(%x, %c)
          ret
        }
    ";
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    assert_eq!(known.effects("even"), ["{}", "{stack(main.i0)}"]);
    assert_eq!(known.effects("odd"), ["{}", "{stack(main.i0)}"]);
}

// ----- regions, μ and χ: fig. 4, on the paper's fig. 5 -----

/// Fig. 5: in foo, ps(p) = {v, x, y} and ps(q) = {w, x, z}; v and w are local, x, y and z nonlocal.
fn figure_5(call: &str) -> String {
    format!(
        "
        func @bar(ptr %r, ptr %s) {{
          %t = load ptr %r
          store null, %s
          ret
        }}
        func @foo(ptr %a, ptr %b, ptr %c, i1 %d) {{
          %v = alloca ptr
          %w = alloca ptr
          %p = select ptr %d, %v, %a
          %q = select ptr %d, %w, %b
          %l = load ptr %p
          store null, %q
          {call}
          ret
        }}
        func @main(i1 %d) {{
          %x = alloca ptr
          %y = alloca ptr
          %z = alloca ptr
          %xy = select ptr %d, %x, %y
          %xz = select ptr %d, %x, %z
          call void @foo(%xy, %xz, %y, %d)
          ret
        }}
        "
    )
}

#[test]
fn figure_5_without_a_call() {
    let (program, library) = (program(&figure_5("")), library());
    let known = Known::new(&program, &library);
    same(
        &known.annotations("foo"),
        "r0 {stack(foo.i0)}
         r1 {stack(foo.i1)}
         r2 {stack(main.i0), stack(main.i1)}
         r3 {stack(main.i0), stack(main.i2)}
         i4 mu r0 r2 r3
         i5 chi r1 r2 r3
         i6 mu r2 r3",
    );
}

#[test]
fn figure_5_with_a_call() {
    let (program, library) = (program(&figure_5("call void @bar(%v, %c)")), library());
    let known = Known::new(&program, &library);
    // 𝒰 = {v} and 𝒟 = {y}: R(v) is there already, R(y) is a subset of R(x, y).
    assert_eq!(
        known.effects("bar"),
        ["{stack(foo.i0)}", "{stack(main.i1)}"]
    );
    same(
        &known.annotations("foo"),
        "r0 {stack(foo.i0)}
         r1 {stack(foo.i1)}
         r2 {stack(main.i0), stack(main.i1)}
         r3 {stack(main.i0), stack(main.i2)}
         i4 mu r0 r2 r3
         i5 chi r1 r2 r3
         i6 mu r0
         i6 chi r2
         i7 mu r2 r3",
    );
}

#[test]
fn address_and_copy_have_no_mu_and_chi() {
    let text = "
        func @f() -> ptr {
          %v = alloca ptr
          %p = ptradd %v, 0
          %q = select ptr i1 1, %p, %v
          ret %q
        }
    ";
    let (program, library) = (program(text), library());
    same(&Known::new(&program, &library).annotations("f"), "");
}

#[test]
fn a_strong_update_replaces_a_weak_one_adds() {
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @f(i1 %c) {
          %x = alloca ptr
          %y = alloca ptr
          %a = call ptr @malloc(i64 8)
          store %a, %x
          %b = call ptr @malloc(i64 8)
          store %b, %x
          %either = select ptr %c, %x, %y
          store %a, %either
          %l = load ptr %x
          call void @free(%l)
          ret
        }
    ";
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    same(
        &known.versions("f"),
        "n0 r0 = entry
         n1 r1 = entry
         n2 r0 = chi i3 (n0) strong
         n3 r0 = chi i5 (n2) strong
         n4 r0 = chi i7 (n3) weak
         i8 mu n4",
    );
}

// ----- value flow, figs. 6 and 7 -----

#[test]
fn v_copy_and_v_phi() {
    let text = "
        declare @malloc(i64) -> ptr
        func @f(i1 %c) -> ptr internal {
          %q = call ptr @malloc(i64 8)
          %p = ptradd %q, 8
          br %c, then, join
        then:
          br join
        join:
          %r = phi ptr [b0: %p, then: %q]
          ret %r
        }
    ";
    let (program, library) = (program(text), library());
    same(
        &Known::new(&program, &library).edges("f"),
        "f.v1 <-- source(f.i0)
         f.v2 <-- f.v1
         f.v5 <-- f.v1
         f.v5 <-- f.v2",
    );
}

#[test]
fn v_mu_and_v_chi() {
    let text = "
        declare @malloc(i64) -> ptr
        func @f(i1 %c) -> ptr internal {
          %x = alloca ptr
          %y = alloca ptr
          %q = call ptr @malloc(i64 8)
          %p = select ptr %c, %x, %y
          store %q, %x
          store %q, %p
          %l = load ptr %x
          ret %l
        }
    ";
    let (program, library) = (program(text), library());
    // Fig. 7c: the first store replaces all that x held, so nothing flows from its entry version; the second adds.
    same(
        &Known::new(&program, &library).edges("f"),
        "f.r0.n2 <-- f.v3
         f.r0.n3 <-- f.r0.n2
         f.r0.n3 <-- f.v3
         f.v3 <-- source(f.i2)
         f.v7 <-- f.r0.n3",
    );
}

#[test]
fn what_an_exported_function_returns_goes_out_of_sight() {
    let text = "
        declare @malloc(i64) -> ptr
        func @f() -> ptr {
          %q = call ptr @malloc(i64 8)
          ret %q
        }
    ";
    let (program, library) = (program(text), library());
    same(
        &Known::new(&program, &library).edges("f"),
        "GLOBAL <-- f.v0
         f.v0 <-- source(f.i0)",
    );
}

#[test]
fn v_cspar() {
    let text = "
        declare @malloc(i64) -> ptr
        func @id(ptr %p) -> ptr {
          ret %p
        }
        func @main() -> i32 {
          %a = call ptr @malloc(i64 8)
          %b = call ptr @id(%a)
          ret i32 0
        }
    ";
    let (program, library) = (program(text), library());
    same(
        &Known::new(&program, &library).edges("id"),
        "id.v0 <-(main.i1- main.v0
         main.v1 <-)main.i1- id.v0",
    );
}

#[test]
fn v_csmu_and_v_cschi() {
    // Fig. 2 in small: what the caller stored is read in the callee, what the callee stored is read in the caller.
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @take(ptr %f) {
          %z = load ptr %f
          call void @free(%z)
          ret
        }
        func @give(ptr %f, ptr %new) {
          store %new, %f
          ret
        }
        func @main() -> i32 {
          %x = alloca ptr
          %a = call ptr @malloc(i64 8)
          call void @give(%x, %a)
          call void @take(%x)
          ret i32 0
        }
    ";
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    same(
        &known.edges("take"),
        "sink(take.i1) <-- take.v1
         take.r0.n0 <-(main.i3- mu(main.i3 r0.n1)
         take.v1 <-- take.r0.n0",
    );
    same(
        &known.edges("give"),
        // %f is main's one variable: the store replaces what it held.
        "give.r0.n1 <-- give.v1
         give.v1 <-(main.i2- main.v1
         main.r0.n1 <-)main.i2- give.r0.n1",
    );
    same(
        &known.edges("main"),
        "give.v1 <-(main.i2- main.v1
         main.r0.n1 <-)main.i2- give.r0.n1
         main.r0.n1 <-- main.r0.n0
         main.v1 <-- source(main.i1)
         mu(main.i3 r0.n1) <-- main.r0.n1
         take.r0.n0 <-(main.i3- mu(main.i3 r0.n1)",
    );
}

// ----- guards, equations 2–5 and fig. 8 -----

/// Fig. 8: B0 defines v0, B1 heads the loop (C1), B2 branches (C2), B3 ends the turn, B4 returns, B5 follows the loop.
const FIGURE_8: &str = "
    declare @malloc(i64) -> ptr
    declare @free(ptr)
    declare @touch(ptr nocapture)
    func @fun(i32 %n) -> i32 {
    b0:
      %v = call ptr @malloc(i64 4)
      br b1
    b1:
      %k = phi i32 [b0: i32 0, b3: %next]
      %c1 = cmp slt %k, i32 10
      br %c1, b2, b5
    b2:
      %c2 = cmp slt %n, i32 2
      br %c2, b3, b4
    b3:
      call void @touch(%v)
      %next = add i32 %k, 1
      br b1
    b4:
      ret i32 1
    b5:
      call void @free(%v)
      ret i32 0
    }
";

#[test]
fn eq_4_eq_5_and_the_loop_exit() {
    let (program, library) = (program(FIGURE_8), library());
    let known = Known::new(&program, &library);
    let bdds = Bdds::new();
    let mut guards = Guards::new(&bdds, &known.facts.points_to, &known.facts.flows);
    let fun = known.instance("fun");
    let v0 = Place::After(InstId::new(0));
    let (touch, free) = (InstId::new(7), InstId::new(11));
    let to_w1 = guards.edge(fun, v0, Use::At(touch)).expect("small");
    let to_w2 = guards.edge(fun, v0, Use::At(free)).expect("small");
    assert_eq!(guards.conditions.len(), 2);
    let variable = |number| bdds.variable(number).expect("few");
    // The loop's own condition is met first.
    let (c1, c2) = (variable(0), variable(1));
    let both = c1.and(&c2).expect("small");
    // cfguard(v0, w1) = C1 ∧ C2
    assert!(to_w1 == both);
    // cfguard(v0, w2) = ¬C1 ∨ (C1 ∧ C2)
    let expected = c1.not().and_then(|not| not.or(&both)).expect("small");
    assert!(to_w2 == expected);
    assert!(to_w2 != bdds.yes() && to_w1 != to_w2);
}

/// FREED of the only source of a function, with the number of conditions.
fn freed(text: &str) -> (bool, bool, usize) {
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    let bdds = Bdds::new();
    let &[source] = &known.facts.svfg.sources[..] else {
        panic!("one source is expected");
    };
    assert!(matches!(
        known.facts.svfg.nodes[source],
        Node::Source { .. }
    ));
    let slice = drip_engines::saber::Slice::forward(&known.facts.svfg, source);
    let mut guards = Guards::new(&bdds, &known.facts.points_to, &known.facts.flows);
    guards.hold(&known.facts.svfg, &slice);
    let freed = guards.freed(&known.facts.svfg, &slice, &slice.backward());
    let freed = freed.expect("small");
    (freed.is_true(), freed.is_false(), guards.conditions.len())
}

#[test]
fn eq_2_joins_sinks() {
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @f(i1 %c) {
          %v = call ptr @malloc(i64 4)
          br %c, then, else
        then:
          call void @free(%v)
          ret
        else:
          call void @free(%v)
          ret
        }
    ";
    // C ∨ ¬C
    assert_eq!(freed(text), (true, false, 1));
    let one = text.replacen("call void @free(%v)", "opaque void ()", 1);
    assert_eq!(freed(&one), (false, false, 1));
}

#[test]
fn eq_3_conjoins_the_edges_of_a_path() {
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @give(ptr %p, i1 %d) {
          br %d, yes, no
        yes:
          call void @free(%p)
          ret
        no:
          ret
        }
        func @f(i1 %c, i1 %d) {
          %v = call ptr @malloc(i64 4)
          br %c, then, else
        then:
          call void @give(%v, %d)
          ret
        else:
          ret
        }
    ";
    // C ∧ D: neither always nor never.
    assert_eq!(freed(text), (false, false, 2));
}

#[test]
fn a_test_of_the_block_against_null_is_known() {
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @f() {
          %v = call ptr @malloc(i64 4)
          %c = cmp eq %v, null
          br %c, failed, ok
        failed:
          ret
        ok:
          call void @free(%v)
          ret
        }
    ";
    assert_eq!(freed(text), (true, false, 0));
}

#[test]
fn parentheses_match() {
    // The block goes into `id` from one call and must not come out at the other.
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @id(ptr %p) -> ptr {
          ret %p
        }
        func @f() {
          %x = alloca i32
          %v = call ptr @malloc(i64 4)
          %a = call ptr @id(%v)
          %b = call ptr @id(%x)
          call void @free(%b)
          ret
        }
    ";
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    let &[source] = &known.facts.svfg.sources[..] else {
        panic!("one source is expected");
    };
    let slice = drip_engines::saber::Slice::forward(&known.facts.svfg, source);
    assert_eq!(slice.fate, drip_engines::saber::Fate::NoSink);
}

/// Fig. 2: both blocks of the buffer are freed under Cond ≡ *tmp != '\n' and leak under ¬Cond.
#[test]
fn figure_2_is_freed_under_its_condition() {
    let text = "
        declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @readBuf() -> ptr {
          %m = call ptr @malloc(i64 8)
          %n = call ptr @malloc(i64 2)
          store %n, %m
          ret %m
        }
        func @freeBuf(ptr %f) {
          %z = load ptr %f
          call void @free(%z)
          call void @free(%f)
          ret
        }
        func @SerialReadBuf() {
          br head
        head:
          %n = phi i32 [b0: i32 0, latch: %next]
          %more = cmp slt %n, i32 100
          br %more, turn, done
        turn:
          %buf = call ptr @readBuf()
          %tmp = load ptr %buf
          %char = load i8 %tmp
          %newline = cmp eq %char, i8 10
          br %newline, latch, print
        print:
          call void @freeBuf(%buf)
          br latch
        latch:
          %next = add i32 %n, 1
          br head
        done:
          ret
        }
    ";
    let (program, library) = (program(text), library());
    let known = Known::new(&program, &library);
    let bdds = Bdds::new();
    assert_eq!(known.facts.svfg.sources.len(), 2);
    for &source in &known.facts.svfg.sources {
        let slice = drip_engines::saber::Slice::forward(&known.facts.svfg, source);
        let mut guards = Guards::new(&bdds, &known.facts.points_to, &known.facts.flows);
        guards.hold(&known.facts.svfg, &slice);
        let freed = guards.freed(&known.facts.svfg, &slice, &slice.backward());
        // The variable is `*tmp == '\n'`, so FREED = Cond is its negation, and ¬FREED = ¬Cond is it.
        let is_newline =
            |test: &Test| matches!(test, Test::Compare { pred, .. } if *pred == CmpPred::Eq);
        let number = guards.conditions.iter().position(|c| is_newline(&c.test));
        let newline = bdds
            .variable(number.expect("the test") as u32)
            .expect("few");
        assert!(freed.expect("small").not().expect("small") == newline);
    }
}

/// Too many variables for one set go through the same function as the block; what frees it there is still its deallocation.
#[test]
fn a_block_is_freed_through_a_pointer_to_almost_anything() {
    let mut text = String::from(
        "declare @malloc(i64) -> ptr
        declare @free(ptr)
        func @release(ptr %p) internal {
          %held = load ptr %p
          store %held, %p
          call void @free(%p)
          ret
        }\n",
    );
    let mut calls = String::new();
    for index in 0..600 {
        text.push_str(&format!("global @v{index} internal ptr = zero\n"));
        calls.push_str(&format!("call void @release(@v{index})\n"));
    }
    text.push_str(&format!(
        "func @main() -> i32 {{
          %b = call ptr @malloc(i64 8)
          call void @release(%b)
          {calls}
          ret i32 0
        }}"
    ));
    let (program, library) = (program(&text), library());
    let known = Known::new(&program, &library);
    assert!(known.facts.points_to.statistics.wide > 0);
    assert_eq!(freed(&text), (true, false, 0));
}

//! Linking by symbol name.

mod load_common;

use drip_program::*;
use load_common::*;

/// Compiles and loads several units; returns problems too.
fn load_units(units: &[(&str, &str)], flags: &[&str]) -> Loaded {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let inputs = units
        .iter()
        .map(|(name, source)| shop.compile(version, Way::Capture, name, source, flags));
    let loaded = load(inputs.collect(), &LoadConfig::default());
    assert_eq!(verify(&loaded.program), []);
    loaded
}

#[track_caller]
fn link(units: &[(&str, &str)]) -> Program {
    let loaded = load_units(units, &[]);
    assert_eq!(loaded.problems, []);
    loaded.program
}

/// The number that a function without parameters returns.
fn returns(program: &Program, body: &Body) -> i64 {
    let values = find(body, |inst| match inst.op {
        Op::Ret { value: Some(value) } => match body.const_of(value) {
            Some(Const::Int { bits, .. }) => Some(*bits as i64),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(values.len(), 1, "{}", print_program(program));
    values[0]
}

fn defined(program: &Program, name: &str) -> usize {
    program
        .funcs
        .iter()
        .filter(|f| program.strings.get(f.name) == name && f.body.is_some())
        .count()
}

#[test]
fn a_call_meets_the_definition_in_another_unit() {
    let program = link(&[
        ("a.c", "int g(int);\nint f(int x) { return g(x); }"),
        ("b.c", "int g(int x) { return x; }"),
    ]);
    assert_eq!(callees(&program, body(&program, "f")), ["g"]);
    assert_eq!(defined(&program, "g"), 1);
    assert_eq!(program.funcs.len(), 2);
    let units: Vec<&str> = program
        .units
        .iter()
        .map(|u| program.strings.get(u.path))
        .collect();
    assert_eq!(units, ["a.c", "b.c"]);
}

#[test]
fn strong_wins_over_weak_in_either_order() {
    let weak = ("w.c", "__attribute__((weak)) int g(void) { return 1; }");
    let strong = ("s.c", "int g(void) { return 2; }");
    for units in [[weak, strong], [strong, weak]] {
        let program = link(&units);
        assert_eq!(returns(&program, body(&program, "g")), 2);
        assert_eq!(
            program.funcs[func(&program, "g")].linkage,
            Linkage::External
        );
    }
}

#[test]
fn the_first_weak_definition_is_kept() {
    let program = link(&[
        ("a.c", "__attribute__((weak)) int g(void) { return 1; }"),
        ("b.c", "__attribute__((weak)) int g(void) { return 2; }"),
    ]);
    assert_eq!(returns(&program, body(&program, "g")), 1);
    assert_eq!(defined(&program, "g"), 1);
    assert_eq!(program.funcs[func(&program, "g")].linkage, Linkage::Weak);
}

#[test]
fn common_symbols_take_the_largest_size_and_yield_to_definitions() {
    let loaded = load_units(
        &[
            ("a.c", "int buf[2]; int n; int *f(void) { return buf; }"),
            ("b.c", "int buf[8]; int n = 5;"),
        ],
        &["-fcommon"],
    );
    assert_eq!(loaded.problems, []);
    let program = loaded.program;
    assert_eq!(global(&program, "buf").size, 32);
    assert_eq!(global(&program, "buf").init, Init::Zero);
    let five = Init::Slots {
        slots: Box::new([(0, Scalar::Int { bits: 5, bytes: 4 })]),
        complete: true,
    };
    assert_eq!(global(&program, "n").init, five);
    assert_eq!(program.globals.len(), 2);
}

#[test]
fn static_symbols_of_one_name_stay_apart() {
    let program = link(&[
        (
            "a.c",
            "static int v = 1;\nstatic int g(void) { return v; }\nint f1(void) { return g(); }",
        ),
        (
            "b.c",
            "static int v = 2;\nstatic int g(void) { return v; }\nint f2(void) { return g(); }",
        ),
    ]);
    assert_eq!(defined(&program, "g"), 2);
    assert_eq!(program.globals.len(), 2);
    let callee = |name: &str| {
        let body = body(&program, name);
        find(body, |inst| match inst.op {
            Op::Call { callee, .. } => body.const_of(callee).cloned(),
            _ => None,
        })
    };
    assert_ne!(callee("f1"), callee("f2"));
    assert!(
        program
            .funcs
            .iter()
            .filter(|f| program.strings.get(f.name) == "g")
            .all(|f| f.linkage == Linkage::Internal)
    );
}

#[test]
fn two_strong_definitions_are_reported_and_each_unit_keeps_its_own() {
    let loaded = load_units(
        &[
            (
                "a.c",
                "int g(void) { return 1; }\nint main(void) { return g(); }",
            ),
            (
                "b.c",
                "int g(void) { return 2; }\nint f(void) { return g(); }",
            ),
            ("c.c", "int g(void);\nint h(void) { return g(); }"),
        ],
        &[],
    );
    let program = &loaded.program;
    let texts: Vec<String> = loaded.problems.iter().map(|p| p.to_string()).collect();
    assert_eq!(
        texts,
        ["b.c: `g` is already defined in a.c; this definition is kept for its own program"]
    );
    assert_eq!(returns(program, body(program, "g")), 1);
    let target = |name: &str| {
        let body = body(program, name);
        find(body, |inst| match inst.op {
            Op::Call { callee, .. } => match body.const_of(callee) {
                Some(Const::Func(f)) => Some(*f),
                _ => None,
            },
            _ => None,
        })
    };
    assert_eq!(target("main"), target("h"));
    assert_ne!(target("main"), target("f"));
    let other = program.funcs[target("f")[0]]
        .body
        .as_ref()
        .map(|b| returns(program, b));
    assert_eq!(other, Some(2));
}

#[test]
fn a_unit_with_one_of_several_mains_keeps_its_definitions_for_itself() {
    let loaded = load_units(
        &[
            (
                "a_tool.c",
                "int g(void) { return 1; }\nint main(void) { return g(); }",
            ),
            (
                "b_tool.c",
                "int g(void) { return 2; }\nint main(void) { return g(); }",
            ),
            ("library.c", "int g(void) { return 3; }"),
            ("user.c", "int g(void);\nint h(void) { return g(); }"),
        ],
        &[],
    );
    let program = &loaded.program;
    let returned: Vec<i64> = program
        .funcs
        .iter()
        .filter_map(|f| f.body.as_ref())
        .filter_map(|body| {
            let callee = find(body, |inst| match inst.op {
                Op::Call { callee, .. } => match body.const_of(callee) {
                    Some(Const::Func(f)) => Some(*f),
                    _ => None,
                },
                _ => None,
            });
            let target = program.funcs[*callee.first()?].body.as_ref()?;
            Some(returns(program, target))
        })
        .collect();
    let mut sorted = returned.clone();
    sorted.sort_unstable();
    // Both programs call their own, everybody else the library's.
    assert_eq!(sorted, [1, 2, 3]);
    assert_eq!(returns(program, body(program, "g")), 3);
}

#[test]
fn a_declaration_means_the_definition_of_its_own_program() {
    let loaded = load_units(
        &[
            (
                "server_memory.c",
                "int take(void) { return 1; }\nint server_pages(void) { return 10; }",
            ),
            (
                "client_memory.c",
                "int take(void) { return 2; }\nint client_pages(void) { return 20; }",
            ),
            (
                "client_lines.c",
                "int client_pages(void);\nint line_count(void) { return client_pages(); }",
            ),
            (
                "worker.c",
                "int take(void);\nint server_pages(void);\nint work(void) { return take(); }\nint pages(void) { return server_pages(); }",
            ),
            (
                "shell.c",
                "int take(void);\nint line_count(void);\nint shell(void) { return take(); }\nint lines(void) { return line_count(); }",
            ),
            (
                "both.c",
                "int take(void);\nint both(void) { return take(); }",
            ),
        ],
        &[],
    );
    let program = &loaded.program;
    let taken = |name: &str| {
        let caller = body(program, name);
        let target = find(caller, |inst| match inst.op {
            Op::Call { callee, .. } => match caller.const_of(callee) {
                Some(Const::Func(f)) => Some(*f),
                _ => None,
            },
            _ => None,
        });
        let target = program.funcs[target[0]].body.as_ref();
        target.map(|body| returns(program, body))
    };
    // What a unit needs besides tells, directly or over a unit between; where nothing tells, the first one stands.
    assert_eq!(taken("work"), Some(1));
    assert_eq!(taken("shell"), Some(2));
    assert_eq!(taken("both"), Some(1));
}

#[test]
fn variants_of_one_source_belong_to_different_programs() {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let shared = "#ifdef TOOL\nint tool_take(void);\nint text(void) { return tool_take(); }\n#else\nint server_take(void);\nint text(void) { return server_take(); }\n#endif\n";
    let compile = |name: &str, source: &str, flags: &[&str]| {
        shop.compile(version, Way::Capture, name, source, flags)
    };
    let variants = [
        compile("../text.c", shared, &["-DTOOL"]),
        compile("../text.c", shared, &[]),
        compile("../text.c", shared, &["-fPIC"]),
    ];
    let rest = [
        compile(
            "tool.c",
            "int tool_take(void) { return 1; }\nint tool_help(void) { return 0; }",
            &[],
        ),
        compile(
            "server.c",
            "int server_take(void) { return 2; }\nint server_log(void) { return 0; }",
            &[],
        ),
        compile(
            "request.c",
            "int text(void);\nint server_take(void);\nint request(void) { return text(); }\nint raw(void) { return server_take(); }",
            &[],
        ),
    ];
    let inputs = variants.into_iter().chain(rest).collect();
    let loaded = load(inputs, &LoadConfig::default());
    let program = &loaded.program;
    // The third one is the second one again.
    assert_eq!(defined(program, "text"), 2);
    let reached = |name: &str| {
        let caller = body(program, name);
        find(caller, |inst| match inst.op {
            Op::Call { callee, .. } => match caller.const_of(callee) {
                Some(Const::Func(f)) => Some(*f),
                _ => None,
            },
            _ => None,
        })[0]
    };
    // The unit and one of the variants need the same server.
    let text = program.funcs[reached("request")].body.as_ref().unwrap();
    assert_eq!(callees(program, text), ["server_take"]);
}

#[test]
fn aliases_lead_to_their_target_also_from_other_units() {
    let program = link(&[
        (
            "use.c",
            "int pub(int);\nextern int shown[4];\nint f(int x) { return pub(x) + shown[1]; }",
        ),
        (
            "def.c",
            "int impl(int x) { return x; }\nint pub(int) __attribute__((alias(\"impl\")));\n\
             int data[4] = {7, 8, 9, 10};\nextern int shown[4] __attribute__((alias(\"data\")));\n\
             int weakpub(int) __attribute__((weak, alias(\"pub\")));\nint h(int x) { return weakpub(x); }",
        ),
    ]);
    assert_eq!(callees(&program, body(&program, "f")), ["impl"]);
    assert_eq!(callees(&program, body(&program, "h")), ["impl"]);
    assert_eq!(program.find_func("pub"), None);
    let body = body(&program, "f");
    let loads = find(body, |inst| match inst.op {
        Op::Load { addr } => body.const_of(addr).cloned(),
        _ => None,
    });
    let Some(Const::Global { global, offset: 4 }) = loads.first() else {
        panic!("{loads:?}")
    };
    assert_eq!(program.global_name(*global), "data");
}

#[test]
fn an_ifunc_is_a_declaration() {
    let program = link(&[(
        "a.c",
        "static int one(void) { return 1; }\nstatic void *pick(void) { return (void *)one; }\n\
         int g(void) __attribute__((ifunc(\"pick\")));\nint f(void) { return g(); }",
    )]);
    assert_eq!(callees(&program, body(&program, "f")), ["g"]);
    assert_eq!(defined(&program, "g"), 0);
}

#[test]
fn declarations_without_prototype_link_to_the_definition() {
    for version in versions() {
        let shop = Workshop::new();
        let flags = ["-std=gnu89"];
        let program = load_clean(vec![
            shop.compile(
                version,
                Way::Capture,
                "a.c",
                "int g();\nint f(void) { return g(1, \"x\"); }",
                &flags,
            ),
            shop.compile(
                version,
                Way::Capture,
                "b.c",
                "int g(n, s) int n; char *s; { return n + *s; }",
                &flags,
            ),
        ]);
        assert_eq!(callees(&program, body(&program, "f")), ["g"]);
        let g = &program.funcs[func(&program, "g")];
        assert!(!g.attrs.has(FuncAttrs::NO_PROTOTYPE), "clang{version}");
        assert!(!g.attrs.has(FuncAttrs::ADDRESS_TAKEN), "clang{version}");
    }
}

#[test]
fn undeclared_things_stay_declared() {
    let program = link(&[(
        "a.c",
        "int g();\nextern int v;\nextern int w __attribute__((weak));\nint f(void) { return g() + v + (&w != 0); }",
    )]);
    assert!(
        program.funcs[func(&program, "g")]
            .attrs
            .has(FuncAttrs::NO_PROTOTYPE)
    );
    assert_eq!(global(&program, "v").init, Init::Extern);
    assert_eq!(global(&program, "w").linkage, Linkage::Weak);
}

#[test]
fn inline_functions_of_c_plus_plus_are_merged() {
    let header = "inline int twice(int x) { static int n; return ++n * x; }\nstruct S { virtual ~S() {} int v = 1; };\n";
    let a = format!("{header}int f(int x) {{ S s; return twice(x) + s.v; }}");
    let b = format!("{header}int g(int x) {{ S s; return twice(x) + s.v; }}");
    let program = link(&[("a.cpp", &a), ("b.cpp", &b)]);
    assert_eq!(defined(&program, "_Z5twicei"), 1);
    assert_eq!(
        program
            .globals
            .iter()
            .filter(|g| program.strings.get(g.name).contains("twice"))
            .count(),
        1
    );
    assert_eq!(program.shown_name(func(&program, "_Z5twicei")), "twice");
}

#[test]
fn available_externally_bodies_are_used_unless_the_real_one_is_there() {
    let inline = "inline int g(int x) { return 1; }\nint f(void) { return g(3); }";
    let alone = link(&[("a.c", inline)]);
    assert_eq!(returns(&alone, body(&alone, "g")), 1);
    let both = link(&[("a.c", inline), ("b.c", "int g(int x) { return 2; }")]);
    assert_eq!(returns(&both, body(&both, "g")), 2);
}

#[test]
fn constructors_and_taken_addresses_are_marked() {
    let program = link(&[(
        "a.c",
        "static void init(void) __attribute__((constructor));\nstatic void init(void) {}\n\
         static void direct(void) {}\nstatic void stored(void) {}\nstatic void listed(void) {}\n\
         void (*slot)(void);\nstruct { int k; void (*fn)(void); } table[2] = {{1, 0}, {2, listed}};\n\
         void f(void) { direct(); slot = stored; }",
    )]);
    let has = |name: &str, bit| program.funcs[func(&program, name)].attrs.has(bit);
    assert!(has("init", FuncAttrs::CONSTRUCTOR) && !has("direct", FuncAttrs::CONSTRUCTOR));
    assert!(has("stored", FuncAttrs::ADDRESS_TAKEN) && has("listed", FuncAttrs::ADDRESS_TAKEN));
    assert!(!has("direct", FuncAttrs::ADDRESS_TAKEN) && !has("init", FuncAttrs::ADDRESS_TAKEN));
    assert!(
        program
            .globals
            .iter()
            .all(|g| !program.strings.get(g.name).starts_with("llvm."))
    );
}

#[test]
fn equal_types_of_two_units_are_one() {
    let header = "struct node { struct node *next; int v; };\n";
    let a = format!("{header}int f(struct node *n) {{ return n->next->v; }}");
    let b = format!("{header}int g(struct node *n) {{ return n->v; }}");
    let program = link(&[("a.c", &a), ("b.c", &b)]);
    let structs = program.di_types.iter().filter(
        |t| matches!(t, DiType::Struct { name: Some(n), .. } if program.strings.get(*n) == "node"),
    );
    // Two files of the same name in two directories.
    assert!(structs.count() >= 1);
    let machine = program
        .types
        .iter()
        .filter(|(_, t)| matches!(t, Type::Struct(s) if s.name.is_some()));
    assert_eq!(machine.count(), 1);
}

#[test]
fn attributes_of_declarations_reach_the_definition() {
    let program = link(&[
        (
            "a.c",
            "void die(const char *) __attribute__((noreturn));\nvoid f(int *p) { if (!p) die(\"x\"); }",
        ),
        (
            "b.c",
            "#include <stdlib.h>\nvoid die(const char *m) { exit(1); }",
        ),
    ]);
    assert!(
        program.funcs[func(&program, "die")]
            .attrs
            .has(FuncAttrs::NORETURN)
    );
}

#[test]
fn internal_members_of_a_comdat_are_kept_once() {
    let header = "int start();\ninline int first = start();\n";
    let a = format!("{header}int f() {{ return first; }}");
    let b = format!("{header}int g() {{ return first; }}");
    let loaded = load_units(&[("a.cpp", &a), ("b.cpp", &b)], &["-std=c++17"]);
    let program = loaded.program;
    let starts = program.funcs.iter().filter_map(|f| f.body.as_ref());
    let calls = starts
        .flat_map(|body| callees(&program, body))
        .filter(|name| name == "_Z5startv");
    assert_eq!(calls.count(), 1, "{}", print_program(&program));
}

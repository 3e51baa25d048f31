//! Names, types and positions from debug info.

mod load_common;

use drip_program::*;
use load_common::*;

fn strip(program: &Program, ty: DiTypeId) -> &DiType {
    match &program.di_types[ty] {
        DiType::Typedef { of: Some(of), .. }
        | DiType::Const(Some(of))
        | DiType::Qualified(Some(of)) => strip(program, *of),
        other => other,
    }
}

fn var<'b>(program: &Program, body: &'b Body, name: &str) -> &'b Var {
    let found = body
        .vars
        .iter()
        .find(|v| program.strings.get(v.name) == name);
    found.unwrap_or_else(|| panic!("no variable {name}"))
}

#[test]
fn functions_and_parameters() {
    let program = load_c(
        "\nstatic int sum(int first, char *second)\n{\n  return first + *second;\n}\nint f(void) { return sum(1, 0); }\n",
    );
    let function = &program.funcs[func(&program, "sum")];
    let loc = function.loc.expect("a position");
    assert_eq!(
        (
            loc.line,
            function.source_name.map(|n| program.strings.get(n))
        ),
        (2, Some("sum"))
    );
    assert!(program.file_path(loc.file).ends_with("t.c"));
    let Some(DiType::Func { ret, params }) = function.di_type.map(|t| &program.di_types[t]) else {
        panic!("no function type")
    };
    assert_eq!(params.len(), 2);
    assert!(matches!(
        ret.map(|t| strip(&program, t)),
        Some(DiType::Base {
            bytes: 4,
            signed: true,
            ..
        })
    ));
    let body = body(&program, "sum");
    assert_eq!(var(&program, body, "first").param, Some(0));
    assert_eq!(var(&program, body, "second").param, Some(1));
    assert_eq!(program.units[UnitId::new(0)].language, Language::C);
}

#[test]
fn prototypes_tell_which_pointers_are_to_const() {
    let program = load_c(
        "typedef const char *text;\nstruct s;\nint known(const char *a, char *b, text c, const struct s *d, const void *e, char *const f, int g);\n\
         int f(char *p, struct s *s) { return known(p, p, p, s, p, p, 1); }\n",
    );
    let consts = |name: &str| -> Vec<bool> {
        program.funcs[func(&program, name)]
            .params
            .iter()
            .map(|p| p.has(ParamAttrs::POINTEE_CONST))
            .collect()
    };
    assert_eq!(
        consts("known"),
        [true, false, true, true, true, false, false]
    );
    assert_eq!(consts("f"), [false, false]);
}

#[test]
fn mangled_names_tell_it_without_debug_info() {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let source = "int take(const char *, char *);\nstruct S { int get(const int &) const; };\n\
                  int f(char *p, S &s) { return take(p, p) + s.get(1); }\n";
    let program = load_clean(vec![shop.compile(
        version,
        Way::O0,
        "t.cpp",
        source,
        &["-g0"],
    )]);
    let consts = |name: &str| -> Vec<bool> {
        program.funcs[func(&program, name)]
            .params
            .iter()
            .map(|p| p.has(ParamAttrs::POINTEE_CONST))
            .collect()
    };
    assert_eq!(consts("_Z4takePKcPc"), [true, false]);
    assert_eq!(consts("_ZNK1S3getERKi"), [false, true]);
    assert_eq!(program.units[UnitId::new(0)].language, Language::Cxx);
    assert!(
        body(&program, "_Z1fPcR1S")
            .insts
            .iter()
            .all(|i| i.loc.is_none())
    );
}

#[test]
fn structs_unions_enums_and_arrays() {
    let program = load_c(
        "enum kind { A, B = 7 };\nstruct list { struct list *next; enum kind k; union { int i; char c[2][3]; } u; void (*fn)(int); };\n\
         int f(struct list *l) { return l->u.i; }\n",
    );
    let body = body(&program, "f");
    let ty = var(&program, body, "l").ty.expect("a type");
    let DiType::Pointer { to: Some(list) } = strip(&program, ty) else {
        panic!("no pointer")
    };
    let DiType::Struct {
        name,
        bytes,
        is_union: false,
        members,
    } = &program.di_types[*list]
    else {
        panic!("no struct")
    };
    assert_eq!(
        (name.map(|n| program.strings.get(n)), *bytes),
        (Some("list"), 32)
    );
    let shown: Vec<(&str, u64)> = members
        .iter()
        .map(|m| (program.strings.get(m.name), m.offset))
        .collect();
    assert_eq!(shown, [("next", 0), ("k", 8), ("u", 12), ("fn", 24)]);
    assert!(
        matches!(&program.di_types[members[0].ty.unwrap()], DiType::Pointer { to } if *to == Some(*list))
    );
    let DiType::Enum { values, .. } = &program.di_types[members[1].ty.unwrap()] else {
        panic!("no enum")
    };
    assert_eq!(
        values
            .iter()
            .map(|(n, v)| (program.strings.get(*n), *v))
            .collect::<Vec<_>>(),
        [("A", 0), ("B", 7)]
    );
    let DiType::Struct {
        is_union: true,
        members: inner,
        ..
    } = &program.di_types[members[2].ty.unwrap()]
    else {
        panic!("no union")
    };
    let DiType::Array {
        elem: Some(row),
        count: Some(2),
    } = &program.di_types[inner[1].ty.unwrap()]
    else {
        panic!("no array")
    };
    assert!(matches!(
        program.di_types[*row],
        DiType::Array { count: Some(3), .. }
    ));
}

/// The members of what `h` of the function `f` points to, where the first unit only declares it.
fn members_seen(declaring: &str, defining: &str) -> Vec<String> {
    let shop = Workshop::new();
    let version = versions().pop().unwrap_or_default();
    let program = load_clean(vec![
        shop.compile(version, Way::Capture, "a.c", declaring, &[]),
        shop.compile(version, Way::Capture, "b.c", defining, &[]),
    ]);
    let body = body(&program, "f");
    let mut ty = var(&program, body, "h").ty.expect("a type");
    loop {
        match &program.di_types[ty] {
            DiType::Pointer { to: Some(inner) } => ty = *inner,
            DiType::Typedef {
                of: Some(inner), ..
            } => ty = *inner,
            DiType::Struct { members, .. } => {
                let names = members.iter().map(|m| program.strings.get(m.name));
                return names.map(str::to_owned).collect();
            }
            other => panic!("no struct: {other:?}"),
        }
    }
}

#[test]
fn a_struct_declared_in_one_unit_takes_its_members_from_another() {
    let members = members_seen(
        "struct hidden;\nint g(struct hidden *);\nint f(struct hidden *h) { return g(h); }",
        "struct hidden { int a; char *b; };\nint g(struct hidden *h) { return h->a; }",
    );
    assert_eq!(members, ["a", "b"]);
}

#[test]
fn so_does_one_that_all_units_know_by_the_same_typedef() {
    let header = "#line 1 \"shared.h\"\ntypedef struct hidden hidden;\n#line 2 \"unit.c\"\n";
    let members = members_seen(
        &format!("{header}int g(hidden *);\nint f(hidden *h) {{ return g(h); }}"),
        &format!(
            "{header}struct hidden {{ int a; char *b; }};\nint g(hidden *h) {{ return h->a; }}"
        ),
    );
    assert_eq!(members, ["a", "b"]);
}

#[test]
fn globals_and_static_locals() {
    let program =
        load_c("int counter = 3;\nint f(void) { static char *cache[2]; return cache[0] != 0; }\n");
    let counter = global(&program, "counter");
    assert_eq!(counter.loc.map(|l| l.line), Some(1));
    assert!(matches!(
        counter.di_type.map(|t| &program.di_types[t]),
        Some(DiType::Base { .. })
    ));
    let cache = global(&program, "f.cache");
    assert_eq!(
        cache.source_name.map(|n| program.strings.get(n)),
        Some("cache")
    );
    assert_eq!(cache.linkage, Linkage::Internal);
}

#[test]
fn each_instruction_knows_line_and_column() {
    let program = load_c(
        "#include <stdlib.h>\nchar *f(int n) {\n  char *p =\n    malloc(n);\n  return p; }\n",
    );
    let body = body(&program, "f");
    let calls = find(body, |inst| match inst.op {
        Op::Call { .. } => inst.loc.map(|l| (body.locs[l].line, body.locs[l].column)),
        _ => None,
    });
    assert_eq!(calls, [(4, 5)]);
    assert_eq!(binds(&program, body), ["n = arg0 @0", "p = v @3"]);
    // Equal positions are stored once.
    let mut seen = std::collections::HashSet::new();
    assert!(body.locs.iter().all(|loc| seen.insert(*loc)));
}

#[test]
fn inlined_code_tells_where_it_was_inlined() {
    let shop = Workshop::new();
    for version in versions() {
        let source = "void sink(int *);\nstatic inline __attribute__((always_inline)) void g(int *p) {\n  sink(p);\n}\nvoid f(int *q) {\n  g(q);\n}\n";
        let program = load_clean(vec![shop.compile(
            version,
            Way::O0,
            "t.c",
            source,
            &["-O1"],
        )]);
        let body = body(&program, "f");
        let calls = find(body, |inst| match inst.op {
            Op::Call { .. } => inst.loc.map(|l| body.locs[l]),
            _ => None,
        });
        let [call] = calls.as_slice() else {
            panic!("{}", text(&program, "f"))
        };
        let outer = call.inlined_at.map(|l| body.locs[l].line);
        assert_eq!((call.line, outer), (3, Some(6)), "clang{version}");
    }
}

#[test]
fn methods_and_namespaces_have_source_names() {
    let program = load_cpp(
        "namespace ns { struct Box { int *p; int get() const { return *p; } }; }\nint f(ns::Box &b) { return b.get(); }\n",
    );
    let get = func(&program, "_ZNK2ns3Box3getEv");
    assert_eq!(program.shown_name(get), "get");
    let body = program.funcs[get].body.as_ref().expect("a body");
    assert_eq!(var(&program, body, "this").param, Some(0));
    assert_eq!(program.units[UnitId::new(0)].language, Language::Cxx);
}

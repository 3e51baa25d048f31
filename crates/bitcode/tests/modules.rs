//! Globals, constants, attributes and debug info of modules that clang makes.

mod common;

use common::{CAPTURE_FLAGS, body, clang_versions, function, module_of};
use drip_bitcode::{
    AttrKind, DebugRecordKind, DebugValue, Linkage, MdNode, Metadata, ModRef, ModuleValue,
    RawConst, RawGlobal, RawModule, RawType, Visibility, tag,
};

fn global<'m>(module: &'m RawModule, name: &str) -> &'m RawGlobal {
    let found = module.globals.iter().find(|g| &*g.name == name);
    found.unwrap_or_else(|| panic!("no global {name}"))
}

fn initializer(module: &RawModule, name: &str) -> RawConst {
    let value = global(module, name).initializer.expect("an initializer");
    module.constant(value).expect("a constant").kind
}

#[test]
fn header_and_globals() {
    let text = "
        extern int outside;
        int common_one;
        static int hidden_one = 3;
        __attribute__((visibility(\"hidden\"))) const int limit = 12;
        __thread int per_thread = 1;
        __attribute__((weak, section(\"extra\"))) int weak_one = 2;
        char greeting[] = \"hi\";
        short numbers[3] = {1, -2, 3};
        struct { int a; char *b; } mixed = {7, greeting + 1};
        __int128 huge = ((__int128)1 << 100) + 5;
        long double wide = 1.0L;
        double real = 0.5;
        int *get(void) { return &hidden_one + outside; }
        int *alias_of_get(void) __attribute__((alias(\"get\")));
    ";
    for version in clang_versions() {
        let module = module_of(version, "c", text, &["-g", "-fno-common"]);
        let producer = format!("LLVM{version}.");
        assert!(
            module.producer.starts_with(&producer),
            "{}",
            module.producer
        );
        let unit = module.named_metadata("llvm.dbg.cu")[0];
        let unit = module.metadata().compile_unit(unit).expect("a unit");
        assert!(unit.producer.contains(&format!("clang version {version}.")));
        assert!(!unit.optimized);
        assert_eq!(module.version, 2);
        assert!(module.triple.contains("linux"), "{}", module.triple);
        assert!(module.data_layout.starts_with("e-m:e"));
        assert!(module.source_filename.ends_with(".c"));

        assert_eq!(global(&module, "outside").initializer, None);
        assert_eq!(global(&module, "hidden_one").linkage, Linkage::Internal);
        assert_eq!(global(&module, "common_one").linkage, Linkage::External);
        assert_eq!(global(&module, "weak_one").linkage, Linkage::WeakAny);
        assert_eq!(global(&module, "limit").visibility, Visibility::Hidden);
        assert!(global(&module, "limit").is_const);
        assert!(global(&module, "per_thread").thread_local);
        let section = global(&module, "weak_one").section.expect("a section");
        assert_eq!(&*module.sections[section as usize], "extra");

        check_initializers(&module);
        check_mixed(&module, version);

        let alias = &module.aliases[0];
        assert_eq!(&*alias.name, "alias_of_get");
        let target = module.value(alias.target);
        assert_eq!(
            target,
            Some(ModuleValue::Function(function(&module, "get") as u32))
        );
    }
}

fn check_initializers(module: &RawModule) {
    assert_eq!(initializer(module, "hidden_one"), RawConst::Int(3));
    let RawConst::String(bytes) = initializer(module, "greeting") else {
        panic!("{:?}", initializer(module, "greeting"));
    };
    assert_eq!(bytes.of(&module.constants.bytes), b"hi\0");
    let RawConst::Data(words) = initializer(module, "numbers") else {
        panic!("{:?}", initializer(module, "numbers"));
    };
    assert_eq!(words.of(&module.constants.words), [1, 0xfffe, 3]);
    let RawConst::WideInt(words) = initializer(module, "huge") else {
        panic!("{:?}", initializer(module, "huge"));
    };
    assert_eq!(words.of(&module.constants.words), [5, 1 << 36]);
    let RawConst::WideFloat(words) = initializer(module, "wide") else {
        panic!("{:?}", initializer(module, "wide"));
    };
    assert_eq!(words.of(&module.constants.words), [1 << 63, 0x3fff]);
    assert_eq!(
        initializer(module, "real"),
        RawConst::Float(0.5f64.to_bits())
    );
}

/// `{7, greeting + 1}`: an aggregate with an address inside another global.
fn check_mixed(module: &RawModule, version: u32) {
    let RawConst::Aggregate(elements) = initializer(module, "mixed") else {
        panic!("{:?}", initializer(module, "mixed"));
    };
    let elements = elements.of(&module.constants.operands);
    assert_eq!(
        module.constant(elements[0]).expect("a constant").kind,
        RawConst::Int(7)
    );
    let address = module.constant(elements[1]).expect("a constant");
    let RawConst::Gep {
        operands, inbounds, ..
    } = address.kind
    else {
        panic!("{address:?}");
    };
    // clang 19 no longer says so here.
    assert_eq!(inbounds, version < 19);
    let base = operands.of(&module.constants.operands)[0];
    assert_eq!(base, global(module, "greeting").value);
}

#[test]
fn comdats_and_linkage_of_cpp() {
    let text = "
        template <class T> T twice(T x) { return x + x; }
        inline int once() { static int n; return ++n; }
        struct Base { virtual ~Base() {} };
        int use(int x) { Base b; return twice(x) + once(); }
    ";
    for version in clang_versions() {
        let module = module_of(version, "cpp", text, &["-g"]);
        let twice = &module.functions[function(&module, "_Z5twiceIiET_S0_")];
        assert_eq!(twice.linkage, Linkage::LinkOnceOdr);
        let comdat = twice.comdat.expect("a comdat");
        assert_eq!(&*module.comdats[comdat as usize].name, "_Z5twiceIiET_S0_");
        assert_eq!(module.comdats[comdat as usize].selection, 1);
        // The virtual table is an aggregate of arrays of pointers.
        let RawConst::Aggregate(_) = initializer(&module, "_ZTV4Base") else {
            panic!("{:?}", initializer(&module, "_ZTV4Base"));
        };
        assert!(matches!(
            module.ty(global(&module, "_ZTV4Base").ty),
            Some(RawType::Struct { .. })
        ));
    }
}

#[test]
fn attributes_of_functions() {
    let text = "
        #include <stdlib.h>
        __attribute__((noreturn, cold)) void die(const char *why);
        __attribute__((pure)) int look(const int *p);
        __attribute__((const)) int square(int x);
        __attribute__((alloc_size(1, 2))) void *grab(unsigned long n, unsigned long size);
        struct big { long a[8]; };
        struct big pass(struct big b) { return b; }
        void *run(int n) {
            if (n < 0) die(\"negative\");
            struct big b = {{0}};
            pass(b);
            return grab(look(&n), square(n));
        }
    ";
    for version in clang_versions() {
        let module = module_of(version, "c", text, CAPTURE_FLAGS);
        let attrs = |name: &str| {
            let function = &module.functions[function(&module, name)];
            module.attrs_or_empty(function.attrs)
        };
        assert!(attrs("die").function().has(AttrKind::NoReturn));
        assert!(attrs("die").function().has(AttrKind::Cold));
        assert!(!attrs("look").function().has(AttrKind::NoReturn));
        assert!(attrs("look").function().memory().only_reads());
        assert!(!attrs("look").function().memory().is_none());
        assert!(attrs("square").function().memory().is_none());
        assert_eq!(attrs("grab").function().memory().other, ModRef::ModRef);
        assert_eq!(attrs("grab").function().alloc_size(), Some((0, Some(1))));
        assert_eq!(
            attrs("run").function().string("no-trapping-math"),
            Some("true")
        );
        let sret = attrs("pass").param(0).ty(AttrKind::SRet).expect("sret");
        let byval = attrs("pass").param(1).ty(AttrKind::ByVal).expect("byval");
        assert_eq!(sret, byval);
        assert!(matches!(module.ty(sret), Some(RawType::Struct { .. })));
        // Out of range: no attributes, no panic.
        assert!(!attrs("pass").param(usize::MAX).has(AttrKind::ByVal));
    }
}

#[test]
fn attributes_of_allocators() {
    let text = "
        declare noalias ptr @make(i64, ptr nocapture readonly) allockind(\"alloc,zeroed\") allocsize(0) \"alloc-family\"=\"mine\"
        declare void @drop(ptr allocptr) allockind(\"free\") \"alloc-family\"=\"mine\"
        declare ptr @same(ptr returned) memory(argmem: readwrite)
    ";
    for version in clang_versions().into_iter().filter(|v| *v >= 16) {
        let module = module_of(version, "ll", text, &["-O0"]);
        let attrs = |name: &str| {
            let function = &module.functions[function(&module, name)];
            module.attrs_or_empty(function.attrs)
        };
        let make = attrs("make");
        let kind = make.function().alloc_kind().expect("allockind");
        assert!(kind.alloc() && kind.zeroed() && !kind.free() && !kind.realloc());
        assert_eq!(make.function().alloc_size(), Some((0, None)));
        assert_eq!(make.function().string("alloc-family"), Some("mine"));
        assert!(make.ret().has(AttrKind::NoAlias));
        assert!(make.param(1).no_capture());
        assert!(make.param(1).has(AttrKind::ReadOnly));
        assert!(!make.param(0).no_capture());
        assert!(
            attrs("drop")
                .function()
                .alloc_kind()
                .expect("allockind")
                .free()
        );
        assert!(attrs("drop").param(0).has(AttrKind::AllocatedPointer));
        assert!(attrs("same").param(0).has(AttrKind::Returned));
        let effects = attrs("same").function().memory();
        assert_eq!(
            (effects.args, effects.other),
            (ModRef::ModRef, ModRef::None)
        );
    }
}

const DEBUG_TEXT: &str = "
#include <stddef.h>
typedef struct list {
    struct list *next;
    const char *name;
    unsigned small : 3;
    union { long number; double real; } value;
} list_t;
enum mode { READ, WRITE = 4 };
int lookup(const char *key, const void *raw, char *out, const list_t *const l, ...);
list_t *shared;
static inline int helper(list_t *item) {
    return lookup(item->name, item, 0, item);
}
int outer(list_t *first, enum mode m) {
    char buffer[12];
    for (list_t *cursor = first; cursor; cursor = cursor->next) {
        int length = helper(cursor);
        if (length > m) {
            return buffer[length];
        }
    }
    return 0;
}
";

#[test]
fn names_of_variables() {
    for version in clang_versions() {
        for flags in [CAPTURE_FLAGS, &["-g", "-O0"][..]] {
            let module = module_of(version, "c", DEBUG_TEXT, flags);
            let body = body(&module, "outer");
            let md = body.metadata(&module);
            let mut names = Vec::new();
            for record in &body.debug_records {
                assert_eq!(record.kind, DebugRecordKind::Declare);
                assert!(matches!(record.value, DebugValue::Value(_)), "{record:?}");
                let variable = md.local_variable(record.variable).expect("a variable");
                let loc = body
                    .loc(record.loc.expect("a location"))
                    .expect("a location");
                assert_eq!(loc.line, variable.line, "{}", variable.name);
                names.push((variable.name, variable.arg, variable.line));
                let expression = record.expression.expect("an expression");
                assert_eq!(md.expression(expression), Some(vec![]));
            }
            let expected = [
                ("first", 1, 15),
                ("m", 2, 15),
                ("buffer", 0, 16),
                ("cursor", 0, 17),
                ("length", 0, 18),
            ];
            assert_eq!(names, expected, "clang-{version}");
            let subprogram = md
                .subprogram(body.subprogram.expect("!dbg"))
                .expect("a subprogram");
            assert_eq!((subprogram.name, subprogram.line), ("outer", 15));
            assert!(subprogram.is_definition && !subprogram.is_local);
        }
    }
}

fn type_name(md: &Metadata<'_>, id: Option<drip_bitcode::MetadataId>) -> String {
    let Some(id) = id else { return "void".into() };
    match md.node(id) {
        Some(MdNode::BasicType(ty)) => ty.name.into(),
        Some(MdNode::CompositeType(ty)) => ty.name.into(),
        Some(MdNode::DerivedType(ty)) => match ty.tag {
            tag::POINTER => format!("{}*", type_name(md, ty.base)),
            tag::CONST => format!("const {}", type_name(md, ty.base)),
            _ => ty.name.into(),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn members_by_offset_and_prototypes() {
    for version in clang_versions() {
        let module = module_of(version, "c", DEBUG_TEXT, CAPTURE_FLAGS);
        let md = module.metadata();
        let shared = global(&module, "shared");
        let variable = md.global_variable(shared.dbg[0]).expect("a variable");
        assert_eq!((variable.name, variable.line), ("shared", 11));
        let pointer = md
            .derived_type(variable.ty.expect("a type"))
            .expect("a pointer");
        let list = pointer.base.expect("a pointee");
        let member = |byte: u64| md.member_at(list, byte).map(|m| m.name);
        assert_eq!(member(0), Some("next"));
        assert_eq!(member(9), Some("name"));
        assert_eq!(member(16), Some("small"));
        assert_eq!(member(24), Some("value"));
        assert_eq!(member(32), None);
        let (composite, _) = md.unqualified(list);
        let composite = md.composite_type(composite).expect("a struct");
        assert_eq!((composite.name, composite.size_bits), ("list", 32 * 8));
        assert_eq!(composite.tag, tag::STRUCTURE);

        // The prototype of an external function, from its declaration's subprogram.
        let lookup = &module.functions[function(&module, "lookup")];
        let subprogram = lookup.dbg.expect("a declaration's !dbg");
        let types = md.subroutine_types(subprogram).expect("types");
        let names: Vec<_> = types.iter().take(4).map(|ty| type_name(&md, *ty)).collect();
        assert_eq!(names, ["int", "const char*", "const void*", "char*"]);
        assert_eq!(types.len(), 6, "variadic: one absent type at the end");
        let to_const: Vec<_> = types[1..5]
            .iter()
            .map(|ty| md.is_pointer_to_const(ty.expect("a type")))
            .collect();
        assert_eq!(to_const, [true, true, false, true]);
    }
}

#[test]
fn inlined_calls() {
    for version in clang_versions() {
        let module = module_of(version, "c", DEBUG_TEXT, &["-g", "-O2"]);
        let body = body(&module, "outer");
        let md = body.metadata(&module);
        let lookup = &module.functions[function(&module, "lookup")];
        let inst = body
            .insts
            .iter()
            .find(|inst| {
                let call = inst.kind.call().and_then(|id| body.call(id));
                call.is_some_and(|call| call.callee == lookup.value)
            })
            .expect("the inlined call");
        let loc = body.loc(inst.loc.expect("a location")).expect("a location");
        let source = md.source_loc(loc);
        let name = |id| md.subprogram(id).expect("a subprogram").name;
        assert_eq!((source.line, source.col), (13, 12));
        assert_eq!(name(source.function.expect("a function")), "helper");
        assert!(source.file.expect("a file").filename.ends_with(".c"));
        let callers = md.inlined_at(loc);
        assert_eq!(callers.len(), 1);
        assert_eq!(callers[0].line, 18);
        assert_eq!(name(callers[0].function.expect("a function")), "outer");
        // Optimised code says what values variables have.
        assert!(
            body.debug_records
                .iter()
                .any(|r| r.kind == DebugRecordKind::Value)
        );
    }
}

#[test]
fn enumerations_and_arrays() {
    for version in clang_versions() {
        let module = module_of(version, "c", DEBUG_TEXT, CAPTURE_FLAGS);
        let body = body(&module, "outer");
        let md = body.metadata(&module);
        let type_of = |name: &str| {
            let mut variables = body
                .debug_records
                .iter()
                .filter_map(|r| md.local_variable(r.variable));
            let found = variables.find(|v| v.name == name);
            md.composite_type(found.expect("a variable").ty.expect("a type"))
                .expect("a composite type")
        };
        let elements = md
            .tuple(type_of("m").elements.expect("elements"))
            .expect("a tuple");
        let enumerators: Vec<_> = elements
            .into_iter()
            .flatten()
            .filter_map(|id| match md.node(id) {
                Some(MdNode::Enumerator(e)) => Some((e.name, e.value)),
                _ => None,
            })
            .collect();
        assert_eq!(enumerators, [("READ", 0), ("WRITE", 4)]);
        let elements = md
            .tuple(type_of("buffer").elements.expect("elements"))
            .expect("a tuple");
        let Some(MdNode::Subrange(range)) = md.node(elements[0].expect("an element")) else {
            panic!("{:?}", md.node(elements[0].expect("an element")));
        };
        assert_eq!(range.count, Some(12));
    }
}

/// Bodies decode the same from many threads.
#[test]
fn bodies_decode_in_parallel() {
    let path = common::compile(19, &common::source("containers.cpp"), CAPTURE_FLAGS);
    let module = common::read(&path);
    let lengths = |module: &RawModule| -> Vec<usize> {
        let bodies = (0..module.functions.len()).filter_map(|i| module.decode_body(i).ok());
        bodies.map(|body| body.insts.len()).collect()
    };
    let expected = lengths(&module);
    assert!(expected.len() > 500);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| lengths(&module))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), expected);
        }
    });
    std::fs::remove_file(path).expect("remove bitcode");
}

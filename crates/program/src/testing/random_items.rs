//! Random programs: types, files, units, source-level types, globals, function headers.

use crate::address_taken::mark_address_taken;
use crate::body::Loc;
use crate::ids::*;
use crate::model::*;
use crate::syntax::{FUNC_ATTRS, PARAM_ATTRS};
use crate::types::{StructType, Type};

use super::random_body::random_body;
use super::{Choices, Shape};

/// A well-formed program made of the bytes' decisions. It always declares `malloc`, `free`, `printf` and `exit`, and defines
/// at least one function.
pub fn random_program(bytes: &[u8], shape: &Shape) -> Program {
    let mut program = Program::default();
    let universe = Universe::new(&mut program);
    let mut items = Items {
        c: Choices::new(bytes),
        shape,
        program,
        universe,
    };
    items.files_units_and_source_types();
    items.declare_library();
    let first = items.program.funcs.next_id();
    for number in 0..1 + items.c.below(shape.funcs.max(1)) {
        items.header(number);
    }
    let globals = if shape.exotic { 6 } else { 3 };
    for number in 0..items.c.below(globals) {
        items.global(number);
    }
    for index in first.index()..items.program.funcs.len() {
        let func = FuncId::new(index);
        let body = random_body(
            &mut items.c,
            &mut items.program,
            &items.universe,
            shape,
            func,
        );
        items.program.funcs[func].body = Some(body);
    }
    mark_address_taken(&mut items.program);
    items.program
}

/// The types that random programs use.
pub struct Universe {
    pub void: TypeId,
    pub i1: TypeId,
    pub i8: TypeId,
    pub i32: TypeId,
    pub i64: TypeId,
    pub f64: TypeId,
    pub ptr: TypeId,
    /// `{ ptr, i32 }`, by name.
    pub node: TypeId,
    /// `{ i32, i1 }`, the result of a compare-and-exchange.
    pub old_and_success: TypeId,
    pub array: TypeId,
    pub vector: TypeId,
}

impl Universe {
    fn new(program: &mut Program) -> Self {
        let types = &mut program.types;
        let (i1, i8) = (types.intern(Type::Int(1)), types.intern(Type::Int(8)));
        let (i32, i64) = (types.intern(Type::Int(32)), types.intern(Type::Int(64)));
        let ptr = types.intern(Type::Ptr);
        let name = Some(program.strings.intern("struct.node"));
        let elem = i32;
        Universe {
            void: types.intern(Type::Void),
            i1,
            i8,
            i32,
            i64,
            f64: types.intern(Type::Float(64)),
            ptr,
            node: types.intern_struct(name, &[ptr, i32], false),
            old_and_success: types.intern_struct(None, &[i32, i1], false),
            array: types.intern(Type::Array { elem, len: 4 }),
            vector: types.intern(Type::Vector { elem, len: 2 }),
        }
    }

    /// Types that parameters, results and variables have.
    pub fn value_types(&self, exotic: bool) -> Vec<TypeId> {
        let mut types = vec![self.ptr, self.i32, self.i1, self.i64, self.ptr, self.i8];
        if exotic {
            types.extend([self.f64, self.node, self.array, self.vector]);
        }
        types
    }
}

const ODD_NAMES: &[&str] = &[
    "",
    "a b",
    "näme",
    "x\"y\\z",
    "line\nbreak",
    "0",
    "a#1",
    "\u{1}",
];

struct Items<'a> {
    c: Choices<'a>,
    shape: &'a Shape,
    program: Program,
    universe: Universe,
}

impl Items<'_> {
    fn odd_name(&mut self, plain: &str) -> StrId {
        let name = match self.shape.exotic && self.c.chance(20) {
            true => self.c.pick(ODD_NAMES),
            false => plain,
        };
        self.program.strings.intern(name)
    }

    fn files_units_and_source_types(&mut self) {
        for number in 0..1 + self.c.below(3) {
            let directory = self.odd_name("/src");
            let name = self.odd_name(&format!("f{number}.c"));
            self.program.files.push(File { directory, name });
        }
        for number in 0..1 + self.c.below(2) {
            let unit = Unit {
                path: self.odd_name(&format!("u{number}.bc")),
                source: self.odd_name("f.c"),
                language: self.c.pick(&[Language::C, Language::Cxx, Language::Other]),
            };
            self.program.units.push(unit);
        }
        if self.shape.exotic {
            self.odd_structs();
        }
        let count = self.c.below(8);
        for _ in 0..count {
            let ty = self.di_type(count);
            self.program.di_types.push(ty);
        }
    }

    /// A struct of the same name as another, and a large literal one with a gap.
    fn odd_structs(&mut self) {
        let u = &self.universe;
        let types = &mut self.program.types;
        if self.c.chance(50) {
            let name = self.program.strings.find("struct.node");
            types.intern_struct(name, &[u.i64, u.node, u.array], self.c.chance(50));
        }
        if self.c.chance(50) {
            types.intern(Type::Struct(StructType {
                name: None,
                fields: [(u.i8, 0), (u.array, 24)].into(),
                packed: false,
                size: 48,
                align: 16,
            }));
        }
    }

    /// `count`: how many source-level types there will be; they may refer forward.
    fn di_type(&mut self, count: usize) -> DiType {
        let other = |c: &mut Choices<'_>| {
            let some = c.chance(80);
            some.then(|| DiTypeId::new(c.below(count)))
        };
        let (of, second) = (other(&mut self.c), other(&mut self.c));
        let name = self.odd_name("T");
        let bytes = self.c.below(20) as u64;
        let optional = self.c.chance(50).then_some(name);
        match self.c.below(10) {
            0 => DiType::Base {
                name,
                bytes,
                signed: self.c.chance(50),
            },
            1 => DiType::Pointer { to: of },
            2 => DiType::Struct {
                name: optional,
                bytes,
                is_union: self.c.chance(50),
                members: (0..self.c.below(3))
                    .map(|n| DiMember {
                        name,
                        offset: n as u64 * 8,
                        ty: if n == 0 { of } else { second },
                        is_base: n == 1,
                    })
                    .collect(),
            },
            3 => DiType::Array {
                elem: of,
                count: self.c.chance(50).then_some(bytes),
            },
            4 => DiType::Typedef { name, of },
            5 => DiType::Const(of),
            6 => DiType::Qualified(of),
            7 => DiType::Enum {
                name: optional,
                bytes,
                values: (0..self.c.below(3)).map(|n| (name, n as i64 - 1)).collect(),
            },
            8 => DiType::Func {
                ret: of,
                params: vec![second; self.c.below(3)].into(),
            },
            _ => DiType::Other,
        }
    }

    fn function(&mut self, name: StrId, ret: TypeId, params: &[TypeId], vararg: bool) -> FuncId {
        let ty = self.program.types.intern(Type::Func {
            ret,
            params: params.into(),
            vararg,
        });
        self.program.funcs.push(Function {
            name,
            source_name: None,
            unit: UnitId::new(0),
            linkage: Linkage::External,
            ty,
            attrs: FuncAttrs(if vararg { FuncAttrs::VARARG } else { 0 }),
            params: vec![ParamAttrs::default(); params.len()].into(),
            alloc_family: None,
            loc: None,
            di_type: None,
            body: None,
            unreadable: None,
        })
    }

    fn declare_library(&mut self) {
        let Universe {
            void,
            i32,
            i64,
            ptr,
            ..
        } = self.universe;
        let mut name = |text| self.program.strings.intern(text);
        let (malloc, free, printf, exit) =
            (name("malloc"), name("free"), name("printf"), name("exit"));
        let family = Some(malloc);
        let id = self.function(malloc, ptr, &[i64], false);
        self.program.funcs[id].attrs.0 |= FuncAttrs::ALLOC | FuncAttrs::NOALIAS_RETURN;
        self.program.funcs[id].alloc_family = family;
        let id = self.function(free, void, &[ptr], false);
        self.program.funcs[id].attrs.0 |= FuncAttrs::FREE;
        self.program.funcs[id].alloc_family = family;
        self.function(printf, i32, &[ptr], true);
        let id = self.function(exit, void, &[i32], false);
        self.program.funcs[id].attrs.0 |= FuncAttrs::NORETURN;
    }

    fn header(&mut self, number: usize) {
        let types = self.universe.value_types(self.shape.exotic);
        let ret = match self.c.chance(30) {
            true => self.universe.void,
            false => self.c.pick(&types),
        };
        let params: Vec<TypeId> = (0..self.c.below(4)).map(|_| self.c.pick(&types)).collect();
        let internal = self.c.chance(40);
        let shared = internal && self.c.chance(50);
        let name = match shared {
            true => self.odd_name("same"),
            false => self.program.strings.intern(&format!("f{number}")),
        };
        let vararg = self.c.chance(10);
        let id = self.function(name, ret, &params, vararg);
        let source_name = self.odd_name("source");
        let unit = UnitId::new(self.c.below(self.program.units.len()));
        let (loc, di_type) = (self.loc(), self.di_ref());
        let function = &mut self.program.funcs[id];
        function.unit = unit;
        function.loc = loc;
        function.di_type = di_type;
        function.source_name = self.c.chance(50).then_some(source_name);
        if internal {
            function.linkage = Linkage::Internal;
        } else if self.c.chance(20) {
            function.linkage = Linkage::Weak;
        }
        if self.shape.exotic {
            if self.c.chance(30) {
                function.attrs.0 |= self.c.pick(FUNC_ATTRS).1;
            }
            for param in &mut function.params {
                if self.c.chance(30) {
                    param.0 |= self.c.pick(PARAM_ATTRS).1;
                }
            }
        }
    }

    fn loc(&mut self) -> Option<Loc> {
        self.c.chance(70).then(|| Loc {
            file: FileId::new(self.c.below(self.program.files.len())),
            line: u32::from(self.c.byte()),
            column: u32::from(self.c.byte()),
            inlined_at: None,
        })
    }

    fn di_ref(&mut self) -> Option<DiTypeId> {
        let count = self.program.di_types.len();
        (count > 0 && self.c.chance(50)).then(|| DiTypeId::new(self.c.below(count)))
    }

    fn global(&mut self, number: usize) {
        let types = self.universe.value_types(self.shape.exotic);
        let internal = self.c.chance(50);
        let name = match internal && self.c.chance(50) {
            true => self.odd_name("same"),
            false => self.program.strings.intern(&format!("g{number}")),
        };
        let ty = self.c.pick(&types);
        let size = self.program.types.size_of(ty) + if self.c.chance(10) { 8 } else { 0 };
        let init = self.init(size);
        let source_name = self.odd_name("source");
        let global = Global {
            name,
            unit: UnitId::new(self.c.below(self.program.units.len())),
            linkage: if internal {
                Linkage::Internal
            } else {
                Linkage::External
            },
            ty,
            size,
            is_const: self.c.chance(30),
            thread_local: self.shape.exotic && self.c.chance(20),
            init,
            loc: self.loc(),
            di_type: self.di_ref(),
            source_name: self.c.chance(30).then_some(source_name),
        };
        self.program.globals.push(global);
    }

    fn init(&mut self, size: u64) -> Init {
        match self.c.below(4) {
            0 => Init::Zero,
            1 => Init::Extern,
            2 => Init::Bytes(
                (0..self.c.below(size as usize + 1))
                    .map(|_| self.c.byte())
                    .collect(),
            ),
            _ => {
                let mut slots = Vec::new();
                let mut offset = 0;
                while offset + 8 <= size && self.c.chance(80) {
                    slots.push((offset, self.scalar()));
                    offset += 8;
                }
                Init::Slots {
                    slots: slots.into(),
                    complete: !self.c.chance(30),
                }
            }
        }
    }

    fn scalar(&mut self) -> Scalar {
        let globals = self.program.globals.len();
        match self.c.below(4) {
            0 => Scalar::Func(FuncId::new(self.c.below(self.program.funcs.len()))),
            1 if globals > 0 => Scalar::Global {
                global: GlobalId::new(self.c.below(globals)),
                offset: self.c.below(5) as i64 * 4 - 8,
            },
            2 => Scalar::Opaque { bytes: 8 },
            _ => {
                let bytes = self.c.pick(&[4u8, 1, 8]);
                let bits = u64::from_le_bytes([self.c.byte(); 8]) >> (64 - 8 * u32::from(bytes));
                Scalar::Int { bits, bytes }
            }
        }
    }
}

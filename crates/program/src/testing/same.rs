//! Where do two programs differ in structure? Each is turned into a list of keys, in which the numbers that a reader of the
//! text can't see (types, strings, constants, positions, places in pools) are replaced by what they stand for.

use crate::body::*;
use crate::builder::for_each_own_operand_mut;
use crate::ids::*;
use crate::model::*;
use crate::types::Type;

/// The first place where the programs differ; `None` if they are the same.
pub fn differences(a: &Program, b: &Program) -> Option<String> {
    let (left, right) = (keys(a), keys(b));
    let differing = left.iter().zip(&right).find(|(a, b)| a != b);
    match differing {
        Some((a, b)) => Some(format!("{a}\n{b}")),
        None if left.len() != right.len() => {
            Some(format!("{} keys against {}", left.len(), right.len()))
        }
        None => None,
    }
}

struct Keys<'p>(&'p Program);

fn keys(program: &Program) -> Vec<String> {
    let k = Keys(program);
    let mut keys = vec![format!("{:?}", program.types.layout)];
    for (id, ty) in program.types.iter() {
        // Others are compared where they are used.
        if matches!(ty, Type::Struct(layout) if layout.name.is_some()) {
            keys.push(k.ty(id));
        }
    }
    for file in &program.files {
        keys.push(format!("{} {}", k.str(file.directory), k.str(file.name)));
    }
    for unit in &program.units {
        keys.push(format!(
            "{} {} {:?}",
            k.str(unit.path),
            k.str(unit.source),
            unit.language
        ));
    }
    keys.extend(program.di_types.iter().map(|ty| k.di_type(ty)));
    for global in &program.globals {
        keys.push(k.global(global));
    }
    for function in &program.funcs {
        k.function(function, &mut keys);
    }
    keys
}

impl Keys<'_> {
    fn str(&self, id: StrId) -> &str {
        self.0.strings.get(id)
    }

    fn opt_str(&self, id: Option<StrId>) -> Option<&str> {
        id.map(|id| self.str(id))
    }

    fn ty(&self, id: TypeId) -> String {
        match self.0.types.get(id) {
            Type::Struct(s) => {
                let fields: Vec<_> = s.fields.iter().map(|&(ty, at)| (self.ty(ty), at)).collect();
                let (name, packed) = (self.opt_str(s.name), s.packed);
                format!("struct {name:?} {packed} {} {} {fields:?}", s.size, s.align)
            }
            Type::Array { elem, len } => format!("array {len} {}", self.ty(*elem)),
            Type::Vector { elem, len } => format!("vector {len} {}", self.ty(*elem)),
            Type::Func {
                ret,
                params,
                vararg,
            } => {
                let params: Vec<_> = params.iter().map(|&param| self.ty(param)).collect();
                format!("func {params:?} {vararg} {}", self.ty(*ret))
            }
            scalar => format!("{scalar:?}"),
        }
    }

    fn di_type(&self, ty: &DiType) -> String {
        match ty {
            DiType::Base {
                name,
                bytes,
                signed,
            } => format!("base {} {bytes} {signed}", self.str(*name)),
            DiType::Typedef { name, of } => format!("typedef {} {of:?}", self.str(*name)),
            DiType::Struct {
                name,
                bytes,
                is_union,
                members,
            } => {
                let members: Vec<_> = members
                    .iter()
                    .map(|m| (self.str(m.name), m.offset, m.ty, m.is_base))
                    .collect();
                format!(
                    "struct {:?} {bytes} {is_union} {members:?}",
                    self.opt_str(*name)
                )
            }
            DiType::Enum {
                name,
                bytes,
                values,
            } => {
                let values: Vec<_> = values.iter().map(|&(n, v)| (self.str(n), v)).collect();
                format!("enum {:?} {bytes} {values:?}", self.opt_str(*name))
            }
            // No strings inside.
            other => format!("{other:?}"),
        }
    }

    fn global(&self, global: &Global) -> String {
        let mut rest = global.clone();
        rest.name = StrId::new(0);
        rest.source_name = None;
        rest.ty = TypeId::new(0);
        let source = self.opt_str(global.source_name);
        format!(
            "{} {source:?} {} {rest:?}",
            self.str(global.name),
            self.ty(global.ty)
        )
    }

    fn function(&self, function: &Function, keys: &mut Vec<String>) {
        keys.push(format!(
            "{} {:?} {} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.str(function.name),
            self.opt_str(function.source_name),
            function.unit,
            function.linkage,
            self.ty(function.ty),
            function.attrs,
            function.params,
            self.opt_str(function.alloc_family),
            function.loc,
            function.di_type,
            function.unreadable,
        ));
        let Some(body) = &function.body else {
            return;
        };
        let params: Vec<_> = body.params.iter().map(|&param| self.ty(param)).collect();
        keys.push(format!("{params:?} {:?}", body.blocks));
        for var in &body.vars {
            keys.push(format!(
                "{} {:?} {:?} {}",
                self.str(var.name),
                var.ty,
                var.param,
                var.line
            ));
        }
        for id in body.insts.ids() {
            keys.push(self.inst(body, id));
        }
    }

    fn inst(&self, body: &Body, id: InstId) -> String {
        let inst = body.insts[id];
        // What is left of the operation without what has a key of its own.
        let mut rest = inst.op;
        for_each_own_operand_mut(&mut rest, |operand| {
            *operand = Operand::value(ValueId::new(0))
        });
        let mut pools = String::new();
        match &mut rest {
            Op::Alloca { elem, .. } => {
                pools = self.ty(*elem);
                *elem = TypeId::new(0);
            }
            Op::PtrAdd { indices, .. } => {
                let scales = body.scaled(*indices).iter().map(|s| s.scale);
                pools = format!("{:?}", scales.collect::<Vec<_>>());
                *indices = PoolRange::default();
            }
            Op::Phi { incoming } => {
                let blocks = body.incoming(*incoming).iter().map(|i| i.block);
                pools = format!("{:?}", blocks.collect::<Vec<_>>());
                *incoming = PoolRange::default();
            }
            Op::ExtractValue { path, .. } | Op::InsertValue { path, .. } => {
                pools = format!("{:?}", body.indices(*path));
                *path = PoolRange::default();
            }
            Op::Switch { cases, .. } => {
                pools = format!("{:?}", body.cases(*cases));
                *cases = PoolRange::default();
            }
            Op::IndirectBr { targets, .. } => {
                pools = format!("{:?}", body.targets(*targets));
                *targets = PoolRange::default();
            }
            Op::CallBr { args, targets, .. } => {
                pools = format!("{:?}", body.targets(*targets));
                *targets = PoolRange::default();
                *args = OperandList::default();
            }
            Op::Call { args, .. } | Op::Invoke { args, .. } | Op::Opaque { args } => {
                *args = OperandList::default();
            }
            _ => {}
        }
        let mut operands = Vec::new();
        body.for_each_operand(id, |operand| operands.push(self.operand(body, operand)));
        let loc = self.loc(body, inst.loc);
        format!(
            "{id} {rest:?} {pools} {operands:?} {} {loc:?}",
            self.ty(inst.ty)
        )
    }

    fn operand(&self, body: &Body, operand: Operand) -> String {
        match operand.kind() {
            OperandKind::Value(value) => value.to_string(),
            OperandKind::Const(id) => self.constant(body, id),
        }
    }

    fn constant(&self, body: &Body, id: ConstId) -> String {
        match &body.consts[id] {
            Const::Int { ty, bits } => format!("int {} {bits}", self.ty(*ty)),
            Const::Float { ty, bits } => format!("float {} {bits}", self.ty(*ty)),
            Const::Zero(ty) => format!("zero {}", self.ty(*ty)),
            Const::Undef(ty) => format!("undef {}", self.ty(*ty)),
            Const::Opaque(ty) => format!("opaque {}", self.ty(*ty)),
            Const::Aggregate { ty, elems } => {
                let elems: Vec<_> = elems
                    .iter()
                    .map(|&elem| self.constant(body, elem))
                    .collect();
                format!("aggregate {} {elems:?}", self.ty(*ty))
            }
            // Only ids of symbols, which the text keeps.
            other => format!("{other:?}"),
        }
    }

    fn loc(&self, body: &Body, loc: Option<LocId>) -> Vec<(FileId, u32, u32)> {
        let mut chain = Vec::new();
        let mut at = loc;
        while let Some(id) = at {
            let loc = body.locs[id];
            chain.push((loc.file, loc.line, loc.column));
            at = loc.inlined_at;
        }
        chain
    }
}

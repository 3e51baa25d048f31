//! Calls: which functions they reach, and what the external ones among them do to the constraints.

use drip_models::{CellPath, Offset, Root, Value, ValuePath};
use drip_program::{Const, FuncId, InstId, Op};
use smallvec::SmallVec;

use super::constraint::{Constraint, System};
use super::external::{ExternalCall, external_call};
use super::objects::ObjectKind;
use super::{InstanceId, NodeId};
use crate::callgraph::Signature;

/// A function that a call can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Callee {
    Instance(InstanceId),
    External(FuncId),
}

/// The nodes that one call passes and gets.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub instance: InstanceId,
    pub inst: InstId,
    /// The called pointer; `None` if the call names its callee.
    pub callee: Option<NodeId>,
    pub args: SmallVec<[Option<NodeId>; 4]>,
    pub ret: Option<NodeId>,
    /// What an indirect call expects of its callee.
    pub(super) signature: Option<Signature>,
}

impl System<'_> {
    /// Binds arguments and result of a call to an instance.
    pub(super) fn bind(&mut self, site: &CallSite, instance: InstanceId) {
        let params = self.params[instance].clone();
        for (index, &arg) in site.args.iter().enumerate() {
            let Some(arg) = arg else { continue };
            match params.get(index) {
                Some(&Some(param)) => self.push(Constraint::Copy {
                    dst: param,
                    src: arg,
                }),
                Some(None) => {}
                None => {
                    if let Some(rest) = self.varargs[instance] {
                        self.push(Constraint::Copy {
                            dst: rest,
                            src: arg,
                        });
                    }
                }
            }
        }
        if let (Some(dst), Some(src)) = (site.ret, self.returns[instance]) {
            self.push(Constraint::Copy { dst, src });
        }
    }

    /// A function whose address a call goes through. Returns what it reaches.
    pub(super) fn reach(&mut self, site: &CallSite, func: FuncId) -> Option<Callee> {
        if !self.fits(site, func) {
            return None;
        }
        if let Some(external) = external_call(self.program, self.library, func) {
            self.apply(site, func, &external);
            return Some(Callee::External(func));
        }
        let base = self.instances.base(func)?;
        self.bind(site, base);
        Some(Callee::Instance(base))
    }

    /// Can the call mean this function, by the types of arguments and result? No C program means another one.
    pub(super) fn fits(&self, site: &CallSite, func: FuncId) -> bool {
        let signature = site.signature.as_ref();
        signature.is_none_or(|s| s.fits(self.program, &self.program.funcs[func]))
    }

    /// The called pointer comes from out of sight.
    pub(super) fn reach_outside(&mut self, site: &CallSite) {
        self.apply_summary(site, &ExternalCall::opaque(site.args.len()));
    }

    /// The effects of an external function, outcome by outcome: their union.
    pub(super) fn apply(&mut self, site: &CallSite, func: FuncId, call: &ExternalCall) {
        let name = self.program.func_name(func);
        if name.starts_with("llvm.va_start") {
            return self.start_varargs(site);
        }
        if name.starts_with("llvm.va_copy") {
            if let [Some(dst), Some(src), ..] = site.args[..] {
                let len = 3 * self.pointer_bytes();
                self.push(Constraint::MemCopy { dst, src, len });
            }
            return;
        }
        self.apply_summary(site, call);
        if let Some(size) = self.block_size(site, name) {
            for index in 0..call.summary.fresh.len() {
                let kind = ObjectKind::Heap {
                    instance: site.instance,
                    call: site.inst,
                    index: index as u16,
                };
                if let Some(object) = self.objects.find_object(kind) {
                    self.objects.list[object].size = Some(size);
                }
            }
        }
    }

    /// Bytes that a call of a standard allocation function asks for, if they are constant: in the call, or where the wrapper
    /// that makes it was called.
    fn block_size(&self, site: &CallSite, name: &str) -> Option<u64> {
        let factors: &[usize] = match name {
            "malloc" | "valloc" | "_Znwm" | "_Znam" => &[0],
            "calloc" => &[0, 1],
            "aligned_alloc" | "memalign" => &[1],
            _ => return None,
        };
        let mut size = 1u64;
        for &factor in factors {
            size = size.checked_mul(self.constant(site.instance, site.inst, factor)?)?;
        }
        Some(size)
    }

    /// An argument that is constant, seen through the calls of clones.
    fn constant(&self, instance: InstanceId, call: InstId, arg: usize) -> Option<u64> {
        let data = &self.instances.list[instance];
        let body = self.program.funcs[data.func].body.as_ref()?;
        let (Op::Call { args, .. } | Op::Invoke { args, .. }) = body.insts.get(call)?.op else {
            return None;
        };
        let &operand = body.list(args).get(arg)?;
        if let Some(&Const::Int { bits, .. }) = body.const_of(operand) {
            return Some(bits);
        }
        let param = body.as_param(operand.as_value()?)?;
        let (caller, call) = data.call?;
        self.constant(caller, call, param)
    }

    pub(super) fn apply_summary(&mut self, site: &CallSite, call: &ExternalCall) {
        for outcome in &call.summary.outcomes {
            if let Some(ret) = site.ret {
                self.assign(site, ret, &outcome.ret);
                if call.unknown && matches!(outcome.ret, Value::Unknown(_)) {
                    let src = self.outside;
                    self.push(Constraint::Copy { dst: ret, src });
                }
            }
            for write in &outcome.writes {
                let Some(addr) = self.cell(site, &write.cell) else {
                    continue;
                };
                let src = self.fresh_node();
                self.assign(site, src, &write.value);
                self.push(Constraint::Store { addr, src });
            }
            for escape in &outcome.escapes {
                if let Some(src) = self.path(site, &escape.path) {
                    let dst = self.handed;
                    self.push(Constraint::Copy { dst, src });
                }
            }
            for copy in &outcome.copies {
                let Some(src) = self.path(site, &copy.from) else {
                    continue;
                };
                let dst = self.fresh_node();
                let block = Value::Fresh {
                    index: copy.to,
                    offset: Offset::ZERO,
                };
                self.assign(site, dst, &block);
                let len = u64::MAX;
                self.push(Constraint::MemCopy { dst, src, len });
            }
        }
    }

    /// `va_start`: the list's two areas lead to where the arguments are saved.
    fn start_varargs(&mut self, site: &CallSite) {
        let (Some(&Some(list)), Some(src)) = (site.args.first(), self.varargs[site.instance])
        else {
            return;
        };
        let area = self.address(ObjectKind::VarArgs(site.instance), None, 0);
        self.push(Constraint::Store { addr: area, src });
        // overflow_arg_area and reg_save_area of the System V ABI; a plain pointer where the list is one.
        let word = self.pointer_bytes() as i64;
        for offset in [0, word, 2 * word] {
            let addr = self.moved(list, offset, 0);
            self.push(Constraint::Store { addr, src: area });
        }
    }

    fn assign(&mut self, site: &CallSite, dst: NodeId, value: &Value) {
        match value {
            Value::Int(_) => {}
            Value::Entry { path, plus } => {
                if let Some(src) = self.path(site, path) {
                    let src = self.offset_by(src, *plus);
                    self.push(Constraint::Copy { dst, src });
                }
            }
            Value::Fresh { index, offset } => {
                let kind = ObjectKind::Heap {
                    instance: site.instance,
                    call: site.inst,
                    index: *index,
                };
                let block = self.address(kind, None, 0);
                let src = self.offset_by(block, *offset);
                self.push(Constraint::Copy { dst, src });
            }
            Value::Func(func) => {
                let src = self.address(ObjectKind::Function(*func), None, 0);
                self.push(Constraint::Copy { dst, src });
            }
            Value::Unknown(_) => {
                let src = self.address(ObjectKind::Library, None, 0);
                self.push(Constraint::Copy { dst, src });
            }
        }
    }

    /// The address of a cell.
    fn cell(&mut self, site: &CallSite, cell: &CellPath) -> Option<NodeId> {
        let base = self.path(site, &cell.base)?;
        Some(self.offset_by(base, cell.offset))
    }

    /// The value of an access path: its root, then one load per offset.
    fn path(&mut self, site: &CallSite, path: &ValuePath) -> Option<NodeId> {
        let mut at = match path.root {
            Root::Arg(index) => site.args.get(usize::from(index)).copied().flatten()?,
            Root::Global(global) => {
                let ty = self.program.globals.get(global)?.ty;
                self.address(ObjectKind::Global(global), Some(ty), 0)
            }
            Root::Fresh(index) => {
                let kind = ObjectKind::Heap {
                    instance: site.instance,
                    call: site.inst,
                    index,
                };
                self.address(kind, None, 0)
            }
            Root::Ret => return None,
        };
        for &offset in &path.loads {
            let addr = self.offset_by(at, offset);
            let dst = self.fresh_node();
            self.push(Constraint::Load { dst, addr });
            at = dst;
        }
        Some(at)
    }

    fn offset_by(&mut self, node: NodeId, offset: Offset) -> NodeId {
        self.moved(node, offset.base, offset.stride)
    }
}

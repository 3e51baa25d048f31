//! Objects and cells of one function: what memory it can name.
//!
//! An object is a stack slot, a global, a fresh heap object (one per call *and* per object that the callee hands out:
//! heap cloning), or an entry object: what a parameter or an entry cell points to when the function starts (access
//! paths as Saturn fig. 4, to [`MAX_ENTRY_DEPTH`]). A cell is an object and a byte offset; an array element with
//! unknown index has a stride. Two entry objects are assumed not to alias.

use drip_base::{IndexVec, entity_id};
use drip_models::Offset;
use drip_program::{FuncId, GlobalId, InstId};
use rustc_hash::FxHashMap;

entity_id! {
    /// An object of one function.
    pub struct ObjId = "o";
    /// A memory cell: object and offset.
    pub struct CellId = "m";
}

/// Loads from an interface root before all that lies deeper becomes one summary object.
pub const MAX_ENTRY_DEPTH: u8 = 3;

/// Exact cells that one object may have; further offsets share one strided cell (imprecise, never unsound).
pub const MAX_CELLS_PER_OBJECT: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjKind {
    /// Memory that nobody here can name: what unknown code returns or hands in. It outlives the function.
    World,
    Stack(InstId),
    Global(GlobalId),
    Func(FuncId),
    /// The `index`-th object that this call makes.
    Fresh {
        call: InstId,
        index: u16,
    },
    /// What parameter `n` points to on entry.
    Param(u16),
    /// What an entry cell points to on entry.
    Entry(CellId),
    /// All that lies deeper than [`MAX_ENTRY_DEPTH`] behind one root.
    Deep(ObjId),
}

impl ObjKind {
    /// Does the object outlive the function's return, so that what it holds is still held?
    pub fn survives(self) -> bool {
        matches!(
            self,
            ObjKind::World
                | ObjKind::Global(_)
                | ObjKind::Param(_)
                | ObjKind::Entry(_)
                | ObjKind::Deep(_)
        )
    }

    /// One concrete object (a write to an exact cell of it is strong), not a summary of many.
    pub fn is_single(self) -> bool {
        !matches!(self, ObjKind::World | ObjKind::Deep(_))
    }

    /// Its cells hold something on entry that the function did not put there.
    pub fn has_entry_state(self) -> bool {
        matches!(
            self,
            ObjKind::Global(_) | ObjKind::Param(_) | ObjKind::Entry(_)
        )
    }
}

#[derive(Clone, Debug)]
pub struct Object {
    pub kind: ObjKind,
    /// Loads from the interface root.
    pub depth: u8,
    /// Passed to unknown code, which may have written anything into it.
    pub havoc: bool,
    pub cells: Vec<CellId>,
}

/// Where a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    pub obj: ObjId,
    pub off: Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub obj: ObjId,
    pub off: Offset,
}

/// The memory of one function. INVARIANT: `ObjId(0)` is [`ObjKind::World`].
#[derive(Clone, Debug)]
pub struct Memory {
    pub objects: IndexVec<ObjId, Object>,
    pub cells: IndexVec<CellId, Cell>,
    by_kind: FxHashMap<ObjKind, ObjId>,
    by_place: FxHashMap<(ObjId, Offset), CellId>,
}

impl Default for Memory {
    fn default() -> Self {
        let mut memory = Memory {
            objects: IndexVec::new(),
            cells: IndexVec::new(),
            by_kind: FxHashMap::default(),
            by_place: FxHashMap::default(),
        };
        memory.object(ObjKind::World, 0);
        memory
    }
}

impl Memory {
    pub const WORLD: ObjId = ObjId::from_u32(0);

    pub fn object(&mut self, kind: ObjKind, depth: u8) -> ObjId {
        if let Some(&id) = self.by_kind.get(&kind) {
            return id;
        }
        let id = self.objects.push(Object {
            kind,
            depth,
            havoc: false,
            cells: Vec::new(),
        });
        self.by_kind.insert(kind, id);
        id
    }

    pub fn find_object(&self, kind: ObjKind) -> Option<ObjId> {
        self.by_kind.get(&kind).copied()
    }

    pub fn kind(&self, obj: ObjId) -> ObjKind {
        self.objects[obj].kind
    }

    /// The cell at a location, made on first use.
    pub fn cell(&mut self, loc: Loc) -> CellId {
        let mut off = loc.off;
        if let Some(&id) = self.by_place.get(&(loc.obj, off)) {
            return id;
        }
        if self.objects[loc.obj].cells.len() >= MAX_CELLS_PER_OBJECT
            || !self.kind(loc.obj).is_single()
        {
            off = Offset::ANY;
            if let Some(&id) = self.by_place.get(&(loc.obj, off)) {
                return id;
            }
        }
        let id = self.cells.push(Cell { obj: loc.obj, off });
        self.by_place.insert((loc.obj, off), id);
        self.objects[loc.obj].cells.push(id);
        id
    }

    pub fn find_cell(&self, loc: Loc) -> Option<CellId> {
        self.by_place
            .get(&(loc.obj, loc.off))
            .or_else(|| self.by_place.get(&(loc.obj, Offset::ANY)))
            .copied()
    }

    /// Cells of the object that an access at `loc` may touch, in the order they were made.
    pub fn overlapping(&self, loc: Loc) -> impl Iterator<Item = CellId> + '_ {
        self.objects[loc.obj]
            .cells
            .iter()
            .copied()
            .filter(move |&cell| self.cells[cell].off.may_equal(loc.off))
    }

    /// One concrete cell: a write to it replaces what it held.
    pub fn is_strong(&self, cell: CellId) -> bool {
        let cell = self.cells[cell];
        cell.off.is_exact() && self.is_single(cell.obj)
    }

    /// The global variable that leads to this object on entry, if one does.
    pub fn global_above(&self, obj: ObjId) -> Option<GlobalId> {
        let mut at = obj;
        while let ObjKind::Entry(home) = self.kind(at) {
            at = self.cells[home].obj;
        }
        match self.kind(at) {
            ObjKind::Global(global) => Some(global),
            _ => None,
        }
    }

    /// One concrete object, not one of many: what an element with unknown index points to is another object every time.
    pub fn is_single(&self, obj: ObjId) -> bool {
        match self.kind(obj) {
            ObjKind::Entry(home) => self.is_strong(home),
            kind => kind.is_single(),
        }
    }
}

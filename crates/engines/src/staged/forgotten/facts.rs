//! What does the whole program do with fields and variables?

use std::collections::BTreeMap;

use drip_pointer::Callees;
use drip_pointer::owners::{Field, member_name};
use drip_program::{
    DiType, FuncId, GlobalId, Init, InstId, Program, Scalar, StrId, name_in_source,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::calls::CallContext;
use super::super::names::position_in;
use super::care::{asks_somebody, below, is_brief, is_cared_for, is_destroyed_apart};
use super::kinds::Kinds;
use super::programs::Programs;
use super::view::View;

/// A new block that is stored in a place: the function, the call, and which of its blocks.
pub type Made = (FuncId, InstId, u16);

/// Calls down from one whose summary says that the field is freed, to the function that frees it.
const MAX_DEPTH_OF_CALLS: usize = 12;

/// Calls down from a destructor to those that free the fields for it.
const MAX_DEPTH_OF_DESTRUCTORS: usize = 3;

/// Other fields of a structure that a function has to free to be its destructor.
const MIN_OTHER_FIELDS: usize = 2;

/// What holds a pointer, in every object of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Field(Field),
    /// The elements of the array that a field points to.
    Elements(Field),
    /// A variable of the program.
    Variable(GlobalId),
}

impl Place {
    /// The structure that has it.
    pub fn structure(self) -> Option<StrId> {
        match self {
            Place::Field(field) | Place::Elements(field) => Some(field.0),
            Place::Variable(_) => None,
        }
    }

    /// As the source says it.
    pub fn text(self, program: &Program) -> String {
        let of_field = |field: Field| {
            let structure = name_in_source(program.strings.get(field.0));
            let name = member_name(program, field);
            let name = name.unwrap_or_else(|| format!("offset {}", field.1));
            format!("{structure}.{name}")
        };
        match self {
            Place::Field(field) => of_field(field),
            Place::Elements(field) => format!("{}[]", of_field(field)),
            Place::Variable(global) => {
                let name = program.globals[global].source_name;
                name.map_or_else(
                    || program.global_name(global).to_owned(),
                    |name| program.strings.get(name).to_owned(),
                )
            }
        }
    }
}

/// A place where a block is freed.
#[derive(Clone, Copy)]
pub struct Release {
    pub func: FuncId,
    pub call: InstId,
    /// The block is a parameter of the function.
    pub is_parameter: bool,
    /// It may have been made just before: then there is nothing in it yet.
    pub is_new: bool,
    /// Its fields go by its own name, and not, as in a union, by that of the structure around it.
    pub is_by_name: bool,
    /// A structure that contains this one is freed.
    pub is_around: bool,
}

/// What happens to what a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taking {
    /// Only looked at by the caller, unless the field is emptied at the same time.
    Returned,
    /// Given to code that nobody can see. Where the program frees what the place holds it has kept nothing.
    Lent,
    Freed,
    Moved,
}

/// Names that mean different structures in different units (the programs of one build): what is done to the fields of the one says
/// nothing of the other.
fn names_of_several(program: &Program) -> FxHashSet<StrId> {
    let mut known: FxHashMap<StrId, Vec<(StrId, u64)>> = FxHashMap::default();
    let mut several = FxHashSet::default();
    for ty in program.di_types.iter() {
        // A structure without a tag goes by its typedef.
        let (ty, alias) = match ty {
            DiType::Typedef { name, of: Some(of) } => (&program.di_types[*of], Some(*name)),
            ty => (ty, None),
        };
        let DiType::Struct { name, members, .. } = ty else {
            continue;
        };
        let Some(name) = name.or(alias).filter(|_| !members.is_empty()) else {
            continue;
        };
        let shape: Vec<_> = members.iter().map(|m| (m.name, m.offset)).collect();
        if known.entry(name).or_insert_with(|| shape.clone()) != &shape {
            several.insert(name);
        }
    }
    several
}

/// What the program does with places.
#[derive(Default)]
pub struct Facts {
    pub made: BTreeMap<Place, Vec<Made>>,
    /// New blocks by the structure that they are.
    pub made_structures: BTreeMap<StrId, Vec<Made>>,
    /// Functions that free what a place holds.
    pub freed: FxHashMap<Place, FxHashSet<FuncId>>,
    /// Functions that call somebody who, by its summary, frees what a place holds.
    pub freed_by_calls: FxHashMap<Place, Vec<(FuncId, InstId)>>,
    pub moved: FxHashSet<Place>,
    pub lent: FxHashSet<Place>,
    /// Functions that put something into a place.
    pub stored: FxHashMap<Place, FxHashSet<FuncId>>,
    /// Places that also get what is neither null nor a new block of their own.
    pub borrowing: FxHashSet<Place>,
    /// Places that also get the address of a variable or of a text: who frees such a structure, and not the field, may have one of those.
    pub fixed: FxHashSet<Place>,
    /// Parameters that are put into a place, by the store.
    pub handed: Vec<(Place, FuncId, u16, InstId)>,
    /// Parameters that are always new blocks, which nobody else has.
    pub own_parameters: FxHashSet<(FuncId, u16)>,
    /// Functions that put null into a place.
    pub emptied: FxHashMap<Place, FxHashSet<FuncId>>,
    /// Other places that hold the same for a while: `stream->next = state->buffer`.
    pub aliases: FxHashMap<Place, FxHashSet<Place>>,
    /// Structures that are copied or walked as bytes.
    pub opaque: FxHashSet<StrId>,
    /// Structures some field of which is freed by a callee that has too many of them to tell which, and who calls that.
    pub vague: FxHashMap<StrId, FxHashSet<FuncId>>,
    /// Names that several structures have.
    pub ambiguous: FxHashSet<StrId>,
    /// Where structures are freed, the first place of each function.
    pub released: FxHashMap<StrId, Vec<Release>>,
    /// The same for arrays that a field points to.
    pub released_arrays: FxHashMap<Field, Vec<Release>>,
}

impl Facts {
    /// What is known of variables and structures before any function is looked at.
    pub fn of_declarations(program: &Program) -> Facts {
        let mut facts = Facts {
            ambiguous: names_of_several(program),
            ..Facts::default()
        };
        for (id, global) in program.globals.iter_enumerated() {
            if !matches!(global.init, Init::Zero) {
                facts.borrowing.insert(Place::Variable(id));
            }
            if let Init::Slots { slots, .. } = &global.init {
                // Tables of variables: whoever has the table reads and writes them.
                let variables = slots.iter().filter_map(|(_, scalar)| match scalar {
                    Scalar::Global { global, .. } => Some(Place::Variable(*global)),
                    _ => None,
                });
                facts.borrowing.extend(variables);
            }
        }
        facts
    }

    /// The place gets something that is not its own.
    pub fn borrow(&mut self, view: &View<'_, '_>, place: Place, inst: InstId) {
        if self.borrowing.insert(place) {
            let program = view.context.program;
            let at = position_in(program, view.func, view.body, inst);
            tracing::trace!(
                place = place.text(program),
                function = at.function,
                line = at.line,
                "borrows"
            );
        }
    }

    /// Other places hold the same for a while, or point into it.
    pub fn point_into(&mut self, place: Place, cursors: FxHashSet<Place>) {
        if !cursors.is_empty() {
            self.aliases.entry(place).or_default().extend(cursors);
        }
    }

    pub fn take(&mut self, place: Place, taking: Taking, func: FuncId) {
        match taking {
            Taking::Freed => {
                self.freed.entry(place).or_default().insert(func);
            }
            Taking::Moved => {
                self.moved.insert(place);
            }
            Taking::Lent | Taking::Returned => {
                self.lent.insert(place);
            }
        }
    }

    /// What is known of each place that gets new blocks, for `DRIP_LOG=drip_engines=trace`.
    pub fn trace(&self, program: &Program) {
        for (&place, made) in &self.made {
            let freed = self.freed.get(&place).into_iter().flatten();
            let freed: Vec<&str> = freed.map(|&func| program.func_name(func)).collect();
            let aliases = self.aliases.get(&place).into_iter().flatten();
            let aliases: Vec<String> = aliases.map(|alias| alias.text(program)).collect();
            tracing::trace!(
                place = place.text(program),
                made = made.len(),
                ?freed,
                ?aliases,
                moved = self.moved.contains(&place),
                borrows = self.borrowing.contains(&place),
                out_of_sight = self.is_out_of_sight(place),
                "place"
            );
        }
    }

    /// Who calls a function that frees the field itself does so by that function, which is found among those it calls. Where nobody
    /// is found, the field is freed by somebody who sees the structure as something else.
    pub fn settle_calls(&mut self, context: &CallContext<'_>) {
        let graph = &context.graph.graph;
        // One call frees many fields.
        let mut seen_by: FxHashMap<(FuncId, InstId), FxHashSet<FuncId>> = FxHashMap::default();
        for (place, calls) in std::mem::take(&mut self.freed_by_calls) {
            let freeing = self.freed.entry(place).or_default();
            let mut unseen: Vec<FuncId> = Vec::new();
            for (func, call) in calls {
                let seen = seen_by.entry((func, call)).or_insert_with(|| {
                    let callees = match context.graph.callees(func, call) {
                        Callees::Known(callees) => callees.as_slice(),
                        _ => &[],
                    };
                    below(graph, callees, MAX_DEPTH_OF_CALLS)
                });
                if !freeing.iter().any(|known| seen.contains(known)) {
                    unseen.push(func);
                }
            }
            freeing.extend(unseen);
        }
        self.freed.retain(|_, freeing| !freeing.is_empty());
    }

    /// May what the place holds be somewhere else, and be freed there? What other places hold for a while is the field's own as long as
    /// nobody frees it by them. Whoever frees what the place holds says that it is the owner: then it does not matter what
    /// unknown code gets to see, nor where others keep a cursor.
    pub fn is_out_of_sight(&self, place: Place) -> bool {
        let is_claimed = self.freed.contains_key(&place);
        let is_hidden = |s: StrId| {
            let is_vague = !is_claimed && self.vague.contains_key(&s);
            is_vague || self.opaque.contains(&s) || self.ambiguous.contains(&s)
        };
        let mut seen = FxHashSet::from_iter([place]);
        let mut open = vec![place];
        while let Some(next) = open.pop() {
            let is_other = next != place;
            let is_freed_elsewhere = is_other && self.freed.contains_key(&next);
            let is_gone = match (is_claimed, is_other) {
                (true, true) => false,
                (true, false) => self.moved.contains(&next),
                (false, _) => self.moved.contains(&next) || self.lent.contains(&next),
            };
            let is_opaque = next.structure().is_some_and(is_hidden) && !(is_claimed && is_other);
            if is_gone || is_opaque || is_freed_elsewhere {
                return true;
            }
            let aliases = self.aliases.get(&next).into_iter().flatten();
            open.extend(aliases.copied().filter(|&alias| seen.insert(alias)));
        }
        false
    }

    /// May the field be among those that are freed here, nobody can tell which? Whoever frees a structure around such a one is not
    /// looked at: nothing says that this part of it is ever filled.
    fn may_be_among_freed(&self, place: Place, release: &Release) -> bool {
        let calling = place.structure().and_then(|name| self.vague.get(&name));
        calling.is_some_and(|calling| release.is_around || calling.contains(&release.func))
    }

    /// Does the place hold nothing but new blocks of its own, which nobody else knows?
    pub fn is_owner(&self, place: Place) -> bool {
        let has_cursors = self.aliases.contains_key(&place) && !self.freed.contains_key(&place);
        !self.borrowing.contains(&place) && !has_cursors && !self.is_out_of_sight(place)
    }

    /// Does a function put null into the place on some way?
    pub fn is_emptied_by(&self, place: Place, func: FuncId) -> bool {
        let emptied = self.emptied.get(&place);
        emptied.is_some_and(|funcs| funcs.contains(&func))
    }

    /// Does a function put new blocks into the place, and never null?
    pub fn is_replaced_by(&self, place: Place, func: FuncId) -> bool {
        let mut made = self.made.get(&place).into_iter().flatten();
        made.any(|made| made.0 == func) && !self.is_emptied_by(place, func)
    }

    /// Functions that may leave the place empty: they free or take what it holds and put nothing else there.
    pub fn emptying(&self, place: Place) -> FxHashSet<FuncId> {
        let mut emptying: FxHashSet<FuncId> = FxHashSet::default();
        emptying.extend(self.freed.get(&place).into_iter().flatten());
        emptying.extend(self.stored.get(&place).into_iter().flatten());
        // Who replaces the block leaves another one there.
        for made in self.made.get(&place).into_iter().flatten() {
            emptying.remove(&made.0);
        }
        emptying
    }

    /// Does a function free what several other fields of the structure hold, by itself or by those that it calls?
    fn frees_others(&self, context: &CallContext<'_>, place: Place, func: FuncId) -> bool {
        let reached = below(&context.graph.graph, &[func], MAX_DEPTH_OF_DESTRUCTORS);
        let is_other = |other: &Place| other.structure() == place.structure() && *other != place;
        let others = self.freed.iter().filter(|(other, _)| is_other(other));
        let freed = others.filter(|(_, funcs)| funcs.iter().any(|func| reached.contains(func)));
        freed.count() >= MIN_OTHER_FIELDS
    }

    /// Is an array freed by one function without what it holds, and do all others who free such an array free that?
    fn is_only_one(&self, place: Place, func: FuncId) -> bool {
        let (Place::Elements(field), Some(freeing)) = (place, self.freed.get(&place)) else {
            return false;
        };
        let releases = self.released_arrays.get(&field).into_iter().flatten();
        let mut others = releases.filter(|other| other.func != func).peekable();
        others.peek().is_some() && others.all(|other| freeing.contains(&other.func))
    }

    /// Are there structures of two kinds under one name: one maker fills the field by itself, and of another one neither those whom it calls
    /// nor those who call it do? Which of them is freed somewhere nobody can say. A constructor of all kinds, which others call for each
    /// (`node_new` for `leaf_new` and `inner_new`), is none of them.
    pub fn is_empty_in_some(&self, context: &CallContext<'_>, place: Place) -> bool {
        let makers = place
            .structure()
            .and_then(|name| self.made_structures.get(&name));
        let Some(stored) = self.stored.get(&place) else {
            return false;
        };
        let graph = &context.graph.graph;
        let fills_near = |maker: FuncId| {
            let below = below(graph, &[maker], MAX_DEPTH_OF_DESTRUCTORS);
            let is_called_by = |func: &FuncId| graph.succs(*func).contains(&maker);
            stored
                .iter()
                .any(|func| below.contains(func) || is_called_by(func))
        };
        let made = makers.map_or(&[][..], Vec::as_slice);
        let all: FxHashSet<FuncId> = made.iter().map(|made| made.0).collect();
        // What is called for a new structure hands it on.
        let called = made
            .iter()
            .map(|made| context.graph.callees(made.0, made.1));
        let constructors: FxHashSet<FuncId> = called
            .filter_map(|callees| match callees {
                Callees::Known(callees) => Some(callees.iter().copied()),
                _ => None,
            })
            .flatten()
            .collect();
        let is_common = |maker: FuncId| {
            let callers = (0..graph.len()).map(FuncId::new);
            let mut callers = callers
                .filter(|&caller| graph.succs(caller).contains(&maker))
                .peekable();
            callers.peek().is_some()
                && callers.all(|caller| caller != maker && constructors.contains(&caller))
        };
        all.iter().any(|maker| stored.contains(maker))
            && all
                .iter()
                .any(|&maker| !fills_near(maker) && !is_common(maker))
    }

    /// The free that forgets what the place holds.
    pub fn forgetting(
        &self,
        context: &CallContext<'_>,
        programs: &Programs,
        kinds: &Kinds,
        place: Place,
    ) -> Option<Release> {
        let made = self.made.get(&place)?;
        let places = match place {
            Place::Field(field) => self.released.get(&field.0),
            Place::Elements(field) if !self.moved.contains(&Place::Field(field)) => {
                self.released_arrays.get(&field)
            }
            Place::Elements(_) | Place::Variable(_) => None,
        };
        if self.is_out_of_sight(place) {
            return None;
        }
        // What becomes of a structure in the function that makes its parts is seen there, path by path.
        let is_maker = |func: FuncId| made.iter().any(|made| made.0 == func);
        // So is what becomes of the structure in the function that makes it.
        let makers = place
            .structure()
            .and_then(|name| self.made_structures.get(&name));
        let is_made_in = |release: &Release| {
            let mut makers = makers.into_iter().flatten();
            !release.is_parameter && makers.any(|made| made.0 == release.func)
        };
        let places = places.into_iter().flatten();
        let can_lose =
            |release: &&Release| made.iter().any(|made| programs.share(made.0, release.func));
        let places = places.filter(can_lose);
        let mut places =
            places.filter(|place| place.is_by_name && !is_maker(place.func) && !is_made_in(place));
        match self.freed.get(&place) {
            None if self.is_empty_in_some(context, place) => None,
            None => places.find(|release| !release.is_new).copied(),
            Some(_) if self.fixed.contains(&place) => None,
            Some(freeing) if is_brief(context, made, freeing) => None,
            Some(freeing) => places
                .find(|release| {
                    // A destructor leaves none of the fields to those who set them.
                    let is_thorough = self.frees_others(context, place, release.func);
                    let replaces = |func| self.is_replaced_by(place, func);
                    let sets = |func| is_thorough && is_maker(func);
                    (release.is_parameter || self.is_only_one(place, release.func))
                        && !self.may_be_among_freed(place, release)
                        && !is_destroyed_apart(context.program, release.func, freeing)
                        && !asks_somebody(context, release.func, release.call)
                        && !kinds.is_of_others(context, release.func, made, freeing)
                        && !is_cared_for(context, release.func, freeing, replaces, sets)
                })
                .copied(),
        }
    }
}

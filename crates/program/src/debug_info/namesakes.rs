//! Which structures have the same name and are not the same?
//!
//! Analyses know a structure by its name, in all units. A name that two source files give to structures of their own, each for itself, means two:
//! they are named after their files as well (`state@input.c`), so that what is done to the one says nothing of the other. Asked for is
//! that the members differ and that the files do; one header, read with other macros, makes one structure of several shapes, and those
//! keep their name. So do names that some unit only declares: nobody can tell which one is meant there.

use std::collections::BTreeMap;

use drip_base::IndexVec;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::*;
use crate::model::{DiType, Strings};

/// Stands between a structure's name and the file; no name has it.
pub const OF_FILE: char = '@';

/// The name that the source gives to a structure.
pub fn name_in_source(name: &str) -> &str {
    name.split_once(OF_FILE).map_or(name, |(name, _)| name)
}

/// A structure or a typedef: its name, a structure's file, its number.
pub(super) type Definition = (Option<StrId>, Box<str>, DiTypeId);

/// Names and offsets of members.
type Shape = Vec<(StrId, u64)>;

/// The definitions of one name, by shape, with their files.
type Shapes<'a> = BTreeMap<Shape, Vec<(&'a str, DiTypeId)>>;

/// Renames structures that only share their name.
pub(super) fn tell_apart(
    table: &mut IndexVec<DiTypeId, DiType>,
    defined: &[Definition],
    declared: &FxHashSet<StrId>,
    strings: &mut Strings,
) {
    let files = defined.iter().map(|(_, file, number)| (*number, &**file));
    let files: FxHashMap<DiTypeId, &str> = files.collect();
    let mut by_name: BTreeMap<StrId, Shapes<'_>> = BTreeMap::new();
    for &(name, _, number) in defined {
        if let Some(name) = name.filter(|name| !declared.contains(name))
            && let Some((structure, shape)) = shape(table, number)
            && let Some(&file) = files.get(&structure)
        {
            let shapes = by_name.entry(name).or_default();
            shapes.entry(shape).or_default().push((file, number));
        }
    }
    for (name, shapes) in by_name {
        if shapes.len() < 2 || !have_own_files(shapes.values()) {
            continue;
        }
        for same in shapes.values() {
            let file = same.iter().map(|(file, _)| last_part(file)).min();
            let new = format!("{}{OF_FILE}{}", strings.get(name), file.unwrap_or_default());
            let new = strings.intern(&new);
            for &(_, number) in same {
                match &mut table[number] {
                    DiType::Struct { name, .. } => *name = Some(new),
                    DiType::Typedef { name, .. } => *name = new,
                    _ => {}
                }
            }
        }
    }
}

/// The members of a structure, or of the one without a tag that a typedef names.
fn shape(table: &IndexVec<DiTypeId, DiType>, number: DiTypeId) -> Option<(DiTypeId, Shape)> {
    let (number, is_alias) = match &table[number] {
        DiType::Typedef { of, .. } => ((*of)?, true),
        _ => (number, false),
    };
    match &table[number] {
        DiType::Struct { members, name, .. }
            if !members.is_empty() && name.is_none() == is_alias =>
        {
            let shape = members.iter().map(|m| (m.name, m.offset)).collect();
            Some((number, shape))
        }
        _ => None,
    }
}

/// Is no file that one shape comes from a file of another one, under whatever path?
fn have_own_files<'a>(shapes: impl Iterator<Item = &'a Vec<(&'a str, DiTypeId)>>) -> bool {
    let mut known: FxHashSet<&str> = FxHashSet::default();
    for same in shapes {
        let files: FxHashSet<&str> = same.iter().map(|(file, _)| last_part(file)).collect();
        if files.iter().any(|file| !known.insert(file)) {
            return false;
        }
    }
    true
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

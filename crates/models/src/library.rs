//! Library models: TOML data → summaries by function name.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::sync::Arc;

use crate::qualified::Qualified;
use crate::summary::{Family, GlobalSet, Summary, TextResult};
use crate::text::{TextError, parse_summary};

/// Models compiled into the binary.
const BUILTIN: &[(&str, &str)] = &[
    ("alloc.toml", include_str!("../library/alloc.toml")),
    ("string.toml", include_str!("../library/string.toml")),
    ("stdio.toml", include_str!("../library/stdio.toml")),
    ("posix.toml", include_str!("../library/posix.toml")),
    ("process.toml", include_str!("../library/process.toml")),
    ("cxx.toml", include_str!("../library/cxx.toml")),
    (
        "containers.toml",
        include_str!("../library/containers.toml"),
    ),
    ("glib.toml", include_str!("../library/glib.toml")),
    ("crypto.toml", include_str!("../library/crypto.toml")),
];

/// Models that replace built-in ones where streams and directories are to be followed like memory.
const RESOURCES: (&str, &str) = ("resources.toml", include_str!("../library/resources.toml"));

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{file}: {source}")]
    Toml {
        file: String,
        source: toml::de::Error,
    },
    #[error("{file}: model of `{name}`: `{outcome}`: {source}")]
    Outcome {
        file: String,
        name: String,
        outcome: String,
        source: TextError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    #[serde(default)]
    model: Vec<ModelEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    /// Symbols; one that ends in `*` means all symbols that begin like this. With `::` it is a C++ function without template
    /// arguments, with or without its parameters ([`Qualified`]), or all of a class (`std::list::*`).
    names: Vec<String>,
    /// Only for class templates over plain pointers, and instead of what the header's code does.
    #[serde(default)]
    of_pointers: bool,
    /// Deallocator family of what it makes or frees; `malloc` unless said.
    #[serde(default)]
    family: Option<String>,
    /// Outcomes in the language of [`crate::text`]; none: never returns.
    #[serde(default)]
    outcomes: Vec<String>,
    #[serde(default)]
    pure: bool,
    /// The argument whose length as a text it returns.
    #[serde(default)]
    length_of: Option<u16>,
    /// The argument that is a format; it returns the length of what it prints.
    #[serde(default)]
    prints: Option<u16>,
    #[serde(default)]
    never_returns: bool,
    #[serde(default)]
    may_throw: bool,
    /// A program may have a function of its own by this name, which then means what its body does.
    #[serde(default)]
    yields_to_body: bool,
}

/// Names of deallocator families, by [`Family`].
#[derive(Clone, Debug, Default)]
pub struct Families {
    names: Vec<String>,
}

impl Families {
    pub fn intern(&mut self, name: &str) -> Family {
        match self.names.iter().position(|n| n == name) {
            Some(at) => Family(at as u16),
            None => {
                self.names.push(name.to_owned());
                Family((self.names.len() - 1) as u16)
            }
        }
    }

    pub fn name(&self, family: Family) -> &str {
        self.names
            .get(usize::from(family.0))
            .map_or("malloc", String::as_str)
    }
}

#[derive(Clone, Debug)]
struct QualifiedModel {
    summary: Arc<Summary>,
    of_pointers: bool,
}

/// All models that are known by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    by_name: FxHashMap<String, Arc<Summary>>,
    /// Models of all symbols that begin with a text; the longest text counts.
    by_prefix: Vec<(String, Arc<Summary>)>,
    /// Models of C++ functions by their names in the source.
    by_qualified: FxHashMap<String, QualifiedModel>,
    yielding: FxHashSet<String>,
    pub families: Families,
}

impl Library {
    /// The models that come with drip.
    pub fn builtin() -> Result<Library, ModelError> {
        let mut library = Library::default();
        library.families.intern("malloc");
        for (file, text) in BUILTIN {
            library.add(file, text)?;
        }
        Ok(library)
    }

    /// From now on what `fopen`, `opendir` and their like give has to be closed.
    pub fn add_resources(&mut self) -> Result<(), ModelError> {
        let (file, text) = RESOURCES;
        self.add(file, text)
    }

    /// Adds the models of one TOML text; later ones replace earlier ones.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), ModelError> {
        let parsed: ModelFile = toml::from_str(text).map_err(|source| ModelError::Toml {
            file: file.to_owned(),
            source,
        })?;
        for entry in parsed.model {
            let family = self
                .families
                .intern(entry.family.as_deref().unwrap_or("malloc"));
            let mut summary = Summary::default();
            if !entry.never_returns {
                let default = ["ret = any".to_owned()];
                let outcomes = if entry.outcomes.is_empty() {
                    &default[..]
                } else {
                    &entry.outcomes[..]
                };
                let text = outcomes.join("\n");
                summary = parse_summary(&text, family).map_err(|source| ModelError::Outcome {
                    file: file.to_owned(),
                    name: entry.names.join(", "),
                    outcome: text.clone(),
                    source,
                })?;
            }
            summary.pure = entry.pure;
            summary.text = match (entry.length_of, entry.prints) {
                (Some(n), _) => TextResult::Length(n),
                (None, Some(n)) => TextResult::Printed(n),
                (None, None) => TextResult::Nothing,
            };
            summary.may_throw = entry.may_throw;
            if entry.may_throw {
                summary.thrown = GlobalSet::All;
            }
            let summary = Arc::new(summary);
            for name in entry.names {
                if name.contains("::") {
                    let model = QualifiedModel {
                        summary: Arc::clone(&summary),
                        of_pointers: entry.of_pointers,
                    };
                    self.by_qualified.insert(name, model);
                    continue;
                }
                match entry.yields_to_body {
                    true => self.yielding.insert(name.clone()),
                    false => self.yielding.remove(&name),
                };
                match name.strip_suffix('*') {
                    Some(start) => {
                        self.by_prefix.retain(|(known, _)| known != start);
                        self.by_prefix
                            .push((start.to_owned(), Arc::clone(&summary)));
                    }
                    None => {
                        self.by_name.insert(name, Arc::clone(&summary));
                    }
                }
            }
        }
        self.by_prefix
            .sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
        Ok(())
    }

    /// The model of a symbol; or of a C++ function by its name as the model has it.
    pub fn find(&self, name: &str) -> Option<&Arc<Summary>> {
        if let Some(model) = self.by_qualified.get(name) {
            return Some(&model.summary);
        }
        self.by_name.get(name).or_else(|| {
            let begins = |(start, _): &&(String, Arc<Summary>)| name.starts_with(start.as_str());
            self.by_prefix.iter().find(begins).map(|(_, model)| model)
        })
    }

    /// Is a program's own function of this name taken by its body, whatever the model says?
    pub fn yields_to_body(&self, name: &str) -> bool {
        self.yielding.contains(name)
    }

    /// The model of a C++ function by its name in the source, and whether it replaces the code that a header brings.
    pub fn find_qualified(&self, symbol: &str) -> Option<(&Arc<Summary>, bool)> {
        let function = Qualified::of(symbol)?;
        let all_of_class = format!("{}::*", function.scope());
        let names = [&function.signature, function.name(), &all_of_class];
        let model = names.iter().find_map(|name| self.by_qualified.get(*name))?;
        let fits = !model.of_pointers || function.holds_pointers;
        fits.then_some((&model.summary, model.of_pointers))
    }

    /// Symbols that have a model of their own, sorted; those known by their beginning are not among them.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Beginnings of symbols that have a model, each with a `*` behind it, and C++ functions by their names in the source; sorted.
    pub fn patterns(&self) -> Vec<String> {
        let mut patterns: Vec<String> = self
            .by_prefix
            .iter()
            .map(|(start, _)| format!("{start}*"))
            .chain(self.by_qualified.keys().cloned())
            .collect();
        patterns.sort_unstable();
        patterns
    }
}

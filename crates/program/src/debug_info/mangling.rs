//! Which parameters of a C++ function point to const, by its mangled name alone (Itanium C++ ABI)?
//!
//! For functions without debug info. Reads plain names, nested names and parameter types up to the first construct that it
//! does not know (templates, substitutions inside names); parameters from there on count as unknown.

/// One entry per parameter of the source that could be read: is it a pointer or reference to const?
pub(crate) fn pointee_const(name: &str) -> Vec<bool> {
    let Some(rest) = name.strip_prefix("_Z") else {
        return Vec::new();
    };
    let mut reader = Reader {
        rest: rest.as_bytes(),
    };
    let mut params = Vec::new();
    if reader.name().is_none() {
        return params;
    }
    while !reader.rest.is_empty() {
        match reader.param() {
            Some(Param::Void) | None => break,
            Some(Param::Type { to_const }) => params.push(to_const),
        }
    }
    params
}

struct Reader<'a> {
    rest: &'a [u8],
}

enum Param {
    Void,
    Type { to_const: bool },
}

impl Reader<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// `<length> <identifier>`
    fn source_name(&mut self) -> Option<()> {
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let len: usize = std::str::from_utf8(&self.rest[..digits])
            .ok()?
            .parse()
            .ok()?;
        self.rest = self.rest.get(digits.checked_add(len)?..)?;
        Some(())
    }

    /// A function's name: plain, in `std::`, or nested.
    fn name(&mut self) -> Option<()> {
        if self.eat(b'N') {
            return self.nested();
        }
        self.rest = self.rest.strip_prefix(b"St").unwrap_or(self.rest);
        self.source_name()
    }

    /// `N [K] <name>+ [C1|D1…] E`
    fn nested(&mut self) -> Option<()> {
        while self.eat(b'K') || self.eat(b'V') {}
        self.rest = self.rest.strip_prefix(b"St").unwrap_or(self.rest);
        loop {
            match self.rest {
                [b'E', rest @ ..] => {
                    self.rest = rest;
                    return Some(());
                }
                [b'C' | b'D', b'0'..=b'5', rest @ ..] => self.rest = rest,
                _ => self.source_name()?,
            }
        }
    }

    fn param(&mut self) -> Option<Param> {
        let mut is_pointer = false;
        let mut to_const = false;
        loop {
            match self.rest.first()? {
                b'P' | b'R' | b'O' => {
                    // Only the outermost pointee counts.
                    to_const = !is_pointer && self.rest.get(1) == Some(&b'K');
                    if is_pointer {
                        to_const = false;
                    }
                    is_pointer = true;
                    self.rest = &self.rest[1..];
                    if to_const {
                        self.rest = &self.rest[1..];
                        self.plain_type()?;
                        return Some(Param::Type { to_const });
                    }
                }
                b'K' | b'V' | b'r' => self.rest = &self.rest[1..],
                b'v' if !is_pointer => return Some(Param::Void),
                _ => {
                    self.plain_type()?;
                    return Some(Param::Type { to_const });
                }
            }
        }
    }

    /// Any type up to its end.
    fn plain_type(&mut self) -> Option<()> {
        while matches!(self.rest.first()?, b'P' | b'R' | b'O' | b'K' | b'V' | b'r') {
            self.rest = &self.rest[1..];
        }
        match self.rest {
            [b'0'..=b'9', ..] => self.source_name(),
            [b'N', rest @ ..] => {
                self.rest = rest;
                self.nested()
            }
            // Substitutions of one character, and those with a name of their own.
            [
                b'S',
                b'a' | b'b' | b's' | b'i' | b'o' | b'd' | b'_',
                rest @ ..,
            ] => {
                self.rest = rest;
                Some(())
            }
            [b'S', b'0'..=b'9' | b'A'..=b'Z', b'_', rest @ ..] => {
                self.rest = rest;
                Some(())
            }
            [b'S', b't', rest @ ..] => {
                self.rest = rest;
                self.source_name()
            }
            [b'a'..=b'z', rest @ ..]
                if !matches!(self.rest[0], b'u' | b'p' | b'k' | b'q' | b'r') =>
            {
                self.rest = rest;
                Some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pointee_const;

    #[test]
    fn plain_functions() {
        assert_eq!(pointee_const("_Z4takePKcPci"), [true, false, false]);
        assert_eq!(pointee_const("_Z1fv"), [false; 0]);
        assert_eq!(pointee_const("_Z1gRK3FooPPKc"), [true, false]);
        assert_eq!(pointee_const("malloc"), [false; 0]);
    }

    #[test]
    fn methods_and_namespaces() {
        assert_eq!(pointee_const("_ZN3Foo3barEPKv"), [true]);
        assert_eq!(pointee_const("_ZNK2ns3Foo3bazERKSsS1_"), [true, false]);
        assert_eq!(pointee_const("_ZN3FooC1EPKcj"), [true, false]);
    }

    #[test]
    fn reading_stops_at_what_is_unknown() {
        assert_eq!(pointee_const("_Z1fPKcSt6vectorIiE"), [true, false]);
        assert_eq!(pointee_const("_Z1fI3FooEvT_"), [false; 0]);
        assert_eq!(pointee_const("_Z99x"), [false; 0]);
        assert_eq!(pointee_const("_Z"), [false; 0]);
    }
}

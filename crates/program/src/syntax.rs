//! The spelling of the textual form: one table of words per vocabulary, and the quoting of strings. Printer and parser
//! both read it, so they cannot disagree.

use crate::body::{BinaryOp, CallFlags, CastOp, CmpPred, Op, RmwOp};
use crate::model::{FuncAttrs, Language, Linkage, ParamAttrs};
use crate::types::Type;

/// A vocabulary: each word with what it stands for. No word and no meaning occurs twice.
pub type Words<T> = [(&'static str, T)];

/// The word for a meaning.
pub fn word_of<T: PartialEq>(words: &Words<T>, meaning: T) -> &'static str {
    words
        .iter()
        .find(|(_, m)| *m == meaning)
        .map_or("?", |(word, _)| word)
}

/// The meaning of a word.
pub fn meaning_of<T: Copy>(words: &Words<T>, word: &str) -> Option<T> {
    words
        .iter()
        .find(|(w, _)| *w == word)
        .map(|(_, meaning)| *meaning)
}

pub const BINARY: &Words<BinaryOp> = &[
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("udiv", BinaryOp::UDiv),
    ("sdiv", BinaryOp::SDiv),
    ("urem", BinaryOp::URem),
    ("srem", BinaryOp::SRem),
    ("shl", BinaryOp::Shl),
    ("lshr", BinaryOp::LShr),
    ("ashr", BinaryOp::AShr),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("fadd", BinaryOp::FAdd),
    ("fsub", BinaryOp::FSub),
    ("fmul", BinaryOp::FMul),
    ("fdiv", BinaryOp::FDiv),
    ("frem", BinaryOp::FRem),
];

pub const CAST: &Words<CastOp> = &[
    ("trunc", CastOp::Trunc),
    ("zext", CastOp::ZExt),
    ("sext", CastOp::SExt),
    ("ptrtoint", CastOp::PtrToInt),
    ("inttoptr", CastOp::IntToPtr),
    ("bitcast", CastOp::Bitcast),
    ("fptrunc", CastOp::FpTrunc),
    ("fpext", CastOp::FpExt),
    ("fptoui", CastOp::FpToUi),
    ("fptosi", CastOp::FpToSi),
    ("uitofp", CastOp::UiToFp),
    ("sitofp", CastOp::SiToFp),
];

/// Predicates of `cmp`; those of `fcmp` are [`FLOAT_CMP`].
pub const CMP: &Words<CmpPred> = &[
    ("eq", CmpPred::Eq),
    ("ne", CmpPred::Ne),
    ("ugt", CmpPred::Ugt),
    ("uge", CmpPred::Uge),
    ("ult", CmpPred::Ult),
    ("ule", CmpPred::Ule),
    ("sgt", CmpPred::Sgt),
    ("sge", CmpPred::Sge),
    ("slt", CmpPred::Slt),
    ("sle", CmpPred::Sle),
];

/// Predicates of `fcmp` with LLVM's numbers.
pub const FLOAT_CMP: &Words<u8> = &[
    ("false", 0),
    ("oeq", 1),
    ("ogt", 2),
    ("oge", 3),
    ("olt", 4),
    ("ole", 5),
    ("one", 6),
    ("ord", 7),
    ("uno", 8),
    ("ueq", 9),
    ("ugt", 10),
    ("uge", 11),
    ("ult", 12),
    ("ule", 13),
    ("une", 14),
    ("true", 15),
];

pub const RMW: &Words<RmwOp> = &[
    ("xchg", RmwOp::Xchg),
    ("add", RmwOp::Add),
    ("sub", RmwOp::Sub),
    ("and", RmwOp::And),
    ("nand", RmwOp::Nand),
    ("or", RmwOp::Or),
    ("xor", RmwOp::Xor),
    ("max", RmwOp::Max),
    ("min", RmwOp::Min),
    ("umax", RmwOp::UMax),
    ("umin", RmwOp::UMin),
    ("other", RmwOp::Other),
];

pub const CALL_FLAGS: &Words<u8> = &[
    ("noreturn", CallFlags::NORETURN),
    ("asm", CallFlags::ASM),
    ("nounwind", CallFlags::NOUNWIND),
    ("readnone", CallFlags::READNONE),
    ("readonly", CallFlags::READONLY),
];

/// `VARARG` is missing: the `...` of the parameter list says it.
pub const FUNC_ATTRS: &Words<u32> = &[
    ("noreturn", FuncAttrs::NORETURN),
    ("nounwind", FuncAttrs::NOUNWIND),
    ("readnone", FuncAttrs::READNONE),
    ("readonly", FuncAttrs::READONLY),
    ("argmemonly", FuncAttrs::ARGMEMONLY),
    ("inaccessiblemem", FuncAttrs::INACCESSIBLEMEM),
    ("noalias_return", FuncAttrs::NOALIAS_RETURN),
    ("alloc", FuncAttrs::ALLOC),
    ("realloc", FuncAttrs::REALLOC),
    ("free", FuncAttrs::FREE),
    ("nonnull_return", FuncAttrs::NONNULL_RETURN),
    ("returns_twice", FuncAttrs::RETURNS_TWICE),
    ("no_prototype", FuncAttrs::NO_PROTOTYPE),
    ("cold", FuncAttrs::COLD),
    ("address_taken", FuncAttrs::ADDRESS_TAKEN),
    ("constructor", FuncAttrs::CONSTRUCTOR),
];

pub const PARAM_ATTRS: &Words<u16> = &[
    ("nocapture", ParamAttrs::NOCAPTURE),
    ("readonly", ParamAttrs::READONLY),
    ("readnone", ParamAttrs::READNONE),
    ("writeonly", ParamAttrs::WRITEONLY),
    ("returned", ParamAttrs::RETURNED),
    ("nonnull", ParamAttrs::NONNULL),
    ("noalias", ParamAttrs::NOALIAS),
    ("sret", ParamAttrs::SRET),
    ("byval", ParamAttrs::BYVAL),
    ("allocptr", ParamAttrs::ALLOCPTR),
    ("pointee_const", ParamAttrs::POINTEE_CONST),
];

pub const LINKAGE: &Words<Linkage> = &[
    ("external", Linkage::External),
    ("weak", Linkage::Weak),
    ("internal", Linkage::Internal),
];

pub const LANGUAGE: &Words<Language> = &[
    ("c", Language::C),
    ("cxx", Language::Cxx),
    ("other", Language::Other),
];

/// Type of an operation's result where the text of the operation doesn't name it.
pub fn fixed_type(op: &Op) -> Option<Type> {
    match op {
        Op::Alloca { .. } | Op::PtrAdd { .. } => Some(Type::Ptr),
        Op::Cmp { .. } => Some(Type::Int(1)),
        Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. } | Op::Bind { .. } => {
            Some(Type::Void)
        }
        Op::Invoke { .. } | Op::CallBr { .. } => None,
        op if op.is_terminator() => Some(Type::Void),
        _ => None,
    }
}

/// Can `name` stand behind `@` or `%` without quotes? (A leading digit can't: `%0` names a literal struct.)
pub fn is_plain_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_name_start) && bytes.all(is_name_byte)
}

pub fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'$')
}

pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

/// Writes `bytes` between quotes. Printable ASCII stands for itself; `text` leaves other UTF-8 characters as they are,
/// otherwise every byte from 0x80 is escaped.
pub fn quote(out: &mut String, bytes: &[u8], text: bool) {
    out.push('"');
    match std::str::from_utf8(bytes) {
        Ok(chars) if text => {
            for c in chars.chars() {
                match c {
                    c if c.is_ascii() => quote_byte(out, c as u8),
                    c => out.push(c),
                }
            }
        }
        _ => bytes.iter().for_each(|&byte| quote_byte(out, byte)),
    }
    out.push('"');
}

fn quote_byte(out: &mut String, byte: u8) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\t' => out.push_str("\\t"),
        b' '..=b'~' => out.push(byte as char),
        _ => {
            out.push_str("\\x");
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
    }
}

/// Undoes [`quote`] on what stands between the quotes; the error is the byte position of a bad escape.
pub fn unquote(raw: &str) -> Result<Vec<u8>, usize> {
    let bytes = raw.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let (value, len) = match bytes.get(at + 1) {
            Some(b'"') => (b'"', 2),
            Some(b'\\') => (b'\\', 2),
            Some(b'n') => (b'\n', 2),
            Some(b't') => (b'\t', 2),
            Some(b'x') => {
                let digits = bytes.get(at + 2..at + 4).ok_or(at)?;
                let value = digits.iter().try_fold(0, |value, &digit| {
                    Some(value << 4 | (digit as char).to_digit(16)?)
                });
                (value.and_then(|v| u8::try_from(v).ok()).ok_or(at)?, 4)
            }
            _ => return Err(at),
        };
        out.push(value);
        at += len;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_survives_every_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut out = String::new();
        quote(&mut out, &bytes, false);
        assert!(out.is_ascii());
        assert_eq!(unquote(&out[1..out.len() - 1]), Ok(bytes));
    }

    #[test]
    fn text_keeps_letters_of_other_alphabets() {
        let mut out = String::new();
        quote(&mut out, "naïve\n\"λ\"".as_bytes(), true);
        assert_eq!(out, r#""naïve\n\"λ\"""#);
        assert_eq!(
            unquote(&out[1..out.len() - 1]),
            Ok("naïve\n\"λ\"".as_bytes().to_vec())
        );
    }

    #[test]
    fn bad_escapes_have_a_position() {
        assert_eq!(unquote(r"ab\q"), Err(2));
        assert_eq!(unquote(r"ab\x4"), Err(2));
        assert_eq!(unquote(r"\x+1"), Err(0));
        assert_eq!(unquote("a\\xé"), Err(1));
    }

    #[test]
    fn plain_names() {
        assert!(is_plain_name(".str.1") && is_plain_name("_Z3foov"));
        assert!(!is_plain_name("") && !is_plain_name("0") && !is_plain_name("a b"));
    }

    #[test]
    fn no_word_stands_twice_in_a_vocabulary() {
        fn distinct<T: PartialEq + Copy>(words: &Words<T>) -> bool {
            words.iter().all(|&(word, meaning)| {
                meaning_of(words, word) == Some(meaning) && word_of(words, meaning) == word
            })
        }
        assert!(distinct(BINARY) && distinct(CAST) && distinct(CMP) && distinct(FLOAT_CMP));
        assert!(distinct(RMW) && distinct(CALL_FLAGS) && distinct(FUNC_ATTRS));
        assert!(distinct(PARAM_ATTRS) && distinct(LINKAGE) && distinct(LANGUAGE));
    }
}

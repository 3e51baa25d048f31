//! How are operators, characters and parentheses written in C?

use drip_program::{BinaryOp, CmpPred};

/// Without the parentheses around the whole.
pub fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    inner.filter(|t| !t.contains(['(', ')'])).unwrap_or(text)
}

/// A character literal, if it is one that can be shown.
pub fn character(bits: u64) -> Option<String> {
    match u8::try_from(bits).ok()? {
        0 => Some("'\\0'".to_owned()),
        b'\n' => Some("'\\n'".to_owned()),
        b'\t' => Some("'\\t'".to_owned()),
        b'\r' => Some("'\\r'".to_owned()),
        b'\'' => Some("'\\''".to_owned()),
        b'\\' => Some("'\\\\'".to_owned()),
        byte if byte.is_ascii_graphic() || byte == b' ' => Some(format!("'{}'", byte as char)),
        _ => None,
    }
}

/// Characters of a shown string literal; longer ones end in `…`.
const MAX_LITERAL_CHARS: usize = 24;

/// A string literal as it stands in the source; none for other bytes, and for characters that would have to be spelt.
pub fn literal(bytes: &[u8]) -> Option<String> {
    let text = bytes.strip_suffix(&[0])?;
    let is_plain =
        |byte: &u8| (byte.is_ascii_graphic() || *byte == b' ') && !b"\"\\`".contains(byte);
    if !text.iter().all(is_plain) {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    Some(match text.get(..MAX_LITERAL_CHARS) {
        Some(front) if front.len() < text.len() => format!("\"{front}…\""),
        _ => format!("\"{text}\""),
    })
}

pub fn spelling(pred: CmpPred) -> &'static str {
    match pred {
        CmpPred::Eq => "==",
        CmpPred::Ne => "!=",
        CmpPred::Ugt | CmpPred::Sgt => ">",
        CmpPred::Uge | CmpPred::Sge => ">=",
        CmpPred::Ult | CmpPred::Slt => "<",
        CmpPred::Ule | CmpPred::Sle => "<=",
        CmpPred::Float(_) => "compares to",
    }
}

pub fn negated(pred: CmpPred) -> CmpPred {
    match pred {
        CmpPred::Eq => CmpPred::Ne,
        CmpPred::Ne => CmpPred::Eq,
        CmpPred::Ugt => CmpPred::Ule,
        CmpPred::Uge => CmpPred::Ult,
        CmpPred::Ult => CmpPred::Uge,
        CmpPred::Ule => CmpPred::Ugt,
        CmpPred::Sgt => CmpPred::Sle,
        CmpPred::Sge => CmpPred::Slt,
        CmpPred::Slt => CmpPred::Sge,
        CmpPred::Sle => CmpPred::Sgt,
        CmpPred::Float(number) => CmpPred::Float(number),
    }
}

pub fn binary_spelling(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::UDiv | BinaryOp::SDiv => "/",
        BinaryOp::URem | BinaryOp::SRem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::LShr | BinaryOp::AShr => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        _ => return None,
    })
}

//! What a call brings: the type of every tensor and the value of every number, in the order of the flattened call.
//!
//! `f32[?x3x224x224],i64[2]={0 -1},int=3,none`: an element type with its sizes, maybe with its elements, a number with its value, or
//! nothing. What is an entry of a dict has its key before it, `mask:bool[2]`, of a dict in a dict both keys, `a:b:f32[2]`.

use std::fmt;
use std::str::FromStr;

/// One leaf of a call.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "explained above")]
pub enum Leaf {
    /// An element type as the IR spells it, and sizes; `None` is symbolic.
    Tensor(String, Vec<Option<i64>>),
    /// A tensor of known sizes with its elements, row-major; whole numbers and truth values are exact.
    Elements(String, Vec<i64>, Vec<f64>),
    Int(i64),
    Float(f64),
    Bool(bool),
    None,
    /// An entry of a dict: its key and what it holds.
    Entry(String, Box<Leaf>),
}

/// The leaves of a call in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signature(pub Vec<Leaf>);

/// Elements that a signature may say.
const MAX_ELEMENTS: usize = 1 << 10;
/// More dimensions than PyTorch allows.
const MAX_RANK: usize = 64;

impl FromStr for Signature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        text.split(',').map(|leaf| leaf.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Leaf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is none of f32[2x?x4], i64[2]={{0 1}}, int=3, float=0.5, bool=true and none");
        if text == "none" {
            return Ok(Self::None);
        }
        if let Some((key, leaf)) = text.split_once(':') {
            return match leaf.parse()? {
                leaf if key.is_empty() => Err(format!("`{text}` has no key before `:{leaf}`")),
                leaf => Ok(Self::Entry(key.to_owned(), Box::new(leaf))),
            };
        }
        if let Some((ty, elements)) = text.split_once("={") {
            let elements = elements.strip_suffix('}').ok_or_else(wrong)?.split_whitespace();
            let elements = elements.map(|element| element.parse().map_err(|_| wrong())).collect::<Result<Vec<f64>, _>>()?;
            let Self::Tensor(dtype, sizes) = ty.parse()? else { return Err(wrong()) };
            let sizes = sizes.into_iter().collect::<Option<Vec<i64>>>().ok_or_else(wrong)?;
            let count = sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size));
            if elements.len() > MAX_ELEMENTS || count != Some(elements.len() as i64) {
                return Err(format!(
                    "`{text}` has {} elements, which are not those of its sizes, or more than {MAX_ELEMENTS}",
                    elements.len()
                ));
            }
            return Ok(Self::Elements(dtype, sizes, elements));
        }
        if let Some((kind, value)) = text.split_once('=') {
            return match kind {
                "int" => value.parse().map(Self::Int).map_err(|_| wrong()),
                "float" => value.parse().map(Self::Float).map_err(|_| wrong()),
                "bool" => value.parse().map(Self::Bool).map_err(|_| wrong()),
                _ => Err(wrong()),
            };
        }
        let (dtype, sizes) = text.strip_suffix(']').and_then(|text| text.split_once('[')).ok_or_else(wrong)?;
        let size = |size: &str| match size {
            "?" => Ok(None),
            size => size.parse().ok().filter(|size: &i64| *size >= 0).map(Some).ok_or_else(wrong),
        };
        let sizes = if sizes.is_empty() { Vec::new() } else { sizes.split('x').map(size).collect::<Result<Vec<_>, _>>()? };
        if sizes.len() > MAX_RANK {
            return Err(format!("{} dimensions are more than {MAX_RANK}", sizes.len()));
        }
        Ok(Self::Tensor(spelling(dtype).ok_or_else(wrong)?.to_owned(), sizes))
    }
}

/// Other names of the IR's element types.
fn spelling(dtype: &str) -> Option<&'static str> {
    Some(match dtype {
        "f64" => "f64",
        "f32" => "f32",
        "f16" => "f16",
        "bf16" => "bf16",
        "i64" => "i64",
        "i32" => "i32",
        "i16" => "i16",
        "i8" => "i8",
        "u8" | "ui8" => "ui8",
        "u16" | "ui16" => "ui16",
        "u32" | "ui32" => "ui32",
        "u64" | "ui64" => "ui64",
        "bool" | "i1" => "i1",
        "c64" | "complex<f32>" => "complex<f32>",
        "c128" | "complex<f64>" => "complex<f64>",
        _ => return None,
    })
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(dtype, sizes) => {
                let sizes: Vec<_> = sizes.iter().map(|size| size.map_or("?".to_owned(), |size| size.to_string())).collect();
                write!(f, "{dtype}[{}]", sizes.join("x"))
            }
            Self::Elements(dtype, sizes, elements) => {
                let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
                let elements: Vec<_> = elements.iter().map(ToString::to_string).collect();
                write!(f, "{dtype}[{}]={{{}}}", sizes.join("x"), elements.join(" "))
            }
            Self::Int(value) => write!(f, "int={value}"),
            Self::Float(value) => write!(f, "float={value}"),
            Self::Bool(value) => write!(f, "bool={value}"),
            Self::None => f.write_str("none"),
            Self::Entry(key, leaf) => write!(f, "{key}:{leaf}"),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&leaves.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read_as_they_are_written() {
        for text in [
            "f32[?x3x224x224]",
            "i64[],int=-3,float=0.5,bool=true,none",
            "ui8[0]",
            "i64[2]={0 -1},f32[]={0.5}",
            "i64[0]={}",
            "mask:i1[2],n:int=3",
            "a:b:f32[2],a:c:f32[2]",
            "",
        ] {
            assert_eq!(text.parse::<Signature>().expect("a signature").to_string(), text);
        }
        for text in
            ["f32", "f33[2]", "f32[2", "f32[-1]", "int=x", "f32[2],,", "i64[2]={1}", "i64[?]={1}", "i64[1]={x}", ":f32[2]", "a::f32[2]"]
        {
            assert!(text.parse::<Signature>().is_err(), "{text}");
        }
    }
}

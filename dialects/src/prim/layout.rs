//! Where the dims of a convolution stand: `n01c,o01ic`-like spellings, read once for verifier, interpreter and lowerings.
//!
//! A layout is written `lhs,rhs->result`. `n` is the batch, `c` the channels, `o` the features, digits are space (and window).
//! The features of rhs may be split in panels: `O01co` has blocks of features outermost and the features of one block innermost,
//! which is the order in which a kernel with lanes along features reads them.

use strata_core::ir::Op;

/// Positions of the dims of a convolution's operands and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvLayout {
    /// Batch, channels and space of lhs.
    pub lhs: Dims,
    /// Features, channels of a group and window of rhs.
    pub rhs: Dims,
    /// Blocks of features of rhs, where it is in panels.
    pub panels: Option<usize>,
    /// Batch, features and space of the result.
    pub result: Dims,
}

/// Positions of the dims of one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Of the batch; for rhs, of the features.
    pub batch: usize,
    /// Of the channels; for the result, of the features.
    pub channel: usize,
    /// Of each spatial dim.
    pub space: Vec<usize>,
}

/// A layout that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the layout `{text}` {reason}; it is spelled like `n01c,01co->n01o`")]
pub struct LayoutError {
    text: String,
    reason: String,
}

impl ConvLayout {
    /// Batch, channels, space; features, channels, window.
    pub fn plain(space: usize) -> Self {
        let dims = Dims { batch: 0, channel: 1, space: (2..2 + space).collect() };
        Self { lhs: dims.clone(), rhs: dims.clone(), panels: None, result: dims }
    }

    /// The layout of a `prim.conv`.
    pub fn of(op: Op<'_>) -> Result<Self, LayoutError> {
        let space = op.operand(0).ty().rank().saturating_sub(2);
        op.str("layout").map_or_else(|| Ok(Self::plain(space)), |text| Self::parse(&text, space))
    }

    /// Reads a layout for a number of spatial dims.
    pub fn parse(text: &str, space: usize) -> Result<Self, LayoutError> {
        let fail = |reason: String| LayoutError { text: text.to_owned(), reason };
        let parts = text.split_once("->").and_then(|(operands, result)| Some((operands.split_once(',')?, result)));
        let ((lhs, rhs), result) = parts.ok_or_else(|| fail("is not `lhs,rhs->result`".to_owned()))?;
        let read = |part: &str, batch: char, channel: char, extra: usize| {
            let find = |letter: char| part.find(letter).ok_or_else(|| fail(format!("does not say where `{letter}` stands in `{part}`")));
            let digit = |k: usize| char::from_digit(k as u32, 10).ok_or_else(|| fail("has too many spatial dims".to_owned()));
            let space_at = (0..space).map(|k| find(digit(k)?)).collect::<Result<Vec<_>, _>>()?;
            let dims = Dims { batch: find(batch)?, channel: find(channel)?, space: space_at };
            if part.len() == space + 2 + extra {
                Ok(dims)
            } else {
                Err(fail(format!("has another number of dims than {space} of space in `{part}`")))
            }
        };
        let panels = rhs.find('O');
        Ok(Self {
            lhs: read(lhs, 'n', 'c', 0)?,
            rhs: read(rhs, 'o', 'c', usize::from(panels.is_some()))?,
            panels,
            result: read(result, 'n', 'o', 0)?,
        })
    }

    /// Number of features, from the sizes of rhs by position.
    pub fn features<T>(&self, size: impl Fn(usize) -> T, times: impl Fn(T, T) -> T) -> T {
        let own = size(self.rhs.batch);
        match self.panels {
            Some(panels) => times(size(panels), own),
            None => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_says() {
        let layout = ConvLayout::parse("n01c,O01co->n01o", 2).expect("a layout");
        assert_eq!(layout.lhs, Dims { batch: 0, channel: 3, space: vec![1, 2] });
        assert_eq!((layout.rhs, layout.panels), (Dims { batch: 4, channel: 3, space: vec![1, 2] }, Some(0)));
        assert_eq!(ConvLayout::parse("nc01,oc01->no01", 2), Ok(ConvLayout::plain(2)));
    }

    #[test]
    fn says_what_is_missing() {
        let error = |text| ConvLayout::parse(text, 2).expect_err("no layout").to_string();
        assert!(error("nc01").contains("is not `lhs,rhs->result`"));
        assert!(error("nc01,oc01->nc01").contains("does not say where `o` stands in `nc01`"));
        assert!(error("nc01,oc01->no01x").contains("another number of dims"));
    }
}

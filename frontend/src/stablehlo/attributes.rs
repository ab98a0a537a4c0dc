//! Attributes of StableHLO, which come as text: `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.

use strata_core::ir::Op;

/// The integers of an attribute.
pub(super) fn ints(op: Op<'_>, name: &str) -> Result<Vec<i64>, String> {
    op.ints(name).ok_or_else(|| format!("it has no list of integers `{name}`"))
}

/// An integer.
pub(super) fn int(op: Op<'_>, name: &str) -> Result<i64, String> {
    op.int(name).ok_or_else(|| format!("it has no integer `{name}`"))
}

/// The text of an attribute; empty where there is none.
pub(super) fn text(op: Op<'_>, name: &str) -> String {
    op.attr(name).map(|attr| attr.to_string()).unwrap_or_default()
}

/// The word of these that an enumeration says, as in `#stablehlo<fft_type FFT>`.
pub(super) fn word<'w>(op: Op<'_>, name: &str, words: &[&'w str]) -> Option<&'w str> {
    let text = text(op, name);
    text.split(|c: char| !(c.is_ascii_alphabetic() || c == '_')).find_map(|part| words.iter().copied().find(|word| *word == part))
}

/// The list of a field in a text, `name = [1, 2]`; empty where the field is missing.
pub(super) fn field(text: &str, name: &str) -> Vec<i64> {
    let list = text.split(name).nth(1).and_then(|rest| rest.trim_start().strip_prefix('='));
    let list = list.and_then(|rest| rest.trim_start().strip_prefix('[')).and_then(|rest| rest.split(']').next());
    list.map(|list| list.split(',').filter_map(|number| number.trim().parse().ok()).collect()).unwrap_or_default()
}

/// The number of a field in a text, `name = 1`; 0 where the field is missing, as it is printed.
pub(super) fn number(text: &str, name: &str) -> usize {
    let rest = text.split(name).nth(1).map(|rest| rest.trim_start_matches([' ', '=']));
    let digits = rest.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Two numbers for each dimension, as pads are written: in front and behind. All are 0 where there is no attribute.
pub(super) fn pairs(op: Op<'_>, name: &str, rank: usize) -> Vec<[i64; 2]> {
    let Some((bytes, splat)) = op.attr(name).and_then(|pads| pads.as_dense()) else { return vec![[0; 2]; rank] };
    let numbers: Vec<i64> = bytes.chunks_exact(8).map(|chunk| i64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect();
    if splat {
        return vec![[numbers.first().copied().unwrap_or(0); 2]; rank];
    }
    in_pairs(&numbers)
}

/// A list of numbers two by two.
pub(super) fn in_pairs(numbers: &[i64]) -> Vec<[i64; 2]> {
    numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// The three lists of `#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>`.
pub(super) fn layouts(text: &str) -> Option<[Vec<String>; 3]> {
    let mut lists = text.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let mut next = || Some(lists.next()?.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>());
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_layouts_are_read() {
        let text = "#stablehlo.dot<lhs_batching_dimensions = [0], lhs_contracting_dimensions = [1, 2]>";
        assert_eq!(field(text, "lhs_contracting_dimensions"), [1, 2]);
        assert_eq!(field(text, "rhs_batching_dimensions"), [0i64; 0]);
        let [lhs, rhs, out] = layouts("#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>").expect("three lists");
        assert_eq!(
            (lhs, rhs, out[3].as_str()),
            (["b", "0", "1", "f"].map(String::from).to_vec(), ["0", "1", "i", "o"].map(String::from).to_vec(), "f")
        );
        assert!(layouts("#stablehlo.conv<[b]>").is_none());
        assert_eq!((number("gather<a = [1], index_vector_dim = 12>", "index_vector_dim"), number("gather<>", "index_vector_dim")), (12, 0));
    }
}

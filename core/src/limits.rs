//! Bounds on text before MLIR's parser sees it: the parser recurses, so deep nesting would overflow the stack.

/// Open brackets that text may nest. Programs nest a few dozen; the parser takes some KiB per level of a thread's 2 MiB.
const MAX_NESTING: usize = 256;

/// Bytes of text that MLIR's 32-bit source locations can address.
const MAX_BYTES: usize = u32::MAX as usize;

/// What is refused, with its line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Brackets nest too deeply.
    #[error("{line}: regions, types or attributes nest deeper than {MAX_NESTING} levels; flatten the input")]
    Nesting {
        /// Where the bound is passed.
        line: usize,
    },
    /// The text is too long.
    #[error("1: the input has {bytes} bytes, more than the {MAX_BYTES} that locations can address; split it")]
    Size {
        /// Its length.
        bytes: usize,
    },
}

/// Checks text; bytecode has no nesting that is parsed recursively and passes.
pub(crate) fn check(source: &[u8]) -> Result<(), Refused> {
    if source.starts_with(b"ML\xefR") {
        return Ok(());
    }
    if source.len() > MAX_BYTES {
        return Err(Refused::Size { bytes: source.len() });
    }
    let (mut depth, mut line, mut index) = (0usize, 1usize, 0usize);
    while index < source.len() {
        match source[index] {
            b'\n' => line += 1,
            // `->`, `>=` and `<=` are no brackets.
            b'>' if index > 0 && source[index - 1] == b'-' => {}
            b'<' | b'>' if source.get(index + 1) == Some(&b'=') => {}
            b'{' | b'(' | b'[' | b'<' => {
                depth += 1;
                if depth > MAX_NESTING {
                    return Err(Refused::Nesting { line });
                }
            }
            b'}' | b')' | b']' | b'>' => depth = depth.saturating_sub(1),
            b'"' => index = skip_string(source, index),
            b'/' if source.get(index + 1) == Some(&b'/') => {
                while index + 1 < source.len() && source[index + 1] != b'\n' {
                    index += 1;
                }
            }
            _ => {}
        }
        index += 1;
    }
    Ok(())
}

/// The index of the quote that ends a string, or of the line's end where MLIR would complain.
fn skip_string(source: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while index < source.len() {
        match source[index] {
            b'"' => return index,
            b'\\' => index += 1,
            b'\n' => return index - 1,
            _ => {}
        }
        index += 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_refused_with_its_line() {
        let text = "{\n".repeat(60_000);
        assert_eq!(check(text.as_bytes()), Err(Refused::Nesting { line: MAX_NESTING + 1 }));
    }

    #[test]
    fn comparisons_in_sets_hide_no_nesting() {
        let text = "affine.if affine_set<(d0) : (d0 >= 0)>(%i) {\n".repeat(300);
        assert_eq!(check(text.as_bytes()), Err(Refused::Nesting { line: MAX_NESTING }));
    }

    #[test]
    fn brackets_in_strings_comments_and_arrows_do_not_count() {
        let text = "// ((((\n\"(((\\\"(((\" () -> ()\n".repeat(5_000);
        assert_eq!(check(text.as_bytes()), Ok(()));
    }
}

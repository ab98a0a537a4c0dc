//! The constants of the aten operators are those of the tables.

use super::{Fault, Tree};
use crate::aten_table::{CONSTANTS, constants};
use crate::cargo::Result;

pub fn check(tree: &Tree) -> Result<Vec<Fault>> {
    let fresh = tree.get(CONSTANTS) == Some(&constants()?);
    Ok(if fresh { Vec::new() } else { vec![Fault::new(CONSTANTS, "not what the tables say; run `cargo xtask aten-table`")] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_is_a_fault() {
        let now = constants().unwrap();
        let tree = |text: &str| Tree::from([(CONSTANTS.to_owned(), text.to_owned())]);
        assert!(check(&tree(&now)).unwrap().is_empty());
        assert_eq!(check(&tree(&now.replace("RELU", "RELUU"))).unwrap().len(), 1);
    }
}

//! The constants of the aten operators and the methods of tensors are those of the tables.

use super::{Fault, Tree};
use crate::aten_table::{CONSTANTS, constants};
use crate::cargo::Result;
use crate::tensor_methods::{METHODS, methods};

pub fn check(tree: &Tree) -> Result<Vec<Fault>> {
    let made = [(CONSTANTS, constants()?), (METHODS, methods()?)];
    let old = made.iter().filter(|(path, text)| tree.get(*path) != Some(text));
    Ok(old.map(|(path, _)| Fault::new(*path, "not what the tables say; run `cargo xtask aten-table`")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_is_a_fault() {
        let now = constants().unwrap();
        let methods = methods().unwrap();
        let tree = |text: &str| Tree::from([(CONSTANTS.to_owned(), text.to_owned()), (METHODS.to_owned(), methods.clone())]);
        assert!(check(&tree(&now)).unwrap().is_empty());
        assert_eq!(check(&tree(&now.replace("RELU", "RELUU"))).unwrap().len(), 1);
    }
}

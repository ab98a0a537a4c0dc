//! An opened compiler is never unloaded: MLIR's tables, which stay, point at names in it, and a second one would read them.

use std::fs;
use strata_runtime::compiler::{Compiler, LIBRARY};

#[test]
fn an_opened_compiler_stays() {
    let operators = |compiler: Compiler| compiler.operators().len();
    assert!(operators(Compiler::open().expect("the compiler is built beside the tools")) > 1000);
    let mapped = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(mapped.contains(LIBRARY), "{LIBRARY} is gone");
    assert!(operators(Compiler::open().unwrap()) > 1000);
}

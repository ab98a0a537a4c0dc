//! Fills the templates of `./x new-pass` and `./x new-op` with a name, as they do.

use std::path::Path;
use std::{env, fs};

#[path = "../../xtask/src/scaffold/words.rs"]
mod words;

fn main() {
    let folder = Path::new("../../xtask/src/scaffold");
    println!("cargo:rerun-if-changed={}", folder.display());
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (template, name) in [("pass", "sample-pass"), ("op", "sample_op")] {
        let words = words::Words::new(name).expect("a name");
        for kind in ["rs", "mlir"] {
            let text = fs::read_to_string(folder.join(format!("{template}.{kind}.txt"))).expect("the template is there");
            let text = words.fill(&text).replace("DIALECT", "sample");
            // An included file cannot document the module that it is included in.
            let lines = text.lines().filter(|line| !line.starts_with("//!"));
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            fs::write(Path::new(&out).join(format!("{template}.{kind}")), text).expect("OUT_DIR can be written");
        }
    }
}

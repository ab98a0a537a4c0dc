//! Fills the templates of `./x new-pass`, `./x new-op` and `./x new-crate` with a name, as they do.

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
    fill_crate(&folder.join("crate"), &Path::new(&out).join("crate"), &words::Words::new("row-statistics").expect("a name"));
}

/// The files of a crate in their folders.
fn fill_crate(from: &Path, to: &Path, words: &words::Words) {
    fs::create_dir_all(to).expect("OUT_DIR can be written");
    for entry in fs::read_dir(from).expect("the templates are there").flatten() {
        let name = entry.file_name().to_string_lossy().trim_end_matches(".txt").to_owned();
        if entry.path().is_dir() {
            fill_crate(&entry.path(), &to.join(name), words);
            continue;
        }
        let root = fs::canonicalize("../..").expect("the root is there");
        let text = words.fill(&fs::read_to_string(entry.path()).expect("the template is there"));
        let text = text.replace("ROOT", &root.display().to_string());
        // The root is included, too.
        let lines = text.lines().filter(|line| name != "lib.rs" || !line.starts_with("//!"));
        fs::write(to.join(&name), lines.flat_map(|line| [line, "\n"]).collect::<String>()).expect("OUT_DIR can be written");
    }
}

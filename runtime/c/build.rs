//! Gives the library its name, by which compiled programs find it where it is loaded already.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libstrata.so");
}

//! Builds the one function in C++, which catches what a kernel throws.

fn main() {
    println!("cargo:rerun-if-changed=guard.cpp");
    cc::Build::new().cpp(true).std("c++17").file("guard.cpp").compile("strata_torch_guard");
}

//! `rs-reduce`: makes a program smaller as long as a test finds it interesting.

fn main() -> std::process::ExitCode {
    strata_toolbox::standard(strata_toolbox::reduce)
}

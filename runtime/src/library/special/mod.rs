//! `strata_math_*`: special functions of one element, as `prim.special` names them, that the compiler has no code for.

mod gamma;
mod integer;
mod quantile;
mod real;

use std::ffi::c_void;

use crate::imports::Address;

/// Makes the table of C functions in both precisions.
macro_rules! functions {
    ($($module:ident::$name:ident($($x:ident),+);)*) => {
        /// The importable functions in single and double precision.
        pub static FLOAT: &[(&str, Address)] = &[$(
            (concat!("strata_math_", stringify!($name), "_f32"), Address({
                extern "C" fn call($($x: f32),+) -> f32 {
                    $module::$name($($x),+)
                }
                call as *const c_void
            })),
            (concat!("strata_math_", stringify!($name), "_f64"), Address({
                extern "C" fn call($($x: f64),+) -> f64 {
                    $module::$name($($x),+)
                }
                call as *const c_void
            })),
        )*];

        /// The same, compiled for CPUs that fuse products with sums: elsewhere that is a call of the C library.
        #[cfg(target_arch = "x86_64")]
        static FUSED: &[(&str, Address)] = &[$(
            (concat!("strata_math_", stringify!($name), "_f32"), Address({
                #[target_feature(enable = "avx2,fma")]
                extern "C" fn call($($x: f32),+) -> f32 {
                    $module::$name($($x),+)
                }
                call as unsafe extern "C" fn($(functions!(@ f32, $x)),+) -> f32 as *const c_void
            })),
            (concat!("strata_math_", stringify!($name), "_f64"), Address({
                #[target_feature(enable = "avx2,fma")]
                extern "C" fn call($($x: f64),+) -> f64 {
                    $module::$name($($x),+)
                }
                call as unsafe extern "C" fn($(functions!(@ f64, $x)),+) -> f64 as *const c_void
            })),
        )*];
    };
    (@ $type:ty, $x:ident) => { $type };
}

/// The functions for the CPU at hand, where it has more than all of its architecture have.
pub fn of_cpu() -> &'static [(&'static str, Address)] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return FUSED;
    }
    &[]
}

functions! {
    quantile::binomial_quantile(x, y, z);
    real::exp(x);
    quantile::gamma_quantile(x, y);
    gamma::igamma(x, y);
    gamma::igammac(x, y);
    real::log(x);
    quantile::poisson_quantile(x, y);
    gamma::zeta(x, y);
}

/// The importable functions of integers.
pub static INTEGER: &[(&str, Address)] = &[("strata_math_gcd_i64", {
    extern "C" fn call(a: i64, b: i64) -> i64 {
        integer::gcd(a, b)
    }
    Address(call as *const c_void)
})];

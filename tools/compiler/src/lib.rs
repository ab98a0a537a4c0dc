//! `libstrata_compiler.so`: the compiler of Strata's own dialects and passes, for programs that link no compiler.

strata_toolbox::compiler_library!(strata_driver::registry);

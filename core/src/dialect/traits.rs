//! Traits and memory effects of ops, as bit sets that MLIR's own passes understand.

use std::ops::BitOr;

macro_rules! bits {
    ($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $bit:expr, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub(crate) u64);

        impl $name {
            $($(#[$item_doc])* pub const $item: Self = Self($bit);)*

            /// None of them.
            pub const NONE: Self = Self(0);

            /// All of both.
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Whether all of `other` are here.
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The names of those that are set.
            pub fn names(self) -> Vec<&'static str> {
                [$((Self::$item, $text)),*].into_iter().filter(|(item, _)| self.has(*item)).map(|(_, text)| text).collect()
            }
        }

        impl BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                self.and(other)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.names().join(" | "))
            }
        }
    };
}

bits! {
    /// What is always true of an op. The bits are those of `StrataTrait` in the shim.
    Traits {
        /// Ends a block.
        TERMINATOR = 1 << 0, "Terminator";
        /// Its operands are what its parent yields.
        RETURN_LIKE = 1 << 1, "ReturnLike";
        /// A constant: no operands, folds to its attribute `value`.
        CONSTANT_LIKE = 1 << 2, "ConstantLike";
        /// Its operands may be swapped; constants move to the right.
        COMMUTATIVE = 1 << 3, "Commutative";
        /// `f(f(x)) = f(x)`.
        IDEMPOTENT = 1 << 4, "Idempotent";
        /// `f(f(x)) = x`.
        INVOLUTION = 1 << 5, "Involution";
        /// All operands and results have one type.
        SAME_OPERANDS_AND_RESULT_TYPE = 1 << 6, "SameOperandsAndResultType";
        /// All operands have one type.
        SAME_TYPE_OPERANDS = 1 << 7, "SameTypeOperands";
        /// All operands and results have compatible shapes.
        SAME_OPERANDS_AND_RESULT_SHAPE = 1 << 8, "SameOperandsAndResultShape";
        /// All operands and results have one element type.
        SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE = 1 << 9, "SameOperandsAndResultElementType";
        /// Its regions use no value from outside.
        ISOLATED_FROM_ABOVE = 1 << 10, "IsolatedFromAbove";
        /// Each region has at most one block.
        SINGLE_BLOCK = 1 << 11, "SingleBlock";
        /// Blocks of its regions need no terminator.
        NO_TERMINATOR = 1 << 12, "NoTerminator";
        /// It defines the symbol in its attribute `sym_name`.
        SYMBOL = 1 << 13, "Symbol";
        /// It holds symbols.
        SYMBOL_TABLE = 1 << 14, "SymbolTable";
        /// Its effects are those of the ops inside.
        RECURSIVE_EFFECTS = 1 << 15, "RecursiveEffects";
        /// Values defined at its top level are affine symbols inside.
        AFFINE_SCOPE = 1 << 16, "AffineScope";
        /// Stack allocations inside end with it.
        AUTOMATIC_ALLOCATION_SCOPE = 1 << 17, "AutomaticAllocationScope";
        /// Works on each element of its tensors alone.
        ELEMENTWISE = 1 << 18, "Elementwise";
        /// Calls the symbol in its attribute `callee`.
        CALL = 1 << 19, "Call";
        /// A function: symbol, signature, body; written as `func.func` is.
        FUNCTION = 1 << 20, "Function";
        /// May carry attributes that its definition does not name.
        OPEN_ATTRIBUTES = 1 << 40, "OpenAttributes";
    }
}

bits! {
    /// What an op does to memory. `NONE` means unknown, and MLIR then moves and removes nothing.
    Effects {
        /// The effects are all listed here.
        KNOWN = 1 << 0, "Known";
        /// Reads memory.
        READ = 1 << 1 | 1, "Read";
        /// Writes memory or the outside world.
        WRITE = 1 << 2 | 1, "Write";
        /// Allocates its results.
        ALLOCATE = 1 << 3 | 1, "Allocate";
        /// Frees its operands.
        FREE = 1 << 4 | 1, "Free";
        /// May run where the program would not have run it.
        SPECULATABLE = 1 << 5, "Speculatable";
        /// No effect at all, and always defined.
        PURE = 1 << 5 | 1, "Pure";
    }
}

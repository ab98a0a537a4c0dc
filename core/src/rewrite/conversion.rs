//! Dialect conversion: which ops may stay, how types change, and patterns that see operands of the new types.
//!
//! ```text
//! let mut conversion = Conversion::new(cx);
//! conversion.legal_dialect("arith").illegal_dialect("toy");
//! conversion.types(|ty| ty.is_index().then(|| Converted::To(vec![ty.cx().int(64)])));
//! conversion.on::<Add>("add", 1, |add, new, rewriter| { .. new.operands() .. });
//! conversion.apply(op, Extent::Full)?;
//! ```

use super::set::PatternSet;
use super::types::{Converted, TypeConverter};
use super::{Matched, NoMatch, Rewriter};
use crate::dialect::OpType;
use crate::guard;
use crate::ir::{Builder, Cx, Location, Op, Region, Type, Value, string_ref};
use crate::remark::Remarks;
use mlir_sys::*;
use std::ffi::c_void;
use std::sync::Arc;
use strata_core_sys::*;

/// How much must be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// No op may be left that is not legal.
    Full,
    /// Only ops that are illegal must go; unknown ones may stay.
    Partial,
}

/// A conversion that could not be completed. MLIR has reported which op is in the way.
#[derive(Debug, thiserror::Error)]
#[error("the conversion of '{op}' stopped at an op that no pattern makes legal; the error above names it")]
pub struct ConversionFailed {
    /// The op worked on.
    pub op: String,
}

impl From<ConversionFailed> for crate::pass::PassError {
    fn from(error: ConversionFailed) -> Self {
        Self::new(error.to_string())
    }
}

/// What a conversion pattern sees of the new world.
pub struct New<'x, 'a> {
    values: Vec<Value<'x>>,
    offsets: Vec<usize>,
    types: &'a TypeConverter,
}

impl<'x> New<'x, '_> {
    /// The converted operands, one after the other.
    pub fn operands(&self) -> &[Value<'x>] {
        &self.values
    }

    /// What operand `index` became.
    pub fn group(&self, index: usize) -> &[Value<'x>] {
        &self.values[self.offsets[index]..self.offsets[index + 1]]
    }

    /// The one type that `ty` becomes.
    pub fn ty(&self, ty: Type<'x>) -> Result<Type<'x>, NoMatch> {
        match self.types.convert(ty).as_deref() {
            Some([new]) => Ok(*new),
            _ => Err(NoMatch::new(format!("the type '{ty}' does not become one type"))),
        }
    }

    /// The types that all of `types` become.
    pub fn types(&self, types: &[Type<'x>]) -> Result<Vec<Type<'x>>, NoMatch> {
        let convert = |ty: &Type<'x>| self.types.convert(*ty).ok_or_else(|| NoMatch::new(format!("the type '{ty}' has no new form")));
        Ok(types.iter().map(convert).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Gives the blocks of a region arguments of the new types.
    pub fn convert_region(&self, rewriter: &mut Rewriter<'x>, region: Region<'x>) -> Matched {
        // SAFETY: all handles are alive, and the rewriter is the one of the running conversion.
        let ok = unsafe { strata_convert_region_types(rewriter.to_raw(), region.to_raw(), self.types.to_raw()) };
        if ok { Ok(()) } else { Err("an argument of the region has no new type".into()) }
    }

    /// Replaces each result of `op` by any number of values, as its type was converted.
    pub fn replace_with_many(&self, rewriter: &mut Rewriter<'x>, op: Op<'x>, values: &[Vec<Value<'x>>]) {
        assert_eq!(values.len(), op.num_results(), "'{}' is replaced by a wrong number of groups", op.name());
        let mut offsets = vec![0];
        let mut flat = Vec::new();
        for group in values {
            flat.extend(group.iter().map(|value| value.to_raw()));
            offsets.push(flat.len() as isize);
        }
        // SAFETY: all handles are alive; there is one group per result.
        unsafe { strata_replace_with_multiple(rewriter.to_raw(), op.to_raw(), offsets.as_ptr(), flat.as_ptr()) }
    }
}

/// A conversion being put together.
pub struct Conversion<'c> {
    cx: Cx<'c>,
    types: Arc<TypeConverter>,
    target: *mut StrataTarget,
    patterns: PatternSet,
}

type Body = Box<dyn for<'x> Fn(Op<'x>, &New<'x, '_>, &mut Rewriter<'x>) -> Matched + Send + Sync>;

struct Rule {
    name: String,
    types: Arc<TypeConverter>,
    body: Body,
}

// SAFETY of this impl: the converter, the target and the set are alive as long as the handle; strings are for the calls.
impl<'c> Conversion<'c> {
    /// Nothing legal, nothing converted; types without a rule stay as they are.
    pub fn new(cx: Cx<'c>) -> Self {
        let types = Arc::new(TypeConverter::new());
        types.add(|ty| Some(Converted::To(vec![ty])));
        // SAFETY: the context is alive.
        Self { cx, types, target: unsafe { strata_target_create(cx.to_raw()) }, patterns: PatternSet::new(cx) }
    }

    /// All ops of a dialect may stay.
    pub fn legal_dialect(&mut self, name: &str) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_target_dialect(self.target, string_ref(name), 0) };
        self
    }

    /// All ops of a dialect must go.
    pub fn illegal_dialect(&mut self, name: &str) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_target_dialect(self.target, string_ref(name), 1) };
        self
    }

    /// An op may stay.
    pub fn legal_op(&mut self, name: &str) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_target_op(self.target, string_ref(name), 0) };
        self
    }

    /// An op must go.
    pub fn illegal_op(&mut self, name: &str) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_target_op(self.target, string_ref(name), 1) };
        self
    }

    /// An op may stay when a condition holds; all ops not named elsewhere when `name` is empty.
    pub fn legal_if(&mut self, name: &str, legal: impl for<'x> Fn(Op<'x>) -> bool + Send + Sync + 'static) -> &mut Self {
        type Legal = Box<dyn for<'x> Fn(Op<'x>) -> bool + Send + Sync>;
        unsafe extern "C" fn ask(user: *mut c_void, op: MlirOperation) -> i32 {
            // SAFETY: `user` is the closure below; the op is alive.
            let (legal, op) = unsafe { (&*user.cast::<Legal>(), Op::from_raw(op)) };
            guard::at_op(op, "its legality", || i32::from(legal(op))).unwrap_or(0)
        }
        unsafe extern "C" fn drop_legal(user: *mut c_void) {
            // SAFETY: `user` is the closure below, dropped once.
            drop(unsafe { Box::from_raw(user.cast::<Legal>()) });
        }
        let legal: Box<Legal> = Box::new(Box::new(legal));
        // SAFETY: see the impl; C++ owns the closure from now on.
        unsafe { strata_target_dynamic(self.target, string_ref(name), Box::into_raw(legal).cast(), Some(drop_legal), ask) };
        self
    }

    /// An op may stay when all its types (of operands, results, of a function's signature) are new ones.
    pub fn legal_if_converted(&mut self, name: &str) -> &mut Self {
        let types = Arc::clone(&self.types);
        self.legal_if(name, move |op| types.is_legal(op))
    }

    /// Whatever stands inside of a legal op of this name is legal too.
    pub fn legal_with_content(&mut self, name: &str) -> &mut Self {
        self.legal_op(name);
        // SAFETY: see the impl.
        unsafe { strata_target_recursively_legal(self.target, string_ref(name)) };
        self
    }

    /// A rule for types; later rules are asked first, `None` passes on.
    pub fn types(&mut self, convert: impl for<'x> Fn(Type<'x>) -> Option<Converted<'x>> + Send + Sync + 'static) -> &mut Self {
        self.types.add(convert);
        self
    }

    /// How a value of old type is made from new ones, or the other way round, where both kinds meet.
    pub fn cast(
        &mut self,
        build: impl for<'x> Fn(&mut Builder<'x>, Type<'x>, &[Value<'x>]) -> Option<Op<'x>> + Send + Sync + 'static,
    ) -> &mut Self {
        self.types.materialize(build);
        self
    }

    /// Adds a pattern on one kind of op.
    pub fn on<T: OpType + 'static>(
        &mut self,
        name: &str,
        benefit: u16,
        body: impl for<'x> Fn(T::At<'x>, &New<'x, '_>, &mut Rewriter<'x>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(name, T::DEF.name, benefit, move |op, new, rewriter| match T::cast(op) {
            Some(view) => body(view, new, rewriter),
            None => Err("another kind of op".into()),
        })
    }

    /// Adds a pattern on the ops named `root`; on all ops when `root` is empty.
    pub fn add(
        &mut self,
        name: &str,
        root: &str,
        benefit: u16,
        body: impl for<'x> Fn(Op<'x>, &New<'x, '_>, &mut Rewriter<'x>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        let rule = Box::new(Rule { name: name.to_owned(), types: Arc::clone(&self.types), body: Box::new(body) });
        let name = string_ref(&rule.name);
        let def = StrataConversionPatternDef {
            name,
            root: string_ref(root),
            benefit: u32::from(benefit),
            user: Box::into_raw(rule).cast(),
            rewrite: Some(rewrite),
            drop: Some(drop_rule),
        };
        // SAFETY: see the impl; C++ owns the rule from now on.
        unsafe { strata_add_conversion_pattern(self.patterns.to_raw(), self.types.to_raw(), &raw const def) };
        self
    }

    /// Converts the signatures of function-like ops of this name.
    pub fn functions(&mut self, name: &str) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_add_function_conversion(self.patterns.to_raw(), self.types.to_raw(), string_ref(name)) };
        self.legal_if_converted(name)
    }

    /// Converts the types of `func` and `scf` ops around what is converted.
    pub fn structure(&mut self) -> &mut Self {
        // SAFETY: see the impl.
        unsafe { strata_add_structural_conversion(self.patterns.to_raw(), self.types.to_raw(), self.target) };
        self
    }

    /// Runs it in and below `op`.
    pub fn apply(mut self, op: Op<'c>, extent: Extent) -> Result<(), ConversionFailed> {
        let patterns = std::mem::replace(&mut self.patterns, PatternSet::new(self.cx)).into_raw();
        crate::erased::clear();
        let panics = guard::panics_here();
        // SAFETY: see the impl; the driver takes the set over and drops it before it returns.
        let ok = unsafe { strata_apply_conversion(op.to_raw(), self.target, patterns, extent == Extent::Full) };
        if ok && guard::panics_here() == panics { Ok(()) } else { Err(ConversionFailed { op: op.name().to_owned() }) }
    }
}

impl Drop for Conversion<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the target.
        unsafe { strata_target_destroy(self.target) }
    }
}

unsafe extern "C" fn rewrite(
    user: *mut c_void,
    op: MlirOperation,
    count: isize,
    values: *const MlirValue,
    offsets: *const isize,
    rewriter: MlirRewriterBase,
) -> bool {
    // SAFETY: `add` stored the rule; the op and the rewriter are alive for the call.
    let (rule, op) = unsafe { (&*user.cast::<Rule>(), Op::from_raw(op)) };
    // SAFETY: as above; C++ passes `count + 1` offsets, the last being the number of values.
    let (offsets, mut rewriter) = unsafe {
        let offsets: Vec<usize> = (0..=count as usize).map(|index| *offsets.add(index) as usize).collect();
        (offsets, Rewriter::of_driver(rewriter, op))
    };
    let total = offsets.last().copied().unwrap_or(0);
    // SAFETY: as above.
    let values = (0..total).map(|index| unsafe { Value::from_raw(*values.add(index)) }).collect();
    let new = New { values, offsets, types: &rule.types };
    match guard::at_op(op, &format!("the pattern '{}'", rule.name), || (rule.body)(op, &new, &mut rewriter)) {
        Some(Ok(())) => true,
        Some(Err(reason)) => {
            Remarks::default().no_match(op, &rule.name, reason);
            false
        }
        None => false,
    }
}

unsafe extern "C" fn drop_rule(user: *mut c_void) {
    // SAFETY: `add` leaked the rule, and C++ drops it once.
    drop(unsafe { Box::from_raw(user.cast::<Rule>()) });
}

/// The location of a cast, kept out of the way of the type converter's own file.
pub(super) fn detached<'x>(location: MlirLocation) -> Builder<'x> {
    // SAFETY: MLIR passes a location that lives as long as the context.
    Builder::detached(unsafe { Location::from_raw(location) })
}

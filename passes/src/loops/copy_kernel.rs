//! A kernel that copies an argument of another kernel into the order, or the form, in which that one reads it.

use strata_core::ir::{AffineExpr, AffineMap, Attr, Builder, DYNAMIC, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{set_maps, set_shapes};
use strata_dialects::loops::elements::register_type;
use strata_dialects::loops::view::{KernelView, StageView};

/// The copy of an argument.
pub struct CopyKernel<'c> {
    /// The kernel whose argument is copied.
    reader: Op<'c>,
    /// The argument.
    argument: Value<'c>,
    /// The name of the copying kernel.
    name: String,
    /// Type of the copy.
    pub ty: Type<'c>,
    /// Shapes of the argument and of the copy over the symbols of the kernel that reads it.
    from: AffineMap<'c>,
    /// As `from`, of the copy.
    pub shape: AffineMap<'c>,
    /// Where an element of the copy reads the argument. An access that may reach outside is guarded and gives zero there.
    reads: Vec<(AffineMap<'c>, bool)>,
    /// The sizes of dims behind those of the copy that are summed over.
    summed: Vec<AffineExpr<'c>>,
    /// The symbols of the kernel that reads which the copy depends on. The copy of a weight whose sizes are known depends on none, however
    /// many its reader has, and can be made before the program runs.
    symbols: Vec<usize>,
}

impl<'c> CopyKernel<'c> {
    /// A copy named `suffix` after the kernel that reads it.
    pub fn new(
        reader: &KernelView<'c>,
        argument: Value<'c>,
        suffix: &str,
        (shape, element): (&[AffineExpr<'c>], Type<'c>),
        reads: Vec<(AffineMap<'c>, bool)>,
    ) -> Self {
        let cx = reader.op.cx();
        let extents: Vec<_> = shape.iter().map(|size| size.as_constant().unwrap_or(DYNAMIC)).collect();
        let (from, count) = (reader.shapes()[argument.index()], reader.sizes.num_symbols());
        let shape = cx.map(0, count, shape);
        let maps: Vec<_> = reads.iter().map(|(map, _)| *map).chain([from, shape]).collect();
        let used = |symbol: &usize| maps.iter().flat_map(|map| map.results()).any(|expr| expr.uses_symbol(*symbol));
        let symbols = (0..count).filter(used).collect();
        Self {
            reader: reader.op,
            argument,
            name: format!("{}.{suffix}", reader.op.str("sym_name").unwrap_or_default()),
            ty: cx.tensor(&extents, element),
            from,
            shape,
            reads,
            summed: Vec::new(),
            symbols,
        }
    }

    /// The same, where what `body` makes is summed over more dims of these sizes, which the reads have behind those of the copy.
    pub fn summed_over(mut self, sizes: &[AffineExpr<'c>]) -> Self {
        self.symbols.extend((0..self.shape.num_symbols()).filter(|&symbol| sizes.iter().any(|size| size.uses_symbol(symbol))));
        self.symbols.sort_unstable();
        self.symbols.dedup();
        self.summed = sizes.to_vec();
        self
    }

    /// Writes the kernel before the one that reads the copy: an element of the copy is what `body` makes of the elements that it reads.
    pub fn write(&self, body: impl FnOnce(&mut Builder<'c>, &[Value<'c>]) -> Value<'c>) -> Op<'c> {
        let (cx, location) = (self.reader.cx(), self.reader.location());
        let (rank, symbols) = (self.ty.rank(), self.symbols.len());
        let own = |map: AffineMap<'c>| map.with_symbols(&self.symbols);
        let sizes = cx.map(0, self.shape.num_symbols(), &[self.shape.results(), self.summed.clone()].concat());
        let positions: Vec<i64> = (1..=symbols as i64).collect();
        let mut shapes = vec![cx.map(0, symbols, &[]); symbols + 2];
        (shapes[0], shapes[symbols + 1]) = (own(self.from), own(self.shape));
        let kernel = Builder::before(self.reader).op(OpSpec {
            name: loops::Kernel::NAME,
            attrs: &[
                ("sym_name", cx.str_attr(&self.name)),
                ("sizes", cx.map_attr(own(sizes))),
                ("shapes", cx.maps_attr(&shapes)),
                ("symbols", cx.i64s_attr(&positions)),
            ],
            regions: 1,
            ..OpSpec::default()
        });
        let types: Vec<_> = std::iter::once(self.argument.ty()).chain((0..symbols).map(|_| cx.index())).collect();
        let block = kernel.region(0).append_block(&types, location);
        let (maps, guarded): (Vec<_>, Vec<_>) = self.reads.iter().map(|(map, guarded)| (own(*map), *guarded)).unzip();
        let points = sizes.results().len() as i64;
        let domain: Vec<i64> = (0..points).collect();
        let mut attrs = vec![
            ("domain", cx.i64s_attr(&domain)),
            ("maps", cx.maps_attr(&maps)),
            ("guarded", cx.bools_attr(&guarded)),
            ("space", cx.str_attr("buffer")),
        ];
        if !self.summed.is_empty() {
            let reduced: Vec<i64> = (rank as i64..points).collect();
            attrs.extend([("reduce", cx.i64s_attr(&reduced)), ("reducer", cx.str_attr("sum"))]);
        }
        let mut b = Builder::at_end(block, location);
        let stage = b.op(OpSpec {
            name: loops::Stage::NAME,
            operands: &vec![block.arg(0); self.reads.len()],
            results: &[self.ty],
            attrs: &attrs,
            regions: 1,
            ..OpSpec::default()
        });
        let element = self.argument.ty().element_type().map_or_else(|| self.argument.ty().element(), |element| register_type(cx, element));
        let elements = stage.region(0).append_block(&vec![element; self.reads.len()], location);
        b.within(elements, |b| {
            let value = body(b, &elements.args());
            b.effect(loops::Yield::NAME, &[value], &[]);
        });
        b.effect(loops::Return::NAME, &stage.results(), &[]);
        kernel
    }

    /// Copies before every call of the kernel that reads; gives each of these calls and its copy.
    pub fn call(&self, module: Op<'c>) -> Vec<(Op<'c>, Value<'c>)> {
        let symbols = self.reader.ints("symbols").unwrap_or_default();
        let callee = [("callee", module.cx().symbol_attr(&self.name))];
        let calls = calls(module, self.reader).into_iter().map(|call| {
            let operands = call.operands();
            let symbols = self.symbols.iter().map(|&symbol| operands[symbols[symbol] as usize]);
            let arguments: Vec<_> = std::iter::once(operands[self.argument.index()]).chain(symbols).collect();
            (call, Builder::before(call).value(loops::Call::NAME, &arguments, self.ty, &callee))
        });
        calls.collect()
    }

    /// Lets the stage of the kernel read the copy, a new last argument, at these indices; an argument that nothing reads any more is gone.
    pub fn read_instead(
        &self,
        module: Op<'c>,
        kernel: &KernelView<'c>,
        stage: &StageView<'c>,
        operand: usize,
        access: &[AffineExpr<'c>],
        rewriter: &mut Rewriter<'c>,
    ) {
        for (call, copy) in self.call(module) {
            let mut operands = call.operands();
            operands.push(copy);
            rewriter.set_operands(call, &operands);
        }
        let args = kernel.op.body(0).args().len();
        let copy = kernel.op.body(0).add_arg(self.ty, kernel.op.location());
        rewriter.set_operand(stage.op, operand, copy);
        let mut maps = stage.maps.clone();
        maps[operand] = module.cx().map(kernel.num_dims(), kernel.sizes.num_symbols(), access);
        set_maps(rewriter, stage.op, &maps);
        let mut shapes = kernel.shapes();
        shapes.insert(args, self.shape);
        set_shapes(rewriter, kernel.op, &shapes);
        if self.argument.is_unused() {
            drop_argument(module, kernel.op, self.argument.index(), rewriter);
        }
    }
}

/// Removes an argument that nothing reads.
fn drop_argument<'c>(module: Op<'c>, kernel: Op<'c>, index: usize, rewriter: &mut Rewriter<'c>) {
    let cx = module.cx();
    rewriter.erase_arg(kernel.body(0), index);
    let mut shapes = kernel.attr("shapes").and_then(Attr::as_array).unwrap_or_default();
    shapes.remove(index);
    rewriter.set_attr(kernel, "shapes", cx.array_attr(&shapes));
    let symbols = kernel.ints("symbols").unwrap_or_default();
    let symbols: Vec<i64> = symbols.into_iter().map(|at| if at > index as i64 { at - 1 } else { at }).collect();
    rewriter.set_attr(kernel, "symbols", cx.i64s_attr(&symbols));
    for call in calls(module, kernel) {
        let mut operands = call.operands();
        operands.remove(index);
        rewriter.set_operands(call, &operands);
    }
}

/// The calls of a kernel.
pub fn calls<'c>(module: Op<'c>, kernel: Op<'c>) -> Vec<Op<'c>> {
    let name = kernel.str("sym_name");
    module
        .find_all(loops::Call::NAME)
        .into_iter()
        .filter(|call| call.attr("callee").and_then(|callee| callee.as_symbol()) == name)
        .collect()
}

//! Control flow between lanes: branches, loops, and code in f64 for lanes of f32.

use super::bodies::where_any;
use super::lanes::{Float, Lanes, Mask};
use strata_core::ir::{OpSpec, Value};
use strata_core::upstream::{arith, scf, vector};

impl<'a, 'b, 'c> Mask<'a, 'b, 'c> {
    /// What `yes` makes of some numbers in the lanes whose bit is set, what `no` makes of them in the others. Either runs only when
    /// a lane needs it.
    pub(super) fn either<const N: usize>(
        self,
        numbers: [Float<'a, 'b, 'c>; N],
        yes: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; N]) -> Float<'x, 'y, 'c>,
        no: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; N]) -> Float<'x, 'y, 'c>,
    ) -> Float<'a, 'b, 'c> {
        let lanes = self.lanes;
        let numbers = numbers.map(|number| number.value);
        let zero = numbers[0];
        let (yes, no) = lanes.build(|builder| {
            if !lanes.is_vector() {
                let value = scf::choose(
                    builder,
                    self.value,
                    lanes.ty(),
                    |builder| lanes.inner(builder, numbers, yes),
                    |builder| lanes.inner(builder, numbers, no),
                );
                return (value, value);
            }
            let yes = where_any(builder, self.value, zero, |builder| lanes.inner(builder, numbers, yes));
            let all = vector::reduction(builder, vector::CombiningKind::And, self.value);
            let no = scf::choose(builder, all, lanes.ty(), |_| zero, |builder| lanes.inner(builder, numbers, no));
            (yes, no)
        });
        if yes == no { lanes.float(yes) } else { self.select(lanes.float(yes), lanes.float(no)) }
    }
}

impl<'b, 'c> Lanes<'b, 'c> {
    /// Runs `step` on numbers of all lanes until `goes_on` holds in none; a lane where it does not hold keeps its numbers.
    pub(super) fn repeat<'a, const N: usize>(
        &'a self,
        numbers: [Float<'a, 'b, 'c>; N],
        goes_on: impl for<'x, 'y> Fn([Float<'x, 'y, 'c>; N]) -> Mask<'x, 'y, 'c>,
        step: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; N]) -> [Float<'x, 'y, 'c>; N],
    ) -> [Float<'a, 'b, 'c>; N] {
        let (start, types) = (numbers.map(|number| number.value), [self.ty(); N]);
        let results: [Value<'c>; N] = self.build(|builder| {
            let op = builder.op(OpSpec { name: scf::While::NAME, operands: &start, results: &types, regions: 2, ..OpSpec::default() });
            let [before, after] = [0, 1].map(|region| op.region(region).append_block(&types, builder.location()));
            builder.within(before, |builder| {
                let at = before.args();
                let mask = {
                    let lanes = self.like(builder);
                    goes_on(std::array::from_fn(|i| lanes.float(at[i]))).value
                };
                let any = if self.is_vector() { vector::reduction(builder, vector::CombiningKind::Or, mask) } else { mask };
                scf::condition(builder, any, &at);
            });
            builder.within(after, |builder| {
                let at = after.args();
                let next = {
                    let lanes = self.like(builder);
                    let numbers = std::array::from_fn(|i| lanes.float(at[i]));
                    let mask = goes_on(numbers);
                    let next = step(numbers);
                    // A scalar is here only when it goes on.
                    let kept = |i: usize| if self.is_vector() { mask.select(next[i], numbers[i]) } else { next[i] };
                    std::array::from_fn::<_, N, _>(|i| kept(i).value)
                };
                scf::yield_(builder, &next);
            });
            std::array::from_fn(|i| op.result(i))
        });
        results.map(|value| self.float(value))
    }
}

impl<'a, 'b, 'c> Float<'a, 'b, 'c> {
    /// What `f` makes of the number in f64, rounded once to the type.
    pub(super) fn in_f64(self, f: impl for<'x, 'y> FnOnce(Float<'x, 'y, 'c>) -> Float<'x, 'y, 'c>) -> Self {
        Self::in_f64_of([self], |[x]| f(x))
    }

    /// The same of several numbers of one type.
    pub(super) fn in_f64_of<const N: usize>(
        numbers: [Self; N],
        f: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; N]) -> Float<'x, 'y, 'c>,
    ) -> Self {
        let lanes = numbers[0].lanes;
        let values = numbers.map(|number| number.value);
        if !lanes.is_f32() {
            return lanes.float(lanes.build(|builder| lanes.inner(builder, values, f)));
        }
        let ty = lanes.ty();
        let wide = super::with_element(ty, ty.cx().f64());
        let value = lanes.build(|builder| {
            let values = values.map(|value| arith::extf(builder, value, wide));
            let y = {
                let wide = Lanes::new(builder, wide, false);
                f(values.map(|value| wide.float(value))).value
            };
            arith::truncf(builder, y, ty)
        });
        lanes.float(value)
    }

    /// The value of an op of `math` in f64, rounded once: in f32 the C library's value but for one in hundreds, which PyTorch computes with.
    pub(super) fn rounded(self, op: &'static str) -> Self {
        self.in_f64(|x| x.unary(op))
    }
}

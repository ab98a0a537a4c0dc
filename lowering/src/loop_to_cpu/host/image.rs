//! What the code image holds beside code.

use super::Host;
use crate::emit::{Error, memory};
use strata_core::ir::{Builder, Op, OpSpec, Value};
use strata_core::upstream::llvm;

/// Code reaches its constants by offsets of four bytes.
const MOST: usize = i32::MAX as usize;

impl<'c> Host<'c, '_> {
    /// Elements in the code image, and how many bytes they are.
    pub(crate) fn constant(&mut self, op: Op<'c>) -> Result<(Value<'c>, i64), Error> {
        let value = op.attr("value").ok_or_else(|| Error::at(op, "it has no value"))?;
        let (mut bytes, splat) = value.as_dense().ok_or_else(|| Error::at(op, "its value is not dense"))?;
        if splat {
            let times = value.ty().num_elements().unwrap_or(1).max(0) as usize;
            let room = bytes.len().checked_mul(times).filter(|&room| room <= MOST);
            room.ok_or_else(|| Error::at(op, format!("its value has more than {MOST} bytes, the most that code can address")))?;
            bytes = bytes.repeat(times);
        }
        let count = bytes.len().max(1) as i64;
        bytes.resize(count as usize, 0);
        Ok((self.data(op, &bytes)?, count))
    }

    /// Bytes in the code image.
    pub(crate) fn data(&mut self, op: Op<'c>, bytes: &[u8]) -> Result<Value<'c>, Error> {
        let (cx, count) = (self.cx, bytes.len() as i64);
        let name = format!("{}.constant.{}", self.name, self.constants);
        self.constants += 1;
        let parse = |text: &str| cx.parse_type(text).ok_or_else(|| Error::at(op, "the LLVM dialect is not loaded"));
        let dense = cx.dense_attr(cx.tensor(&[count], cx.int(8)), bytes).ok_or_else(|| Error::at(op, "its bytes cannot be kept"))?;
        let linkage = cx.parse_attr("#llvm.linkage<internal>").ok_or_else(|| Error::at(op, "the LLVM dialect is not loaded"))?;
        Builder::before(self.func).op(OpSpec {
            name: llvm::Global::NAME,
            attrs: &[
                ("sym_name", cx.str_attr(&name)),
                ("global_type", cx.type_attr(parse(&format!("!llvm.array<{count} x i8>"))?)),
                ("linkage", linkage),
                ("constant", cx.unit()),
                ("value", dense),
                ("alignment", cx.i64_attr(64)),
                ("addr_space", cx.int_attr(cx.int(32), 0)),
            ],
            regions: 1,
            ..OpSpec::default()
        });
        Ok(llvm::address_of(&mut self.b, &name, memory::pointer(cx)))
    }
}

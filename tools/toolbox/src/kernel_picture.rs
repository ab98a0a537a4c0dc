//! A kernel as nested boxes: its loops from the outermost to the stages inside, before and after it has a schedule.

use std::fmt::Write as _;

use strata_core::ir::Op;
use strata_core::upstream::arith;
use strata_dialects::loops;
use strata_dialects::loops::schedule::{LoopKind, SCHEDULE, nest};
use strata_dialects::loops::view::{KernelView, StageView};

/// Sizes in pixels: a line of text, the room around what is in a box, a character of a heading.
const LINE: f64 = 20.0;
const ROOM: f64 = 8.0;
const CHARACTER: f64 = 7.2;

/// A box with a heading and boxes below each other in it.
struct Frame {
    heading: String,
    color: &'static str,
    inner: Vec<Frame>,
}

impl Frame {
    fn new(heading: impl Into<String>, color: &'static str, inner: Vec<Frame>) -> Self {
        Self { heading: heading.into(), color, inner }
    }

    fn width(&self) -> f64 {
        let inner = self.inner.iter().map(Frame::width).fold(0.0, f64::max);
        (self.heading.chars().count() as f64 * CHARACTER).max(inner) + 2.0 * ROOM
    }

    fn height(&self) -> f64 {
        LINE + ROOM + self.inner.iter().map(|frame| frame.height() + ROOM).sum::<f64>()
    }

    fn draw(&self, page: &mut String, (x, y): (f64, f64), width: f64) -> std::fmt::Result {
        let (height, color) = (self.height(), self.color);
        writeln!(page, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"{color}\" stroke=\"#777\"/>")?;
        writeln!(page, "<text x=\"{}\" y=\"{}\">{}</text>", x + ROOM, y + LINE - 4.0, self.heading)?;
        let mut top = y + LINE + ROOM / 2.0;
        for frame in &self.inner {
            frame.draw(page, (x + ROOM, top), width - 2.0 * ROOM)?;
            top += frame.height() + ROOM;
        }
        Ok(())
    }
}

/// Two kernels beside each other, each below its title, as SVG. `None` where one has no stages.
pub fn side_by_side(kernels: [(&str, Op<'_>); 2]) -> Option<String> {
    let [left, right] = kernels.map(|(title, kernel)| Some(Frame::new(title, "white", vec![frame(kernel)?])));
    let (left, right) = (left?, right?);
    let (first, second) = (left.width(), right.width());
    let (width, height) = (first + second + 3.0 * ROOM, left.height().max(right.height()) + 2.0 * ROOM);
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    left.draw(&mut page, (ROOM, ROOM), first).ok()?;
    right.draw(&mut page, (first + 2.0 * ROOM, ROOM), second).ok()?;
    page.push_str("</svg>\n");
    Some(page)
}

/// The loops and stages of a kernel.
fn frame(kernel: Op<'_>) -> Option<Frame> {
    let view = KernelView::new(kernel)?;
    if kernel.attr(SCHEDULE).is_none() {
        // Without a schedule each stage runs over its whole domain before the next.
        let stages = view.stages.iter().map(|stage| loops_of(&view, stage, &[])).collect();
        return Some(Frame::new("kernel", "#fafafa", stages));
    }
    let phases = view.phases().iter().map(scheduled).collect();
    Some(Frame::new("kernel", "#fafafa", phases))
}

fn scheduled(phase: &KernelView<'_>) -> Frame {
    let mut inner: Vec<Frame> = phase.stages.iter().map(|stage| loops_of(phase, stage, &phase.outer)).collect();
    let loops = nest(phase);
    let in_registers = loops.iter().any(|cut| cut.kind == LoopKind::Register);
    let schedule = phase.schedule();
    for (kind, what, color) in [
        (LoopKind::Element, "each", "#f4f4f4"),
        (LoopKind::Register, "register tiles:", "#fdf0e0"),
        (LoopKind::Tile, "tiles, which threads share:", "#e4f0e4"),
        (LoopKind::Block, "blocks, which fit a cache:", "#e8eef6"),
    ] {
        let of_kind: Vec<_> = loops.iter().filter(|cut| cut.kind == kind).collect();
        // A register tile is written out: no loop is left in it.
        if of_kind.is_empty() || (kind == LoopKind::Element && in_registers) {
            continue;
        }
        let cuts: Vec<String> = of_kind
            .iter()
            .map(|cut| if cut.step == 1 { format!("d{}", cut.dim) } else { format!("d{} by {}", cut.dim, cut.step) })
            .collect();
        let lanes = match (kind, schedule.vector, schedule.width) {
            (LoopKind::Register, Some(dim), Some(width)) => format!(", lanes: {width} of d{dim}"),
            _ => String::new(),
        };
        inner = vec![Frame::new(format!("{what} {}{lanes}", cuts.join(", ")), color, inner)];
    }
    Frame {
        heading: if phase.outer.is_empty() { "once".to_owned() } else { "loops around all stages".to_owned() },
        color: "#fafafa",
        inner,
    }
}

/// A stage with the loops of its own: those that do not stand around all stages.
fn loops_of(kernel: &KernelView<'_>, stage: &StageView<'_>, outer: &[usize]) -> Frame {
    let size = |dim: usize| kernel.static_size(dim).map_or_else(|| format!("d{dim}"), |size| format!("d{dim} < {size}"));
    let own: Vec<String> = stage.domain.iter().copied().filter(|dim| !outer.contains(dim)).map(size).collect();
    let computed = |op: &Op<'_>| !op.isa::<arith::Constant>() && !op.isa::<loops::Yield>();
    let body: Vec<&str> = stage.op.body(0).ops().into_iter().filter(computed).map(Op::name).collect();
    let reducer = stage.op.str("reducer").map(|reducer| format!("{reducer} of ")).unwrap_or_default();
    let space = stage.op.str("space").map(|space| format!(" to {space}")).unwrap_or_default();
    let text = if body.is_empty() { "a copy".to_owned() } else { body.join(", ") };
    let work = Frame::new(format!("stage: {reducer}{text}{space}"), "#ffffff", Vec::new());
    if own.is_empty() { work } else { Frame::new(format!("for {}", own.join(", ")), "#f4f4f4", vec![work]) }
}

//! Locations: the node's name, the module it stands in and the python line, as far as the archive tells.

use strata_core::ir::{Cx, Location};

use crate::pt2::schema::Node;

/// `loc("add_3"("layers.0"(file:line)))`.
pub(super) fn location<'c>(cx: Cx<'c>, node: &Node) -> Location<'c> {
    let mut location = match line(node) {
        Some((file, line)) => cx.file_location(file, line, 1),
        None => cx.unknown(),
    };
    if let Some(module) = module(node) {
        location = cx.name_location(module, location);
    }
    cx.name_location(name(node), location)
}

/// The node's own name, or its first output's.
pub(super) fn name(node: &Node) -> &str {
    match &node.name {
        Some(name) if !name.is_empty() => name,
        _ => node.target.rsplit('.').next().unwrap_or_default(),
    }
}

/// ` at FILE:LINE` for messages, or nothing.
pub(super) fn place(node: &Node) -> String {
    line(node).map_or(String::new(), |(file, line)| format!(" at {file}:{line}"))
}

/// The innermost line of the python stack that is not PyTorch's own, if there is one: a layer's call rather than its body.
fn line(node: &Node) -> Option<(&str, u32)> {
    let trace = node.metadata.get("stack_trace")?;
    let frames: Vec<_> = trace.split("File \"").skip(1).filter_map(frame).collect();
    frames.iter().rfind(|(file, _)| !is_pytorch(file)).or(frames.last()).copied()
}

/// The file and the line of a frame, `net.py", line 3, in forward`.
fn frame(text: &str) -> Option<(&str, u32)> {
    let (file, rest) = text.split_once("\", line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((file, rest[..digits].parse().ok()?))
}

fn is_pytorch(file: &str) -> bool {
    file.contains("/site-packages/torch/") || file.contains("/torch/nn/")
}

/// The fully qualified name of the innermost module: `key,name,type` is repeated with semicolons between.
fn module(node: &Node) -> Option<&str> {
    let stack = node.metadata.get("nn_module_stack")?;
    stack.rsplit(';').next()?.split(',').nth(1).filter(|name| !name.is_empty())
}

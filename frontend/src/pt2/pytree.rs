//! How nested python inputs and outputs flatten: the tree specs that `torch.export` stores as JSON text.

use serde::Deserialize;

/// One step into a nested value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The place in a tuple or list.
    Index(usize),
    /// The key of a dictionary, or the name of a field or argument.
    Name(String),
}

/// A nested value with leaves.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// One flattened value.
    Leaf,
    /// A container; `None` has no children.
    Node {
        /// The python type, `builtins.tuple` for example.
        kind: String,
        /// The children with the step that leads to each.
        children: Vec<(Key, Tree)>,
    },
}

#[derive(Deserialize)]
struct Spec {
    #[serde(rename = "type")]
    kind: Option<String>,
    context: Option<serde_json::Value>,
    #[serde(default)]
    children_spec: Vec<Spec>,
}

impl Tree {
    /// Reads `[1, {"type": .., "context": .., "children_spec": [..]}]`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (version, spec): (u32, Spec) = serde_json::from_str(text).map_err(|error| format!("not a tree spec: {error}"))?;
        match version {
            1 => tree(spec),
            _ => Err(format!("tree specs of version {version} are not read")),
        }
    }

    /// The way to each leaf, in flattened order.
    pub fn leaves(&self) -> Vec<Vec<Key>> {
        let mut leaves = Vec::new();
        self.collect(&mut Vec::new(), &mut leaves);
        leaves
    }

    fn collect(&self, path: &mut Vec<Key>, leaves: &mut Vec<Vec<Key>>) {
        match self {
            Self::Leaf => leaves.push(path.clone()),
            Self::Node { children, .. } => {
                for (key, child) in children {
                    path.push(key.clone());
                    child.collect(path, leaves);
                    path.pop();
                }
            }
        }
    }
}

fn tree(spec: Spec) -> Result<Tree, String> {
    let Some(kind) = spec.kind else { return Ok(Tree::Leaf) };
    let keys = spec.context.as_ref().and_then(dictionary_keys).filter(|keys| keys.len() == spec.children_spec.len());
    let keys = keys.unwrap_or_else(|| (0..spec.children_spec.len()).map(Key::Index).collect());
    let children = spec.children_spec.into_iter().map(tree).collect::<Result<Vec<_>, _>>()?;
    Ok(Tree::Node { kind, children: keys.into_iter().zip(children).collect() })
}

/// The keys that a dictionary's context lists; the context is JSON, sometimes as text.
fn dictionary_keys(context: &serde_json::Value) -> Option<Vec<Key>> {
    let parsed;
    let value = match context {
        serde_json::Value::String(text) => {
            parsed = serde_json::from_str::<serde_json::Value>(text).ok()?;
            &parsed
        }
        value => value,
    };
    value.as_array()?.iter().map(|key| Some(Key::Name(key.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_keep_their_keys() {
        let text = r#"[1, {"type": "builtins.tuple", "context": "null", "children_spec": [
            {"type": null, "context": null, "children_spec": []},
            {"type": "builtins.dict", "context": "[\"a\", \"b\"]", "children_spec": [
                {"type": null, "context": null, "children_spec": []},
                {"type": "builtins.list", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}]}]}]}]"#;
        let (index, name) = (Key::Index, |name: &str| Key::Name(name.to_owned()));
        let want = vec![vec![index(0)], vec![index(1), name("a")], vec![index(1), name("b"), index(0)]];
        assert_eq!(Tree::parse(text).expect("a tree").leaves(), want);
    }
}

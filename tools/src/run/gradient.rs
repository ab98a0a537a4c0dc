//! What a file says of gradients and tangents: tensors `cot_k`, `grad_in_k`, `grad_p_NAME`, or `tan_in_k`, `tan_p_NAME`, `tan_out_k`, and
//! `grad` of its metadata.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;

/// `grad` of the metadata.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gradient {
    /// 1: gradients of the outputs; 2: gradients of these gradients, which have cotangents `cot_grad_NAME` by `wrt`.
    #[serde(default = "first")]
    order: u32,
    /// Which way.
    #[serde(default)]
    mode: Mode,
    /// The outputs that have a cotangent.
    #[serde(default)]
    cot: Vec<Place>,
    /// What is differentiated by: `in_k` or `p_NAME`.
    #[serde(default)]
    wrt: Vec<String>,
    /// Of these, those that the outputs do not depend on.
    #[serde(default)]
    none: Vec<String>,
    /// How far each gradient may be off.
    #[serde(default)]
    atol: HashMap<String, f64>,
}

/// Which way a program is differentiated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Gradients of arguments from cotangents of outputs.
    #[default]
    Vjp,
    /// Tangents of outputs from tangents of arguments.
    Jvp,
}

/// An output, as its number or as `cot_k`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Place {
    Number(usize),
    Name(String),
}

impl Place {
    fn number(&self) -> Option<usize> {
        match self {
            Place::Number(place) => Some(*place),
            Place::Name(name) => name.rsplit('_').next()?.parse().ok(),
        }
    }
}

fn first() -> u32 {
    1
}

/// `in_k` or `p_NAME`, also of the tensor that holds the gradient.
fn bare(name: &str) -> &str {
    name.strip_prefix("grad_").unwrap_or(name)
}

impl Gradient {
    /// Reads the metadata's text.
    pub fn read(text: &str) -> Result<Gradient, String> {
        let gradient: Gradient = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match gradient.order {
            2 if gradient.mode == Mode::Jvp => Err("tangents of order 2 are not compared".to_owned()),
            1 | 2 => Ok(gradient),
            order => Err(format!("gradients of order {order} are not compared; there are 1 and 2")),
        }
    }

    /// The names of the cotangents of the first gradients, where these are differentiated.
    fn second(&self) -> impl Iterator<Item = String> {
        self.wrt().filter(|_| self.order == 2).map(|name| format!("cot_grad_{name}"))
    }

    /// How many gradients or tangents stand behind the outputs.
    pub fn count(&self) -> usize {
        self.order as usize * self.compared().len()
    }

    /// The names of what is compared: `in_k` and `p_NAME` of gradients, `out_k` of tangents.
    pub fn compared(&self) -> Vec<String> {
        match self.mode {
            Mode::Vjp => self.wrt().map(str::to_owned).collect(),
            Mode::Jvp => self.cotangents().iter().map(|place| format!("out_{place}")).collect(),
        }
    }

    /// The name of a tensor that is compared.
    pub fn expected(&self, name: &str) -> String {
        match self.mode {
            Mode::Vjp => format!("grad_{name}"),
            Mode::Jvp => format!("tan_{name}"),
        }
    }

    /// The names of the tensors that the call takes behind its inputs.
    pub fn seeds(&self) -> Vec<String> {
        match self.mode {
            Mode::Vjp => self.cotangents().iter().map(|place| format!("cot_{place}")).chain(self.second()).collect(),
            Mode::Jvp => self.wrt().map(|name| format!("tan_{name}")).collect(),
        }
    }

    /// The places of the outputs that have a cotangent.
    pub fn cotangents(&self) -> Vec<usize> {
        self.cot.iter().filter_map(Place::number).collect()
    }

    /// What is differentiated by, as the file names it: `in_k` or `p_NAME`.
    pub fn wrt(&self) -> impl Iterator<Item = &str> {
        self.wrt.iter().map(|name| bare(name))
    }

    /// Which way.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the outputs do not depend on it.
    pub fn is_none(&self, name: &str) -> bool {
        self.none.iter().any(|none| bare(none) == name)
    }

    /// How far a gradient may be off.
    pub fn atol(&self, name: &str) -> Option<f64> {
        self.atol.iter().find(|(of, _)| bare(of) == name).map(|(_, atol)| *atol)
    }

    /// The compiler's options with the gradients asked for.
    pub fn options(&self, options: &str) -> Result<String, serde_json::Error> {
        let wrt: Vec<_> = self.wrt().map(|name| name.strip_prefix("p_").unwrap_or(name)).collect();
        with_gradient(options, &wrt, &self.cotangents(), self.order, self.mode)
    }
}

/// The compiler's options with the gradients by these arguments, of the outputs that have a cotangent; or with the tangents of these outputs.
pub fn with_gradient(options: &str, wrt: &[&str], cotangents: &[usize], order: u32, mode: Mode) -> Result<String, serde_json::Error> {
    let mut options: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options)?;
    options.insert("gradient".into(), json!({ "wrt": wrt, "cotangents": cotangents, "order": order, "forward": mode == Mode::Jvp }));
    Ok(serde_json::Value::Object(options).to_string())
}

//! What an optimizer is told, as in `adamw,lr=1e-3,weight_decay=0.1`: PyTorch's names and defaults.

use std::str::FromStr;

/// Settings of a training step.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How a parameter goes on from its gradient.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub lr: Rate,
    /// The part of a parameter that is added to its gradient or, by `adamw`, taken off the parameter.
    pub weight_decay: f64,
    /// Whether the loss is to grow.
    pub maximize: bool,
    /// The norm of all gradients together that larger ones are scaled down to.
    pub clip_norm: Option<f64>,
    /// Calls whose mean gradient makes one step.
    pub accumulate: i64,
}

/// The rule of an optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// `torch.optim.SGD`.
    Sgd {
        /// The part of the direction of the last step that is kept.
        momentum: f64,
        /// The part of a gradient that does not go into the direction.
        dampening: f64,
        /// Whether the gradient is taken where the direction leads.
        nesterov: bool,
    },
    /// `torch.optim.Adam`, and `torch.optim.AdamW` where the decay of weights is `decoupled` from gradients.
    Adam {
        /// The decay of the mean of gradients.
        beta1: f64,
        /// The decay of the mean of their squares.
        beta2: f64,
        /// What keeps the denominator off 0.
        eps: f64,
        /// Whether the denominator is the largest so far.
        amsgrad: bool,
        /// Whether weights decay by themselves.
        decoupled: bool,
    },
}

/// The learning rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// The same for all steps.
    Constant(f64),
    /// An input of each call, `lr`.
    Input,
}

/// Settings that make no step.
#[derive(Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SettingsError {
    #[error("no optimizer is named; there are {}", names().join(", "))]
    NoOptimizer,
    #[error("there is no optimizer `{0}`; there are {list}", list = names().join(", "))]
    UnknownOptimizer(String),
    #[error("`lr` is missing, the learning rate: write lr=0.1, or lr=input for one that each call brings")]
    NoRate,
    #[error("`{name}` says nothing to {optimizer}, which takes {}", known.join(", "))]
    Unknown { name: String, optimizer: &'static str, known: Vec<&'static str> },
    #[error("`{name}` is given twice")]
    Twice { name: String },
    #[error("{name}={value}: it is {wanted}")]
    Value { name: &'static str, value: String, wanted: &'static str },
    #[error("nesterov needs a momentum, and no dampening")]
    Nesterov,
    #[error("dampening says nothing without a momentum")]
    Dampening,
}

/// Settings that every optimizer takes.
const COMMON: &[&str] = &["lr", "weight_decay", "maximize", "clip_norm", "accumulate"];

/// The optimizers and what each takes beside that, sorted.
const OPTIMIZERS: &[(&str, &[&str])] = &[
    ("adam", &["beta1", "beta2", "eps", "amsgrad"]),
    ("adamw", &["beta1", "beta2", "eps", "amsgrad"]),
    ("sgd", &["momentum", "dampening", "nesterov"]),
];

fn names() -> Vec<&'static str> {
    OPTIMIZERS.iter().map(|(name, _)| *name).collect()
}

/// Settings as texts, by name.
struct Given<'a>(&'a [(String, String)]);

impl Given<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    fn parsed<T: FromStr>(&self, name: &'static str, wanted: &'static str, fits: impl Fn(&T) -> bool) -> Result<Option<T>, SettingsError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let value = text.parse().ok().filter(fits);
        value.map(Some).ok_or_else(|| SettingsError::Value { name, value: text.to_owned(), wanted })
    }

    fn number(&self, name: &'static str, default: f64) -> Result<f64, SettingsError> {
        let number = self.parsed(name, "a number that is not negative", |number: &f64| number.is_finite() && *number >= 0.0)?;
        Ok(number.unwrap_or(default))
    }

    fn decay(&self, name: &'static str, default: f64) -> Result<f64, SettingsError> {
        let number = self.parsed(name, "a number from 0 up to 1, without 1", |number: &f64| (0.0..1.0).contains(number))?;
        Ok(number.unwrap_or(default))
    }

    fn flag(&self, name: &'static str) -> Result<bool, SettingsError> {
        Ok(self.parsed(name, "true or false", |_: &bool| true)?.unwrap_or_default())
    }
}

impl Settings {
    /// Settings from texts by name, `optimizer` among them.
    pub fn of(given: &[(String, String)]) -> Result<Self, SettingsError> {
        let named = Given(given);
        let asked = named.text("optimizer").ok_or(SettingsError::NoOptimizer)?;
        let found = OPTIMIZERS.iter().find(|(name, _)| *name == asked);
        let (optimizer, own) = *found.ok_or_else(|| SettingsError::UnknownOptimizer(asked.to_owned()))?;
        for (k, (name, _)) in given.iter().enumerate() {
            let known = || COMMON.iter().chain(own).copied();
            if name != "optimizer" && !known().any(|known| known == name) {
                return Err(SettingsError::Unknown { name: name.clone(), optimizer, known: known().collect() });
            }
            if given[..k].iter().any(|(other, _)| other == name) {
                return Err(SettingsError::Twice { name: name.clone() });
            }
        }
        let lr = match named.text("lr") {
            None => return Err(SettingsError::NoRate),
            Some("input") => Rate::Input,
            Some(_) => Rate::Constant(named.number("lr", 0.0)?),
        };
        let sgd = optimizer == "sgd";
        let decoupled = optimizer == "adamw";
        let rule = if sgd {
            let (momentum, dampening) = (named.number("momentum", 0.0)?, named.number("dampening", 0.0)?);
            let nesterov = named.flag("nesterov")?;
            if nesterov && (momentum == 0.0 || dampening != 0.0) {
                return Err(SettingsError::Nesterov);
            }
            if dampening != 0.0 && momentum == 0.0 {
                return Err(SettingsError::Dampening);
            }
            Optimizer::Sgd { momentum, dampening, nesterov }
        } else {
            let (beta1, beta2) = (named.decay("beta1", 0.9)?, named.decay("beta2", 0.999)?);
            Optimizer::Adam { beta1, beta2, eps: named.number("eps", 1e-8)?, amsgrad: named.flag("amsgrad")?, decoupled }
        };
        Ok(Self {
            optimizer: rule,
            lr,
            weight_decay: named.number("weight_decay", if decoupled { 0.01 } else { 0.0 })?,
            maximize: named.flag("maximize")?,
            clip_norm: named.parsed("clip_norm", "a number above 0", |norm: &f64| norm.is_finite() && *norm > 0.0)?,
            accumulate: named.parsed("accumulate", "a number of calls, at least 1", |calls: &i64| *calls >= 1)?.unwrap_or(1),
        })
    }

    /// The pairs of a text as in `adamw,lr=1e-3,amsgrad`: the optimizer, then settings, `weight_decay` or `weight-decay`; a flag may stand
    /// without `=true`.
    pub fn pairs(text: &str) -> Vec<(String, String)> {
        let name = |text: &str| text.trim().replace('-', "_");
        let pair = |(k, part): (usize, &str)| match part.split_once('=') {
            Some((setting, value)) => (name(setting), value.trim().to_owned()),
            None if k == 0 => ("optimizer".to_owned(), part.trim().to_owned()),
            None => (name(part), "true".to_owned()),
        };
        text.split(',').filter(|part| !part.trim().is_empty()).enumerate().map(pair).collect()
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// From a text as in `adamw,lr=1e-3,amsgrad`.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        Self::of(&Self::pairs(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Settings>().expect_err(text).to_string()
    }

    #[test]
    fn the_defaults_are_pytorchs() {
        let adamw: Settings = "adamw,lr=0.001,amsgrad".parse().expect("it is right");
        let rule = Optimizer::Adam { beta1: 0.9, beta2: 0.999, eps: 1e-8, amsgrad: true, decoupled: true };
        assert_eq!((adamw.optimizer, adamw.weight_decay, adamw.accumulate), (rule, 0.01, 1));
        let adam: Settings = "adam,lr=input".parse().expect("it is right");
        assert_eq!((adam.lr, adam.weight_decay), (Rate::Input, 0.0));
    }

    #[test]
    fn what_makes_no_step_is_refused() {
        assert_eq!(refused(""), "no optimizer is named; there are adam, adamw, sgd");
        assert_eq!(refused("rmsprop,lr=1"), "there is no optimizer `rmsprop`; there are adam, adamw, sgd");
        assert_eq!(refused("sgd"), "`lr` is missing, the learning rate: write lr=0.1, or lr=input for one that each call brings");
        assert!(refused("adam,lr=1,momentum=0.9").starts_with("`momentum` says nothing to adam, which takes lr, weight_decay"));
        assert_eq!(refused("sgd,lr=1,lr=2"), "`lr` is given twice");
        assert_eq!(refused("sgd,lr=fast"), "lr=fast: it is a number that is not negative");
        assert_eq!(refused("adam,lr=1,beta1=1"), "beta1=1: it is a number from 0 up to 1, without 1");
        assert_eq!(refused("sgd,lr=1,nesterov"), "nesterov needs a momentum, and no dampening");
        assert_eq!(refused("sgd,lr=1,dampening=0.5"), "dampening says nothing without a momentum");
        assert_eq!(refused("sgd,lr=1,accumulate=0"), "accumulate=0: it is a number of calls, at least 1");
    }
}

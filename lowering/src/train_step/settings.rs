//! What an optimizer is told, as in `adamw,lr=1e-3,weight_decay=0.1`: PyTorch's names and defaults.

use std::str::FromStr;

/// Settings of a training step.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How a parameter that is in no group goes on from its gradient.
    pub rule: Rule,
    /// Parameters with settings of their own.
    pub groups: Vec<Group>,
    /// The norm of all gradients together that larger ones are scaled down to.
    pub clip_norm: Option<f64>,
    /// Calls whose mean gradient makes one step.
    pub accumulate: i64,
    /// What the loss is multiplied by for the backward.
    pub loss_scale: Option<LossScale>,
}

/// What the loss is multiplied by for the backward, so that gradients of halves do not vanish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossScale {
    /// The same for all steps.
    Constant(f64),
    /// As `torch.amp.GradScaler` chooses it.
    Dynamic {
        /// The first one.
        init_scale: f64,
        /// What it is multiplied by after `growth_interval` steps.
        growth_factor: f64,
        /// What it is multiplied by where gradients are not finite.
        backoff_factor: f64,
        /// Steps of one scale before it grows.
        growth_interval: i64,
    },
}

/// How a parameter goes on from its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub lr: Rate,
    /// The part of a parameter that is added to its gradient or, by `adamw`, taken off the parameter.
    pub weight_decay: f64,
    /// Whether the loss is to grow.
    pub maximize: bool,
}

/// A group of parameters: one of PyTorch's `param_groups`.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Their names; a `*` stands for any text.
    pub params: Vec<String>,
    /// Their rule.
    pub rule: Rule,
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
    /// An input of each call: `lr`, and `lr_1`, `lr_2` of the groups that have their own.
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
    #[error("`{0}` says nothing without loss_scale=dynamic")]
    Scale(&'static str),
    #[error("a group of parameters says which: params=head.weight+head.bias, or params=*.bias")]
    NoParams,
    #[error("`{0}` is a setting of the whole step, not of a group of parameters")]
    OfStep(String),
    #[error("nesterov needs a momentum, and no dampening")]
    Nesterov,
    #[error("dampening says nothing without a momentum")]
    Dampening,
}

/// Settings of a rule that every optimizer takes.
const COMMON: &[&str] = &["lr", "weight_decay", "maximize"];

/// Settings of a step.
const STEP: &[&str] = &["clip_norm", "accumulate", "loss_scale", "init_scale", "growth_factor", "backoff_factor", "growth_interval"];

/// Settings of a dynamic scale.
const DYNAMIC: [&str; 4] = ["init_scale", "growth_factor", "backoff_factor", "growth_interval"];

/// The optimizers and what each takes beside that, sorted.
const OPTIMIZERS: &[(&str, &[&str])] = &[
    ("adam", &["beta1", "beta2", "eps", "amsgrad"]),
    ("adamw", &["beta1", "beta2", "eps", "amsgrad"]),
    ("sgd", &["momentum", "dampening", "nesterov"]),
];

fn names() -> Vec<&'static str> {
    OPTIMIZERS.iter().map(|(name, _)| *name).collect()
}

/// Settings as texts with their names.
pub type Pairs = Vec<(String, String)>;

/// Settings as texts, by name.
struct Given<'a>(&'a [(String, String)]);

impl<'a> Given<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
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

    fn positive(&self, name: &'static str, default: f64) -> Result<f64, SettingsError> {
        let number = self.parsed(name, "a number above 0", |number: &f64| number.is_finite() && *number > 0.0)?;
        Ok(number.unwrap_or(default))
    }

    fn loss_scale(&self) -> Result<Option<LossScale>, SettingsError> {
        if self.text("loss_scale") == Some("dynamic") {
            let growth = self.parsed("growth_factor", "a number above 1", |factor: &f64| factor.is_finite() && *factor > 1.0)?;
            let backoff = self.parsed("backoff_factor", "a number between 0 and 1", |factor: &f64| 0.0 < *factor && *factor < 1.0)?;
            let interval = self.parsed("growth_interval", "a number of steps, at least 1", |steps: &i32| *steps >= 1)?;
            return Ok(Some(LossScale::Dynamic {
                init_scale: self.positive("init_scale", 65536.0)?,
                growth_factor: growth.unwrap_or(2.0),
                backoff_factor: backoff.unwrap_or(0.5),
                growth_interval: interval.unwrap_or(2000).into(),
            }));
        }
        if let Some(name) = DYNAMIC.into_iter().find(|name| self.text(name).is_some()) {
            return Err(SettingsError::Scale(name));
        }
        let wanted = "dynamic, or a number above 0";
        let scale = self.parsed("loss_scale", wanted, |scale: &f64| scale.is_finite() && *scale > 0.0)?;
        Ok(scale.map(LossScale::Constant))
    }

    fn flag(&self, name: &'static str) -> Result<bool, SettingsError> {
        Ok(self.parsed(name, "true or false", |_: &bool| true)?.unwrap_or_default())
    }
}

impl Rule {
    fn of(optimizer: &str, named: &Given<'_>) -> Result<Self, SettingsError> {
        let lr = match named.text("lr") {
            None => return Err(SettingsError::NoRate),
            Some("input") => Rate::Input,
            Some(_) => Rate::Constant(named.number("lr", 0.0)?),
        };
        let decoupled = optimizer == "adamw";
        let weight_decay = named.number("weight_decay", if decoupled { 0.01 } else { 0.0 })?;
        let optimizer = if optimizer == "sgd" {
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
        Ok(Self { optimizer, lr, weight_decay, maximize: named.flag("maximize")? })
    }
}

impl Group {
    /// Whether a parameter is in it.
    pub fn has(&self, parameter: &str) -> bool {
        self.params.iter().any(|pattern| matches(pattern, parameter))
    }
}

/// Whether a name is one that a pattern stands for.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).any(|at| name.get(at..).is_some_and(|name| matches(rest, name)))
}

impl Settings {
    /// Settings from texts by name, `optimizer` among them, and those of groups of parameters, which differ from them; `params` says whose.
    pub fn of(given: &[(String, String)], groups: &[Pairs]) -> Result<Self, SettingsError> {
        let named = Given(given);
        let asked = named.text("optimizer").ok_or(SettingsError::NoOptimizer)?;
        let found = OPTIMIZERS.iter().find(|(name, _)| *name == asked);
        let (optimizer, own) = *found.ok_or_else(|| SettingsError::UnknownOptimizer(asked.to_owned()))?;
        let known: Vec<_> = COMMON.iter().chain(STEP).chain(own).copied().collect();
        for given in [given].into_iter().chain(groups.iter().map(Vec::as_slice)) {
            for (k, (name, _)) in given.iter().enumerate() {
                if !matches!(name.as_str(), "optimizer" | "params") && !known.contains(&name.as_str()) {
                    return Err(SettingsError::Unknown { name: name.clone(), optimizer, known });
                }
                if given[..k].iter().any(|(other, _)| other == name) {
                    return Err(SettingsError::Twice { name: name.clone() });
                }
            }
        }
        if named.text("params").is_some() {
            return Err(SettingsError::Unknown { name: "params".to_owned(), optimizer, known });
        }
        let group = |own: &Pairs| {
            let params = Given(own).text("params").ok_or(SettingsError::NoParams)?;
            if let Some((name, _)) = own.iter().find(|(name, _)| name == "optimizer" || STEP.contains(&name.as_str())) {
                return Err(SettingsError::OfStep(name.clone()));
            }
            // The first of a name counts.
            let all: Vec<_> = own.iter().chain(given).cloned().collect();
            Ok(Group { params: params.split('+').map(str::to_owned).collect(), rule: Rule::of(optimizer, &Given(&all))? })
        };
        Ok(Self {
            rule: Rule::of(optimizer, &named)?,
            groups: groups.iter().map(group).collect::<Result<_, _>>()?,
            clip_norm: named.parsed("clip_norm", "a number above 0", |norm: &f64| norm.is_finite() && *norm > 0.0)?,
            loss_scale: named.loss_scale()?,
            accumulate: named.parsed("accumulate", "a number of calls, at least 1", |calls: &i64| *calls >= 1)?.unwrap_or(1),
        })
    }

    /// The pairs of a text as in `adamw,lr=1e-3,amsgrad`: the optimizer, then settings, `weight_decay` or `weight-decay`; a flag may stand
    /// without `=true`. The second are those of groups, as in `sgd,lr=0.1;params=head.weight+head.bias,lr=0.01`.
    pub fn pairs(text: &str) -> (Pairs, Vec<Pairs>) {
        let name = |text: &str| text.trim().replace('-', "_");
        let pair = |(k, part): (usize, &str)| match part.split_once('=') {
            Some((setting, value)) => (name(setting), value.trim().to_owned()),
            None if k == 0 => ("optimizer".to_owned(), part.trim().to_owned()),
            None => (name(part), "true".to_owned()),
        };
        let pairs = |text: &str| text.split(',').filter(|part| !part.trim().is_empty()).enumerate().map(pair).collect();
        let mut parts = text.split(';').map(pairs);
        (parts.next().unwrap_or_default(), parts.collect())
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    /// From a text as in `adamw,lr=1e-3,amsgrad`.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let (step, groups) = Self::pairs(text);
        Self::of(&step, &groups)
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
        assert_eq!((adamw.rule.optimizer, adamw.rule.weight_decay, adamw.accumulate), (rule, 0.01, 1));
        let adam: Settings = "adam,lr=input".parse().expect("it is right");
        assert_eq!((adam.rule.lr, adam.rule.weight_decay), (Rate::Input, 0.0));
        let scaled: Settings = "adam,lr=1,loss_scale=dynamic,init_scale=8".parse().expect("it is right");
        let scale = LossScale::Dynamic { init_scale: 8.0, growth_factor: 2.0, backoff_factor: 0.5, growth_interval: 2000 };
        assert_eq!(scaled.loss_scale, Some(scale));
    }

    #[test]
    fn a_group_differs_from_the_step() {
        let sgd: Settings = "sgd,lr=1,momentum=0.5;params=*.bias+head.*,lr=2".parse().expect("it is right");
        let [group] = sgd.groups.as_slice() else { panic!("{sgd:?}") };
        assert_eq!(group.rule, Rule { lr: Rate::Constant(2.0), ..sgd.rule });
        assert!(group.has("body.0.bias") && group.has("head.weight") && !group.has("body.0.weight") && !group.has("bias"));
        assert!(refused("sgd,lr=1;lr=2").starts_with("a group of parameters says which"));
        assert_eq!(refused("sgd,lr=1;params=w,clip_norm=2"), "`clip_norm` is a setting of the whole step, not of a group of parameters");
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
        assert_eq!(refused("sgd,lr=1,loss_scale=0"), "loss_scale=0: it is dynamic, or a number above 0");
        assert_eq!(refused("sgd,lr=1,loss_scale=8,growth_interval=2"), "`growth_interval` says nothing without loss_scale=dynamic");
        assert_eq!(refused("sgd,lr=1,loss_scale=dynamic,growth_factor=1"), "growth_factor=1: it is a number above 1");
        assert_eq!(refused("sgd,lr=1,accumulate=0"), "accumulate=0: it is a number of calls, at least 1");
    }
}

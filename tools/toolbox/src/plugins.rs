//! `--load-dialect-plugin=LIB` and `--load-pass-plugin=LIB`, in every tool and as often as wanted.

use std::path::Path;

use strata_core::plugin::{PluginError, PluginKind};
use strata_core::registry::Registry;

/// Why the plug-ins of a command line are not there.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PluginsError {
    #[error("{0} needs a library; write {0}=LIB")]
    NoLibrary(&'static str),
    #[error(transparent)]
    Plugin(#[from] PluginError),
}

/// The registry with the plug-ins that the arguments name, and the arguments without them.
///
/// # Errors
/// When a plug-in cannot be loaded.
pub fn with_plugins(mut registry: Registry, args: &[String]) -> Result<(&'static Registry, Vec<String>), PluginsError> {
    let (mut rest, mut args) = (Vec::new(), args.iter());
    while let Some(arg) = args.next() {
        let (name, value) = arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        let is_flag = |kind: &PluginKind| name.starts_with('-') && name.trim_start_matches('-') == kind.flag().trim_start_matches('-');
        let Some(kind) = [PluginKind::Dialect, PluginKind::Pass].into_iter().find(is_flag) else {
            rest.push(arg.clone());
            continue;
        };
        let library = value.or_else(|| args.next().map(String::as_str)).filter(|library| !library.is_empty());
        registry = registry.with_plugin(kind, Path::new(library.ok_or(PluginsError::NoLibrary(kind.flag()))?))?;
    }
    Ok((registry.leak(), rest))
}

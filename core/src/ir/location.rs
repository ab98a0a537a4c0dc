//! Source locations.

use super::{Cx, identity, printed, string_from};
use mlir_sys::*;
use std::marker::PhantomData;

/// A source location.
#[derive(Clone, Copy)]
pub struct Location<'c> {
    pub(crate) raw: MlirLocation,
    pub(crate) marker: PhantomData<&'c ()>,
}

identity!(Location);
printed!(Location, mlirLocationPrint);

impl<'c> Location<'c> {
    /// # Safety
    /// The location must live for `'c`.
    pub unsafe fn from_raw(raw: MlirLocation) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw location.
    pub fn to_raw(self) -> MlirLocation {
        self.raw
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: the location is alive.
        Cx { raw: unsafe { mlirLocationGetContext(self.raw) }, marker: PhantomData }
    }

    /// As people write it: `file.mlir:3:5` without MLIR's `loc(..)`.
    pub fn short(self) -> String {
        let text = self.to_string();
        let inner = text.strip_prefix("loc(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&text);
        match inner.strip_prefix('"').and_then(|rest| rest.split_once("\":")) {
            Some((file, place)) if !place.contains(['"', '(']) => format!("{file}:{place}"),
            _ => inner.to_owned(),
        }
    }

    /// [`Location::short`], where it is a place that is known.
    pub fn place(self) -> Option<String> {
        Some(self.short()).filter(|place| !matches!(place.as_str(), "" | "unknown"))
    }

    /// The names that it was given, the outermost first: `["add_3", "layers.0"]` for `loc("add_3"("layers.0"(file:line:column)))`.
    pub fn names(self) -> Vec<String> {
        let (mut names, mut raw) = (Vec::new(), self.raw);
        // SAFETY: the location is alive, and with it all that it is made of; only named ones are asked for name and child.
        unsafe {
            while mlirLocationIsAName(raw) {
                names.push(string_from(mlirIdentifierStr(mlirLocationNameGetName(raw))));
                raw = mlirLocationNameGetChildLoc(raw);
            }
        }
        names
    }

    /// The locations that a fused one is made of, in order and each taken apart again; of a call site the callee; any other as it is.
    pub fn parts(self) -> Vec<Location<'c>> {
        // SAFETY: the location is alive, and with it all that it is made of; each kind is asked only what it has.
        unsafe {
            if mlirLocationIsACallSite(self.raw) {
                return Location::from_raw(mlirLocationCallSiteGetCallee(self.raw)).parts();
            }
            if !mlirLocationIsAFused(self.raw) {
                return vec![self];
            }
            let mut parts = vec![self.raw; mlirLocationFusedGetNumLocations(self.raw) as usize];
            mlirLocationFusedGetLocations(self.raw, parts.as_mut_ptr());
            parts.into_iter().flat_map(|raw| Location::from_raw(raw).parts()).collect()
        }
    }

    /// The file and the line, below all names.
    pub fn file_line(self) -> Option<(String, u32)> {
        let mut raw = self.raw;
        // SAFETY: as in `names`; only a place in a file is asked for file and line.
        unsafe {
            while mlirLocationIsAName(raw) {
                raw = mlirLocationNameGetChildLoc(raw);
            }
            let file = || string_from(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(raw)));
            mlirLocationIsAFileLineColRange(raw).then(|| (file(), mlirLocationFileLineColRangeGetStartLine(raw) as u32))
        }
    }

    /// Reports an error here through MLIR's diagnostics.
    pub fn error(self, message: &str) {
        let message = std::ffi::CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the location and the string are alive for the call. MLIR reads the message as plain text.
        unsafe { mlirEmitError(self.raw, message.as_ptr()) }
    }
}

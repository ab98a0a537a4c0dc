//! A program compiled anew for each kind of call (`dynamic = off`): the code knows every size.
//!
//! All of its sessions share one set of weights, so what a call writes to a buffer the next one reads, whatever its shapes.
//! The sessions of the [`KEPT`] kinds of calls that were used last are kept.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::artefact::Artefact;
use crate::guards::{Guards, Leaf};
use crate::session::Session;
use crate::tensor::Tensor;

/// Why there is no session for some shapes.
pub type Failure = Box<dyn Error>;

/// Compiles the program for input sizes as the compiler reads them: `4x8:3`.
type Compile = Box<dyn Fn(&str) -> Result<Artefact, Failure>>;

/// How many kinds of calls have a session at a time; one more takes the place of the one that was used longest ago.
pub const KEPT: usize = 64;

/// The sessions that were made.
#[derive(Debug, Default)]
struct Sessions {
    /// By the element types, sizes and orders of all inputs; the one that was used last comes last.
    kept: Vec<(Guards, Arc<Session>)>,
    /// How many there have been.
    made: usize,
}

impl Sessions {
    /// The session for a call, which is now the one that was used last.
    fn find(&mut self, leaves: &[Leaf<'_>]) -> Option<Arc<Session>> {
        let fits = |(guards, _): &(Guards, Arc<Session>)| {
            let mut check = guards.check();
            leaves.iter().for_each(|leaf| check.leaf(*leaf));
            check.holds()
        };
        let at = self.kept.iter().position(fits)?;
        self.kept[at..].rotate_left(1);
        self.kept.last().map(|(_, session)| session.clone())
    }
}

/// A program and its sessions by kind of call.
pub struct Specialised {
    compile: Compile,
    sessions: Mutex<Sessions>,
}

impl fmt::Debug for Specialised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Specialised").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

impl Specialised {
    /// A program that has no session yet, and what compiles it.
    pub fn new(compile: impl Fn(&str) -> Result<Artefact, Failure> + 'static) -> Specialised {
        Specialised { compile: Box::new(compile), sessions: Mutex::default() }
    }

    /// The session for inputs of these shapes, compiled when there is none.
    pub fn session(&self, inputs: &[&Tensor]) -> Result<Arc<Session>, Failure> {
        let leaves: Vec<_> = inputs.iter().map(|tensor| Leaf::Tensor(tensor)).collect();
        if let Some(session) = self.sessions().find(&leaves) {
            return Ok(session);
        }
        // Not under the lock, so that calls of other kinds go on meanwhile.
        let shapes: Vec<Vec<i64>> = inputs.iter().map(|tensor| tensor.shape().to_vec()).collect();
        let artefact = (self.compile)(&sizes_text(&shapes))?;
        let mut sessions = self.sessions();
        sessions.made += 1;
        // Another caller may have been faster.
        if let Some(session) = sessions.find(&leaves) {
            return Ok(session);
        }
        let session = Arc::new(match sessions.kept.last() {
            Some((_, other)) => Session::load_beside(&artefact, other)?,
            None => Session::load(&artefact, None)?,
        });
        if sessions.kept.len() == KEPT {
            sessions.kept.remove(0);
        }
        sessions.kept.push((Guards::of(&leaves), session.clone()));
        Ok(session)
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often it was compiled.
    pub fn compiled(&self) -> usize {
        self.sessions().made
    }

    /// Gives the buffers that the program changed their first values back.
    pub fn reset(&self) {
        if let Some((_, session)) = self.sessions().kept.last() {
            session.reset();
        }
    }
}

/// Shapes as the compiler reads them: `4x8:3`.
pub fn sizes_text(shapes: &[Vec<i64>]) -> String {
    let shape = |sizes: &Vec<i64>| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    shapes.iter().map(shape).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::sizes_text;

    #[test]
    fn shapes_are_told_apart() {
        assert_eq!(sizes_text(&[vec![4, 8], vec![], vec![3]]), "4x8::3");
    }
}

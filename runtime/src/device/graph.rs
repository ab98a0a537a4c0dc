//! Calls that were recorded: a program whose work depends on nothing but sizes is started as a whole.
//!
//! The second call with the same sizes and scalars is recorded, on memory that is kept for it; later ones put their inputs there, replay
//! it, and take the outputs. The [`KEPT`] recordings that were used last are kept. What looks at computed numbers, or computes on the
//! host, is never recorded.

use std::sync::Arc;

use super::pool::Block;
use super::{Address, Device, Recording};

/// Most recordings of one program.
pub(crate) const KEPT: usize = 8;

/// What a recording depends on: the sizes of all inputs, and the values of those that are scalars.
pub(crate) type Key = Vec<i64>;

/// A recorded call.
#[derive(Debug)]
pub(crate) struct Graph {
    pub recording: Recording,
    /// Where its inputs are, in the order of the call.
    pub inputs: Vec<Address>,
    /// Where its outputs are.
    pub outputs: Vec<Address>,
    /// The sizes of all outputs, one after the other.
    pub shapes: Vec<i64>,
    /// All memory that it touches.
    pub _memory: Vec<Block>,
}

/// What is known of a key.
#[derive(Debug)]
enum Known {
    /// It was called once.
    Seen,
    /// It was recorded.
    Recorded(Graph),
    /// It cannot be recorded.
    Never,
}

/// What to do with a call.
#[derive(Debug)]
pub(crate) enum Plan<'a> {
    /// Run it.
    Run,
    /// Record it, then replay it.
    Record,
    /// Replay this.
    Replay(&'a Graph),
}

/// The recordings of a program.
#[derive(Debug)]
pub(crate) struct Graphs {
    device: Arc<dyn Device>,
    wanted: bool,
    /// The one used last comes last.
    known: Vec<(Key, Known)>,
}

impl Graphs {
    pub fn new(device: Arc<dyn Device>, wanted: bool) -> Graphs {
        Graphs { device, wanted, known: Vec::new() }
    }

    /// Whether calls are recorded at all.
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// What to do with a call of this key.
    pub fn plan(&mut self, key: &Key) -> Plan<'_> {
        if !self.wanted {
            return Plan::Run;
        }
        let Some(at) = self.known.iter().position(|(known, _)| known == key) else {
            self.keep(key.clone(), Known::Seen);
            return Plan::Run;
        };
        self.known[at..].rotate_left(1);
        match self.known.last() {
            Some((_, Known::Recorded(graph))) => Plan::Replay(graph),
            Some((_, Known::Seen)) => Plan::Record,
            _ => Plan::Run,
        }
    }

    /// Keeps a recording; gives it back for its first replay.
    pub fn recorded(&mut self, key: &Key, graph: Graph) -> Recording {
        let recording = graph.recording;
        self.keep(key.clone(), Known::Recorded(graph));
        recording
    }

    /// Notes that this key cannot be recorded.
    pub fn never(&mut self, key: &Key) {
        self.keep(key.clone(), Known::Never);
    }

    fn keep(&mut self, key: Key, what: Known) {
        self.known.retain(|(known, _)| *known != key);
        if self.known.len() == KEPT {
            self.drop_one(0);
        }
        self.known.push((key, what));
    }

    fn drop_one(&mut self, at: usize) {
        if let (_, Known::Recorded(graph)) = self.known.remove(at) {
            self.device.forget(graph.recording);
        }
    }
}

impl Drop for Graphs {
    fn drop(&mut self) {
        while !self.known.is_empty() {
            self.drop_one(0);
        }
    }
}

//! What orders accesses of different blocks: one writes, fences and counts itself; another one counts, fences and reads.

use super::memory::Who;
use std::collections::HashMap;

/// A place that threads count at.
type Place = u64;

/// A thread behind a fence knows what those had written that had counted at a place before it.
struct Known {
    fence: Who,
    place: Place,
    counted: usize,
}

/// The fences and counts of a launch.
#[derive(Default)]
pub struct Order {
    /// The last fence of each thread that counted at a place, in order.
    counted: HashMap<Place, Vec<Who>>,
    /// The last fence of each thread of the present block.
    fences: HashMap<usize, Who>,
    /// What threads of the present block have found counted and not fenced yet: the place and the number.
    found: HashMap<usize, Vec<(Place, usize)>>,
    /// What they know.
    known: Vec<Known>,
}

impl Order {
    /// Another block begins.
    pub fn next_block(&mut self) {
        self.fences.clear();
        self.found.clear();
        self.known.clear();
    }

    /// A thread orders what is before and what is after.
    pub fn fence(&mut self, who: Who) {
        let found = self.found.remove(&who.thread).unwrap_or_default();
        self.known.extend(found.into_iter().map(|(place, counted)| Known { fence: who, place, counted }));
        self.fences.insert(who.thread, who);
    }

    /// A thread replaces a number in one step. One that has fenced nothing before says nothing by that.
    pub fn count(&mut self, place: Place, who: Who) {
        let Some(&fence) = self.fences.get(&who.thread) else { return };
        let counted = self.counted.entry(place).or_default();
        self.found.entry(who.thread).or_default().push((place, counted.len()));
        counted.push(fence);
    }

    /// Whether an access comes after what a thread of another block wrote.
    pub fn comes_after(&self, wrote: Who, who: Who) -> bool {
        self.known.iter().filter(|known| before(known.fence, who)).any(|known| {
            let counted = self.counted.get(&known.place).map_or(&[][..], |counted| &counted[..known.counted]);
            counted.iter().any(|&fence| before(wrote, fence))
        })
    }
}

/// Whether what one thread of a block does comes before what another one does: it is the same, or there is a barrier between.
fn before(first: Who, then: Who) -> bool {
    first.block == then.block && (first.thread == then.thread || first.epoch < then.epoch)
}

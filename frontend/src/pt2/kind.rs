//! What PyTorch wrote an archive with: all of its archives are zips, and one with another's ending is told so.

use super::archive::Archive;
use super::error::Pt2Error;

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `torch.export.save`.
    Exported,
    /// `torch.jit.save`.
    Script,
    /// `torch.save`: values without a program.
    Values,
}

impl Kind {
    /// The kind of an archive by its entries, where these tell it.
    fn of(archive: &Archive) -> Option<Self> {
        let code = archive.names().any(|name| name.starts_with("code/"));
        match (archive.has("archive_format"), archive.has("data.pkl"), code) {
            (true, _, _) => Some(Self::Exported),
            (_, true, true) => Some(Self::Script),
            (_, true, false) => Some(Self::Values),
            _ => None,
        }
    }

    fn found(self) -> &'static str {
        match self {
            Self::Exported => "it is an archive of torch.export.save; give it the ending .pt2",
            Self::Script => "it is an archive of torch.jit.save; give it the ending .pt",
            Self::Values => "it holds values of torch.save and no program; save the model with torch.export.save or torch.jit.save",
        }
    }

    /// Refuses an archive of another kind than this.
    pub fn check(self, archive: &Archive) -> Result<(), Pt2Error> {
        match Self::of(archive) {
            Some(found) if found != self => Err(Pt2Error::Kind { why: found.found() }),
            _ => Ok(()),
        }
    }
}

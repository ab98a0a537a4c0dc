//! A linker for one object: lays its sections out as a position-independent image that a loader maps and calls.
//!
//! ```text
//! text:    .text*, then one stub `jmp *slot` for each function that the object does not define
//! rodata:  .rodata*, .data.rel.ro*, then the slots: eight bytes per imported function or needed address
//! data:    .data*, .bss
//! ```
//!
//! Each range starts on a page, so that each gets its own protection. Slots lie with the constants: the loader fills
//! them before it takes the right to write away.

use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget, SectionIndex};
use object::{LittleEndian, RelocationFlags, SectionKind, SymbolIndex, SymbolKind, elf};
use std::collections::HashMap;
use std::ops::Range;

/// Alignment of the three ranges.
const PAGE: u64 = 4096;
/// Largest section: displacements have 32 bits.
const LIMIT: u64 = 1 << 30;
/// Length of a stub: `jmp *slot(%rip)` and two bytes of padding.
const STUB: u64 = 8;

/// Code that only needs its slots filled. All offsets count from the start of the image.
#[derive(Debug, Clone, Default)]
pub struct LinkedImage {
    /// The image as it lies in memory.
    pub bytes: Vec<u8>,
    /// Instructions: to be read and executed.
    pub text: Range<u64>,
    /// Constants and slots: to be read once the slots are filled.
    pub rodata: Range<u64>,
    /// Variables: to be read and written.
    pub data: Range<u64>,
    /// Functions that the code needs, each with the slot for its address.
    pub imports: Vec<(String, u64)>,
    /// Slots that receive the image's address plus the second number.
    pub relocations: Vec<(u64, u64)>,
    /// The functions in the image, by offset.
    pub symbols: Vec<Symbol>,
}

/// A function in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

/// Why an object cannot become an image.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Not an x86-64 ELF object, or damaged.
    #[error("the object cannot be read: {0}")]
    Object(#[from] object::read::Error),
    /// Code that is not position-independent, or a kind that code generation never makes.
    #[error(
        "relocation of type {kind} against `{symbol}` in {section} cannot be resolved; compile with the small position-independent code model"
    )]
    Relocation {
        /// The number in the ELF file.
        kind: u32,
        /// What it refers to.
        symbol: String,
        /// Where it stands.
        section: String,
    },
    /// A section that an image has no place for.
    #[error("section {section} ({reason}) has no place in a code image")]
    Section {
        /// Its name.
        section: String,
        /// What it is.
        reason: String,
    },
    /// The image is larger than what a 32-bit displacement reaches.
    #[error("the image is too large: `{symbol}` is out of the reach of an instruction")]
    Reach {
        /// What the instruction refers to.
        symbol: String,
    },
}

impl LinkedImage {
    /// Offset of a function.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.offset)
    }
}

/// Links one ELF object for x86-64.
pub fn link(object: &[u8]) -> Result<LinkedImage, LinkError> {
    let file = ElfFile64::<LittleEndian>::parse(object)?;
    let mut linker =
        Linker { file: &file, image: LinkedImage::default(), places: HashMap::new(), imports: HashMap::new(), slots: HashMap::new() };
    linker.lay_out()?;
    linker.relocate()?;
    linker.collect_symbols()?;
    Ok(linker.image)
}

type Elf<'a> = ElfFile64<'a, LittleEndian>;

struct Linker<'a> {
    file: &'a Elf<'a>,
    image: LinkedImage,
    /// Where each section starts.
    places: HashMap<SectionIndex, u64>,
    /// Stub and slot of each undefined function that is referred to.
    imports: HashMap<SymbolIndex, (u64, u64)>,
    /// Slot of each defined symbol whose address is wanted in memory.
    slots: HashMap<SymbolIndex, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Text,
    Rodata,
    Data,
}

/// How a relocation is resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A 32-bit distance to the symbol, or to its stub.
    Near,
    /// A 32-bit distance to a slot with the symbol's address.
    Slot,
    /// The 64-bit address itself.
    Address,
}

impl<'a> Linker<'a> {
    /// Gives every section, stub and slot its place and copies the contents.
    fn lay_out(&mut self) -> Result<(), LinkError> {
        let (undefined, addressed) = self.wanted()?;
        let mut at = 0;
        at = self.place(Zone::Text, at)?;
        let stubs = at.next_multiple_of(16);
        at = stubs + STUB * undefined.len() as u64;
        self.image.text = 0..at;
        let start = at.next_multiple_of(PAGE);
        at = self.place(Zone::Rodata, start)?.next_multiple_of(8);
        let slots = at;
        at = slots + 8 * (undefined.len() + addressed.len()) as u64;
        self.image.rodata = start..at;
        let start = at.next_multiple_of(PAGE);
        at = self.place(Zone::Data, start)?;
        self.image.data = start..at;
        let last = [&self.image.data, &self.image.rodata, &self.image.text].into_iter().find(|range| !range.is_empty());
        self.image.bytes.resize(last.map_or(0, |range| range.end as usize), 0);

        for (position, (index, name)) in undefined.into_iter().enumerate() {
            let (stub, slot) = (stubs + STUB * position as u64, slots + 8 * position as u64);
            self.imports.insert(index, (stub, slot));
            let distance = i32::try_from(slot as i64 - (stub + 6) as i64).map_err(|_| LinkError::Reach { symbol: name.clone() })?;
            let code = &mut self.image.bytes[stub as usize..][..STUB as usize];
            code[..2].copy_from_slice(&[0xff, 0x25]);
            code[2..6].copy_from_slice(&distance.to_le_bytes());
            code[6..].copy_from_slice(&[0xcc, 0xcc]);
            self.image.imports.push((name, slot));
        }
        let slots = slots + 8 * self.imports.len() as u64;
        for (position, index) in addressed.into_iter().enumerate() {
            let slot = slots + 8 * position as u64;
            self.slots.insert(index, slot);
            let target = self.address(index)?;
            self.image.relocations.push((slot, target));
        }
        Ok(())
    }

    /// Undefined symbols that are referred to, and defined ones whose address must stand in a slot, in order.
    #[expect(clippy::type_complexity, reason = "a pair of lists, used once")]
    fn wanted(&self) -> Result<(Vec<(SymbolIndex, String)>, Vec<SymbolIndex>), LinkError> {
        let (mut undefined, mut addressed) = (Vec::new(), Vec::new());
        for section in self.file.sections() {
            if self.zone(&section)?.is_none() {
                continue;
            }
            for (_, relocation) in section.relocations() {
                let (form, index) = self.form(&section, &relocation)?;
                let symbol = self.file.symbol_by_index(index)?;
                if symbol.is_undefined() {
                    if !undefined.iter().any(|(known, _)| *known == index) {
                        undefined.push((index, symbol.name()?.to_owned()));
                    }
                } else if form == Form::Slot && !addressed.contains(&index) {
                    addressed.push(index);
                }
            }
        }
        Ok((undefined, addressed))
    }

    /// Puts the sections of one zone from `at` on and gives the end.
    fn place(&mut self, zone: Zone, mut at: u64) -> Result<u64, LinkError> {
        for section in self.file.sections() {
            if self.zone(&section)? != Some(zone) || section.size() == 0 {
                continue;
            }
            if section.align() > PAGE {
                return Err(refuse(&section, format!("alignment {}", section.align())));
            }
            if section.size() > LIMIT {
                return Err(refuse(&section, format!("{} bytes", section.size())));
            }
            at = at.next_multiple_of(section.align().max(1));
            self.places.insert(section.index(), at);
            self.image.bytes.resize(at as usize, 0);
            self.image.bytes.extend_from_slice(section.data()?);
            at += section.size();
        }
        self.image.bytes.resize(at as usize, 0);
        Ok(at)
    }

    /// Which range a section belongs to; `None` for what an image does not hold.
    fn zone(&self, section: &impl ObjectSection<'a>) -> Result<Option<Zone>, LinkError> {
        let name = section.name()?;
        Ok(match section.kind() {
            _ if name.starts_with(".eh_frame") => None,
            _ if name.starts_with(".data.rel.ro") => Some(Zone::Rodata),
            SectionKind::Text => Some(Zone::Text),
            SectionKind::ReadOnlyData | SectionKind::ReadOnlyString | SectionKind::ReadOnlyDataWithRel => Some(Zone::Rodata),
            SectionKind::Data | SectionKind::UninitializedData => Some(Zone::Data),
            SectionKind::Tls | SectionKind::UninitializedTls => {
                return Err(refuse(section, format!("{:?}", section.kind())));
            }
            _ => None,
        })
    }

    fn form(&self, section: &impl ObjectSection<'a>, relocation: &Relocation) -> Result<(Form, SymbolIndex), LinkError> {
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return Err(self.unresolved(section, relocation));
        };
        let form = match relocation.flags() {
            RelocationFlags::Elf { r_type: elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 } => Form::Near,
            RelocationFlags::Elf { r_type: elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX } => Form::Slot,
            RelocationFlags::Elf { r_type: elf::R_X86_64_64 } if section.kind() != SectionKind::Text => Form::Address,
            _ => return Err(self.unresolved(section, relocation)),
        };
        Ok((form, index))
    }

    /// Writes distances into the code and lists the addresses that the loader must write.
    fn relocate(&mut self) -> Result<(), LinkError> {
        for section in self.file.sections() {
            let Some(&base) = self.places.get(&section.index()) else { continue };
            for (offset, relocation) in section.relocations() {
                let (form, index) = self.form(&section, &relocation)?;
                let place = base.saturating_add(offset);
                let import = self.imports.get(&index).copied();
                let target = match (form, import) {
                    (Form::Near, Some((stub, _))) => stub,
                    (Form::Slot, Some((_, slot))) => slot,
                    (Form::Slot, None) => self.slots.get(&index).copied().ok_or_else(|| self.unresolved(&section, &relocation))?,
                    (Form::Address, Some(_)) if relocation.addend() == 0 => {
                        let name = self.file.symbol_by_index(index)?.name()?.to_owned();
                        self.image.imports.push((name, place));
                        continue;
                    }
                    (Form::Address, Some(_)) => return Err(self.unresolved(&section, &relocation)),
                    (_, None) => self.address(index)?,
                };
                let target = (target as i64).wrapping_add(relocation.addend());
                if form == Form::Address {
                    self.image.relocations.push((place, target as u64));
                    continue;
                }
                let distance = i32::try_from(target.wrapping_sub(place as i64)).ok();
                let field = self.image.bytes.get_mut(place as usize..).and_then(|rest| rest.get_mut(..4));
                match field.zip(distance) {
                    Some((field, distance)) => field.copy_from_slice(&distance.to_le_bytes()),
                    None => return Err(LinkError::Reach { symbol: self.name_of(&relocation) }),
                }
            }
        }
        Ok(())
    }

    /// Where a defined symbol lies.
    fn address(&self, index: SymbolIndex) -> Result<u64, LinkError> {
        let symbol = self.file.symbol_by_index(index)?;
        let place = symbol.section_index().and_then(|section| self.places.get(&section));
        match place {
            Some(place) if symbol.address() <= LIMIT => Ok(place + symbol.address()),
            _ => Err(LinkError::Section { section: symbol.name()?.to_owned(), reason: "a symbol outside of the image".to_owned() }),
        }
    }

    fn collect_symbols(&mut self) -> Result<(), LinkError> {
        for symbol in self.file.symbols() {
            if symbol.kind() == SymbolKind::Text && symbol.is_definition() {
                let offset = self.address(symbol.index())?;
                self.image.symbols.push(Symbol { name: symbol.name()?.to_owned(), offset, bytes: symbol.size() });
            }
        }
        self.image.symbols.sort_by_key(|symbol| symbol.offset);
        Ok(())
    }

    fn unresolved(&self, section: &impl ObjectSection<'a>, relocation: &Relocation) -> LinkError {
        let kind = match relocation.flags() {
            RelocationFlags::Elf { r_type } => r_type.0,
            _ => 0,
        };
        let section = section.name().unwrap_or("?").to_owned();
        LinkError::Relocation { kind, symbol: self.name_of(relocation), section }
    }

    fn name_of(&self, relocation: &Relocation) -> String {
        let RelocationTarget::Symbol(index) = relocation.target() else { return "?".to_owned() };
        let name = self.file.symbol_by_index(index).and_then(|symbol| symbol.name());
        name.unwrap_or("?").to_owned()
    }
}

fn refuse<'a>(section: &impl ObjectSection<'a>, reason: String) -> LinkError {
    LinkError::Section { section: section.name().unwrap_or("?").to_owned(), reason }
}

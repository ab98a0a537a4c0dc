//! A linker: lays the sections of objects out as one position-independent image that a loader maps and calls.
//!
//! ```text
//! text:    .text*, then one stub that jumps to what its slot says for each function that no object defines
//! rodata:  .rodata*, .data.rel.ro*, then the slots: eight bytes per imported function or needed address
//! data:    .data*, .bss
//! ```
//!
//! Each range starts on a page, so that each gets its own protection. Slots lie with the constants: the loader fills
//! them before it takes the right to write away.

mod machine;

use machine::{Field, Machine};
use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget, SectionIndex};
use object::{LittleEndian, RelocationFlags, SectionKind, SymbolIndex, SymbolKind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Largest section: displacements have 32 bits.
const LIMIT: u64 = 1 << 30;
/// Largest alignment of a section: that of every image.
const ALIGNMENT: u64 = 4096;

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
    /// Not an ELF object, or damaged.
    #[error("the object cannot be read: {0}")]
    Object(#[from] object::read::Error),
    /// For an architecture that images are not made for, or for another one than the first object.
    #[error("the objects are not all for x86-64 or all for AArch64; compile them for one of the two")]
    Machine,
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
    /// Two objects define the same function.
    #[error("`{symbol}` is defined twice")]
    Twice {
        /// The function.
        symbol: String,
    },
    /// The image is larger than what an instruction reaches.
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

/// Links ELF objects for one architecture. A function that one does not define is another's, or an import of the image.
pub fn link(objects: &[&[u8]]) -> Result<LinkedImage, LinkError> {
    link_as(objects, &[])
}

/// Another name of a function: the name, and that under which an object defines it.
pub type Alias = (String, String);

/// [`link`], where objects may also use other names of functions: an object stays what it is when another one takes the place of
/// what it calls.
pub fn link_as(objects: &[&[u8]], aliases: &[Alias]) -> Result<LinkedImage, LinkError> {
    let files = objects.iter().map(|object| Elf::parse(*object)).collect::<Result<Vec<_>, _>>()?;
    let mut machines = files.iter().map(|file| Machine::of(file.architecture()));
    let machine = machines.next().unwrap_or(Some(Machine::X86_64)).ok_or(LinkError::Machine)?;
    if machines.any(|other| other != Some(machine)) {
        return Err(LinkError::Machine);
    }
    let mut linker = Linker {
        machine,
        files: &files,
        defined: defined(&files, aliases)?,
        image: LinkedImage::default(),
        places: HashMap::new(),
        imports: HashMap::new(),
        slots: HashMap::new(),
    };
    linker.lay_out()?;
    linker.relocate()?;
    linker.collect_symbols()?;
    Ok(linker.image)
}

/// The global functions and data of all objects, under all their names.
fn defined<'a>(files: &'a [Elf<'a>], aliases: &'a [Alias]) -> Result<HashMap<&'a str, Place>, LinkError> {
    let mut defined = HashMap::new();
    for (file, elf) in files.iter().enumerate() {
        for symbol in elf.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global()) {
            let name = symbol.name()?;
            if defined.insert(name, Place { file, symbol: symbol.index() }).is_some() {
                return Err(LinkError::Twice { symbol: name.to_owned() });
            }
        }
    }
    for (name, of) in aliases {
        if let Some(&place) = defined.get(of.as_str())
            && defined.insert(name, place).is_some_and(|known| known != place)
        {
            return Err(LinkError::Twice { symbol: name.clone() });
        }
    }
    Ok(defined)
}

type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// A symbol of one of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    file: usize,
    symbol: SymbolIndex,
}

/// What a symbol stands for.
enum Target {
    Defined(Place),
    Import(String),
}

/// What LLVM calls to convert halves, and what the runtime calls it.
const HALVES: [(&str, &str); 5] = [
    ("__extendhfsf2", "strata_extendhfsf2"),
    ("__truncdfbf2", "strata_truncdfbf2"),
    ("__truncdfhf2", "strata_truncdfhf2"),
    ("__truncsfbf2", "strata_truncsfbf2"),
    ("__truncsfhf2", "strata_truncsfhf2"),
];

struct Linker<'a> {
    machine: Machine,
    files: &'a [Elf<'a>],
    defined: HashMap<&'a str, Place>,
    image: LinkedImage,
    /// Where each section of each object starts.
    places: HashMap<(usize, SectionIndex), u64>,
    /// Stub and slot of each function that no object defines.
    imports: HashMap<String, (u64, u64)>,
    /// Slot of each defined symbol whose address is wanted in memory.
    slots: HashMap<Place, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Text,
    Rodata,
    Data,
}

/// What a relocation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The symbol, or its stub.
    Near,
    /// A slot with the symbol's address.
    Slot,
    /// The address itself, which the loader writes.
    Address,
}

impl<'a> Linker<'a> {
    /// Gives every section, stub and slot its place and copies the contents.
    fn lay_out(&mut self) -> Result<(), LinkError> {
        let (undefined, addressed) = self.wanted()?;
        let (page, stub_bytes) = (self.machine.page(), self.machine.stub_bytes());
        let mut at = 0;
        at = self.place(Zone::Text, at)?;
        let stubs = at.next_multiple_of(16);
        at = stubs + stub_bytes * undefined.len() as u64;
        self.image.text = 0..at;
        let start = at.next_multiple_of(page);
        at = self.place(Zone::Rodata, start)?.next_multiple_of(8);
        let slots = at;
        at = slots + 8 * (undefined.len() + addressed.len()) as u64;
        self.image.rodata = start..at;
        let start = at.next_multiple_of(page);
        at = self.place(Zone::Data, start)?;
        self.image.data = start..at;
        let last = [&self.image.data, &self.image.rodata, &self.image.text].into_iter().find(|range| !range.is_empty());
        self.image.bytes.resize(last.map_or(0, |range| range.end as usize), 0);

        for (position, name) in undefined.into_iter().enumerate() {
            let (stub, slot) = (stubs + stub_bytes * position as u64, slots + 8 * position as u64);
            let code = self.machine.stub(stub, slot).ok_or_else(|| LinkError::Reach { symbol: name.clone() })?;
            self.image.bytes[stub as usize..][..code.len()].copy_from_slice(&code);
            self.image.imports.push((name.clone(), slot));
            self.imports.insert(name, (stub, slot));
        }
        let slots = slots + 8 * self.imports.len() as u64;
        for (position, place) in addressed.into_iter().enumerate() {
            let slot = slots + 8 * position as u64;
            self.slots.insert(place, slot);
            let target = self.address(place)?;
            self.image.relocations.push((slot, target));
        }
        Ok(())
    }

    /// What a symbol of an object stands for in the image.
    fn target(&self, file: usize, symbol: SymbolIndex) -> Result<Target, LinkError> {
        let found = self.files[file].symbol_by_index(symbol)?;
        if !found.is_undefined() {
            return Ok(Target::Defined(Place { file, symbol }));
        }
        let name = found.name()?;
        let name = HALVES.iter().find(|(llvm, _)| *llvm == name).map_or(name, |(_, ours)| ours);
        Ok(self.defined.get(name).map_or_else(|| Target::Import(name.to_owned()), |&place| Target::Defined(place)))
    }

    /// Imports that are referred to, and defined symbols whose address must stand in a slot, in order.
    fn wanted(&self) -> Result<(Vec<String>, Vec<Place>), LinkError> {
        let (mut undefined, mut addressed) = (Vec::new(), Vec::new());
        let (mut names, mut places) = (HashSet::new(), HashSet::new());
        for (file, elf) in self.files.iter().enumerate() {
            for section in elf.sections() {
                if self.zone(&section)?.is_none() {
                    continue;
                }
                for (_, relocation) in section.relocations() {
                    let (form, _, symbol) = self.form(file, &section, &relocation)?;
                    match self.target(file, symbol)? {
                        Target::Import(name) if names.insert(name.clone()) => undefined.push(name),
                        Target::Defined(place) if form == Form::Slot && places.insert(place) => addressed.push(place),
                        _ => {}
                    }
                }
            }
        }
        Ok((undefined, addressed))
    }

    /// Puts the sections of one zone from `at` on and gives the end.
    fn place(&mut self, zone: Zone, mut at: u64) -> Result<u64, LinkError> {
        let files = self.files;
        for (file, elf) in files.iter().enumerate() {
            for section in elf.sections() {
                if self.zone(&section)? != Some(zone) || section.size() == 0 {
                    continue;
                }
                if section.align() > ALIGNMENT {
                    return Err(refuse(&section, format!("alignment {}", section.align())));
                }
                if section.size() > LIMIT {
                    return Err(refuse(&section, format!("{} bytes", section.size())));
                }
                at = at.next_multiple_of(section.align().max(1));
                self.places.insert((file, section.index()), at);
                self.image.bytes.resize(at as usize, 0);
                self.image.bytes.extend_from_slice(section.data()?);
                at += section.size();
            }
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

    fn form(
        &self,
        file: usize,
        section: &impl ObjectSection<'a>,
        relocation: &Relocation,
    ) -> Result<(Form, Field, SymbolIndex), LinkError> {
        let found = match (relocation.target(), relocation.flags()) {
            (RelocationTarget::Symbol(symbol), RelocationFlags::Elf { r_type }) => {
                let meaning = self.machine.relocation(r_type, section.kind() == SectionKind::Text);
                meaning.map(|(form, field)| (form, field, symbol))
            }
            _ => None,
        };
        found.ok_or_else(|| self.unresolved(file, section, relocation))
    }

    /// Writes distances into the code and lists the addresses that the loader must write.
    fn relocate(&mut self) -> Result<(), LinkError> {
        let files = self.files;
        for (file, elf) in files.iter().enumerate() {
            for section in elf.sections() {
                let Some(&base) = self.places.get(&(file, section.index())) else { continue };
                for (offset, relocation) in section.relocations() {
                    self.resolve(file, &section, base.saturating_add(offset), &relocation)?;
                }
            }
        }
        Ok(())
    }

    /// One field of the image.
    fn resolve(&mut self, file: usize, section: &impl ObjectSection<'a>, place: u64, relocation: &Relocation) -> Result<(), LinkError> {
        let (form, field, symbol) = self.form(file, section, relocation)?;
        let target = match (form, self.target(file, symbol)?) {
            (Form::Address, Target::Import(name)) if relocation.addend() == 0 => {
                self.image.imports.push((name, place));
                return Ok(());
            }
            (Form::Address, Target::Import(_)) => return Err(self.unresolved(file, section, relocation)),
            (_, Target::Import(name)) => {
                let import = self.imports.get(&name).ok_or_else(|| self.unresolved(file, section, relocation))?;
                if form == Form::Near { import.0 } else { import.1 }
            }
            (Form::Slot, Target::Defined(place)) => {
                self.slots.get(&place).copied().ok_or_else(|| self.unresolved(file, section, relocation))?
            }
            (_, Target::Defined(place)) => self.address(place)?,
        };
        let target = (target as i64).wrapping_add(relocation.addend());
        if form == Form::Address {
            self.image.relocations.push((place, target as u64));
            return Ok(());
        }
        let bytes = self.image.bytes.get_mut(place as usize..).unwrap_or_default();
        match field.write(bytes, place, target as u64) {
            true => Ok(()),
            false => Err(LinkError::Reach { symbol: name_of(&self.files[file], relocation) }),
        }
    }

    /// Where a defined symbol lies.
    fn address(&self, at: Place) -> Result<u64, LinkError> {
        let symbol = self.files[at.file].symbol_by_index(at.symbol)?;
        let place = symbol.section_index().and_then(|section| self.places.get(&(at.file, section)));
        match place {
            Some(place) if symbol.address() <= LIMIT => Ok(place + symbol.address()),
            _ => Err(LinkError::Section { section: symbol.name()?.to_owned(), reason: "a symbol outside of the image".to_owned() }),
        }
    }

    fn collect_symbols(&mut self) -> Result<(), LinkError> {
        let files = self.files;
        for (file, elf) in files.iter().enumerate() {
            for symbol in elf.symbols() {
                if symbol.kind() == SymbolKind::Text && symbol.is_definition() {
                    let offset = self.address(Place { file, symbol: symbol.index() })?;
                    self.image.symbols.push(Symbol { name: symbol.name()?.to_owned(), offset, bytes: symbol.size() });
                }
            }
        }
        self.image.symbols.sort_by_key(|symbol| symbol.offset);
        Ok(())
    }

    fn unresolved(&self, file: usize, section: &impl ObjectSection<'a>, relocation: &Relocation) -> LinkError {
        let kind = match relocation.flags() {
            RelocationFlags::Elf { r_type } => r_type.0,
            _ => 0,
        };
        let section = section.name().unwrap_or("?").to_owned();
        LinkError::Relocation { kind, symbol: name_of(&self.files[file], relocation), section }
    }
}

fn name_of(file: &Elf<'_>, relocation: &Relocation) -> String {
    let RelocationTarget::Symbol(index) = relocation.target() else { return "?".to_owned() };
    let name = file.symbol_by_index(index).and_then(|symbol| symbol.name());
    name.unwrap_or("?").to_owned()
}

fn refuse<'a>(section: &impl ObjectSection<'a>, reason: String) -> LinkError {
    LinkError::Section { section: section.name().unwrap_or("?").to_owned(), reason }
}

//! Writes a small ELF shared library for x86-64 or AArch64: loadable segments, dynamic symbols, relocations. No more than a program needs.

use crate::manifest::Access;
use object::write::elf::{FileHeader, ProgramHeader, Rel, SectionHeader, SinglePhase, Sym, Writer};
use object::{Endianness, elf};

/// What the file says about its architecture.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    number: elf::Machine,
    /// The relocation that puts a symbol's address into a slot.
    glob_dat: elf::RelocationType,
    /// The relocation that puts an address of the library into a slot.
    relative: elf::RelocationType,
    /// The largest page that its systems protect as a whole.
    pub page: u64,
}

const X86_64: Machine =
    Machine { number: elf::EM_X86_64, glob_dat: elf::R_X86_64_GLOB_DAT, relative: elf::R_X86_64_RELATIVE, page: 1 << 12 };
const AARCH64: Machine =
    Machine { number: elf::EM_AARCH64, glob_dat: elf::R_AARCH64_GLOB_DAT, relative: elf::R_AARCH64_RELATIVE, page: 1 << 16 };

impl Machine {
    /// By the name in a manifest.
    pub fn named(arch: &str) -> Machine {
        if arch == "aarch64" { AARCH64 } else { X86_64 }
    }
}

/// What goes into a library. Addresses count from its load address.
pub(crate) struct Library {
    /// What it is for.
    pub machine: Machine,
    /// `SONAME`.
    pub name: String,
    /// Libraries to load with it.
    pub needed: Vec<String>,
    /// Page-aligned memory, ascending.
    pub loads: Vec<Load>,
    /// Functions wanted and the slot of each.
    pub imports: Vec<(String, u64)>,
    /// Slots and the address each receives.
    pub relocations: Vec<(u64, u64)>,
    /// Functions offered.
    pub functions: Vec<(String, u64)>,
    /// Data offered: name, address, size.
    pub objects: Vec<(String, u64, u64)>,
}

/// One loadable range.
pub(crate) struct Load {
    pub address: u64,
    pub bytes: Vec<u8>,
    pub size: u64,
    pub access: Access,
}

/// Section number of what the library defines: with few sections, all belongs to the first.
const DEFINED: elf::SymbolSection = elf::SymbolSection(1);

/// Section number of the symbol table, behind the first section and the strings.
const DYNSYM: u32 = 3;

/// A file in the making.
type File<'a> = Writer<'a, SinglePhase>;

/// Why a library is not written.
pub(crate) type Error = object::write::Error;

impl Library {
    /// One without anything in it.
    pub fn new(name: &str, machine: Machine) -> Library {
        let (needed, loads, imports, relocations, functions, objects) = Default::default();
        Library { machine, name: name.into(), needed, loads, imports, relocations, functions, objects }
    }

    /// The file's bytes, and where each load's bytes lie in it.
    pub fn write(&self) -> Result<(Vec<u8>, Vec<u64>), Error> {
        let (mut bytes, mut headers, mut loaded) = (Vec::new(), Vec::new(), Vec::new());
        let mut file = Writer::new_single_phase(Endianness::Little, true, &mut bytes);
        let page = self.machine.page;
        file.write_file_header(&FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: elf::ET_DYN,
            e_machine: self.machine.number,
            e_entry: 0,
            e_flags: elf::FileFlags(0),
        })?;
        let sealed = self.loads.iter().find(|load| load.access == Access::Read && self.is_written(load));
        // The tables, what the dynamic linker writes to, where that is, what is sealed, and the stack.
        file.write_program_headers_placeholder((self.loads.len() + 4 + usize::from(sealed.is_some())) as u32);

        for load in &self.loads {
            // A place in the file and its address in memory differ by whole pages.
            let place = file.write_align(page);
            file.write(&load.bytes);
            let flags = match load.access {
                Access::Execute => elf::PF_R | elf::PF_X,
                Access::Write => elf::PF_R | elf::PF_W,
                // Slots are filled by the dynamic linker, which then takes the right to write away.
                Access::Read if self.is_written(load) => elf::PF_R | elf::PF_W,
                Access::Read => elf::PF_R,
            };
            headers.push(segment(elf::PT_LOAD, flags, place, load.address, (load.bytes.len() as u64, load.size), page));
            loaded.push(place);
        }

        // Behind the loads: what the dynamic linker reads, then what it writes to.
        let end = self.loads.iter().map(|load| load.address + load.size).max().unwrap_or(0);
        let tables = Tables { place: file.write_align(page), address: end.next_multiple_of(page) };
        let symbols = self.write_symbols(&mut file);
        let names: Vec<_> = self.names().collect();
        let hash = file.write_hash(1, names.len() as u32 + 1, |symbol| Some(elf::hash(names.get(symbol.checked_sub(1)? as usize)?)));
        let relocations = self.write_relocations(&mut file);
        let relocations_size = file.offset() - relocations;
        let needed: Vec<_> = self.needed.iter().map(|name| file.add_dynamic_string(until_zero(name))).collect();
        let (soname, runpath) = (file.add_dynamic_string(until_zero(&self.name)), file.add_dynamic_string(b"$ORIGIN"));
        let (strings, strings_size) = file.write_dynstr()?;
        let size = file.offset() - tables.place;
        headers.push(segment(elf::PT_LOAD, elf::PF_R, tables.place, tables.address, (size, size), page));

        let dynamic_place = file.write_align(page);
        let dynamic = tables.address_of(dynamic_place);
        file.write_align_dynamic();
        for name in needed {
            file.write_dynamic_string(elf::DT_NEEDED, name)?;
        }
        file.write_dynamic_string(elf::DT_SONAME, soname)?;
        file.write_dynamic_string(elf::DT_RUNPATH, runpath)?;
        let entries = [
            (elf::DT_HASH, tables.address_of(hash)),
            (elf::DT_STRTAB, tables.address_of(strings)),
            (elf::DT_SYMTAB, tables.address_of(symbols)),
            (elf::DT_STRSZ, strings_size.into()),
            (elf::DT_SYMENT, SYMBOL),
            (elf::DT_RELA, tables.address_of(relocations)),
            (elf::DT_RELASZ, relocations_size),
            (elf::DT_RELAENT, RELA),
            (elf::DT_NULL, 0),
        ];
        for (tag, value) in entries {
            file.write_dynamic(tag, value)?;
        }
        let size = file.offset() - dynamic_place;
        let writable = elf::PF_R | elf::PF_W;
        headers.push(segment(elf::PT_LOAD, writable, dynamic_place, dynamic, (size, size), page));
        headers.push(segment(elf::PT_DYNAMIC, writable, dynamic_place, dynamic, (size, size), 8));
        if let Some(load) = sealed {
            let size = (load.address + load.size).next_multiple_of(page) - load.address;
            headers.push(segment(elf::PT_GNU_RELRO, elf::PF_R, 0, load.address, (size, size), 1));
        }
        // The stack is not executable.
        headers.push(segment(elf::PT_GNU_STACK, writable, 0, 0, (0, 0), 16));

        let places = Places { tables, symbols, hash, relocations, relocations_size, strings, dynamic: dynamic_place };
        write_sections(&mut file, end, &places)?;
        let mut start = Vec::new();
        file.write_headers_to(&mut start, &headers)?;
        bytes[..start.len()].copy_from_slice(&start);
        Ok((bytes, loaded))
    }

    /// Whether the dynamic linker writes into a load.
    fn is_written(&self, load: &Load) -> bool {
        let slots = self.imports.iter().map(|(_, slot)| slot).chain(self.relocations.iter().map(|(slot, _)| slot));
        slots.into_iter().any(|&slot| load.address <= slot && slot < load.address + load.size)
    }

    /// The names of all symbols in order.
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        let functions = self.imports.iter().chain(&self.functions).map(|(name, _)| name);
        functions.chain(self.objects.iter().map(|(name, ..)| name)).map(|name| until_zero(name))
    }

    /// The symbol table's place.
    fn write_symbols<'a>(&'a self, file: &mut File<'a>) -> u64 {
        let place = file.write_null_dynamic_symbol();
        let imports = self.imports.iter().map(|_| (elf::STT_FUNC, elf::SHN_UNDEF, 0, 0));
        let functions = self.functions.iter().map(|(_, at)| (elf::STT_FUNC, DEFINED, *at, 0));
        let objects = self.objects.iter().map(|(_, at, size)| (elf::STT_OBJECT, DEFINED, *at, *size));
        for (name, (kind, st_shndx, st_value, st_size)) in self.names().zip(imports.chain(functions).chain(objects)) {
            let name = file.add_dynamic_string(name);
            file.write_dynamic_symbol(&Sym {
                section: None,
                st_name: file.dynamic_string_offset(Some(name)),
                st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, kind),
                st_other: elf::SymbolOther(0),
                st_shndx,
                st_value,
                st_size,
            });
        }
        place
    }

    /// The relocations' place: addresses inside, and imports (symbols 1..).
    fn write_relocations(&self, file: &mut File<'_>) -> u64 {
        let inside = self.relocations.iter().map(|&(slot, target)| (slot, 0, self.machine.relative, target as i64));
        let imports = (1..).zip(&self.imports).map(|(symbol, (_, slot))| (*slot, symbol, self.machine.glob_dat, 0));
        let place = file.write_align_relocation();
        for (r_offset, r_sym, r_type, r_addend) in inside.chain(imports) {
            file.write_relocation(true, &Rel { r_offset, r_sym, r_type, r_addend });
        }
        place
    }
}

/// The sections, which are what linkers, unlike loaders, read; `end` is where the loads end in memory.
fn write_sections(file: &mut File<'_>, end: u64, places: &Places) -> Result<(), Error> {
    let address = |place| places.tables.address_of(place);
    let (text, rela) = (file.add_section_name(b".text"), file.add_section_name(b".rela.dyn"));
    file.write_shstrtab()?;
    file.write_align(8);
    file.write_null_section_header();
    let header = SectionHeader {
        sh_name: file.section_name_offset(Some(text)),
        sh_type: elf::SHT_PROGBITS,
        sh_flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
        sh_addr: 0,
        sh_offset: 0,
        sh_size: end,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 8,
        sh_entsize: 0,
    };
    file.write_section_header(&header);
    file.write_dynstr_section_header(address(places.strings));
    file.write_dynsym_section_header(address(places.symbols), 1);
    file.write_hash_section_header(address(places.hash));
    file.write_section_header(&SectionHeader {
        sh_name: file.section_name_offset(Some(rela)),
        sh_type: elf::SHT_RELA,
        sh_flags: elf::SHF_ALLOC,
        sh_addr: address(places.relocations),
        sh_offset: places.relocations,
        sh_size: places.relocations_size,
        sh_link: DYNSYM,
        sh_entsize: RELA,
        ..header
    });
    file.write_dynamic_section_header(address(places.dynamic));
    file.write_shstrtab_section_header();
    Ok(())
}

/// Bytes of a symbol in its table, and of a relocation.
const SYMBOL: u64 = size_of::<elf::Sym64<Endianness>>() as u64;
const RELA: u64 = size_of::<elf::Rela64<Endianness>>() as u64;

/// Where the tables lie in the file.
struct Places {
    tables: Tables,
    symbols: u64,
    hash: u64,
    relocations: u64,
    relocations_size: u64,
    strings: u64,
    dynamic: u64,
}

/// Where the tables begin in the file and in memory.
struct Tables {
    place: u64,
    address: u64,
}

impl Tables {
    fn address_of(&self, place: u64) -> u64 {
        self.address + place - self.place
    }
}

/// A program header; the sizes are those in the file and in memory.
fn segment(
    p_type: elf::ProgramType,
    p_flags: elf::ProgramFlags,
    place: u64,
    address: u64,
    sizes: (u64, u64),
    p_align: u64,
) -> ProgramHeader {
    let (p_filesz, p_memsz) = sizes;
    ProgramHeader { p_type, p_flags, p_offset: place, p_vaddr: address, p_paddr: address, p_filesz, p_memsz, p_align }
}

/// A zero byte would end the name early: such a name is shown up to there.
fn until_zero(name: &str) -> &[u8] {
    name.as_bytes().split(|byte| *byte == 0).next().unwrap_or_default()
}

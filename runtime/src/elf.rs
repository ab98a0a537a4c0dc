//! Writes a small ELF shared library for x86-64 or AArch64: loadable segments, dynamic symbols, relocations. No more than a program needs.

use crate::manifest::Access;

/// What the file says about its architecture.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// `e_machine`.
    number: u16,
    /// The relocation that puts a symbol's address into a slot.
    glob_dat: u64,
    /// The relocation that puts an address of the library into a slot.
    relative: u64,
    /// The largest page that its systems protect as a whole.
    pub page: u64,
}

const X86_64: Machine = Machine { number: 62, glob_dat: 6, relative: 8, page: 1 << 12 };
const AARCH64: Machine = Machine { number: 183, glob_dat: 1025, relative: 1027, page: 1 << 16 };

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

const SYMBOL: u64 = 24;
const RELA: u64 = 24;
/// Section number of what the library defines: with few sections, all belongs to the first.
const DEFINED: u16 = 1;

/// Bytes with numbers put in little-endian.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u16(&mut self, values: &[u16]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }
    fn u32(&mut self, values: &[u32]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }
    fn u64(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }
}

/// A table of terminated strings.
struct Strings(Vec<u8>);

impl Strings {
    fn add(&mut self, text: &str) -> u32 {
        let at = self.0.len() as u32;
        // A zero byte would end the name early: such a name is shown up to there.
        self.0.extend(text.bytes().take_while(|&byte| byte != 0));
        self.0.push(0);
        at
    }
}

impl Library {
    /// One without anything in it.
    pub fn new(name: &str, machine: Machine) -> Library {
        let (needed, loads, imports, relocations, functions, objects) = Default::default();
        Library { machine, name: name.into(), needed, loads, imports, relocations, functions, objects }
    }

    /// The file's bytes, and where each load's bytes lie in it.
    pub fn write(&self) -> (Vec<u8>, Vec<u64>) {
        let mut strings = Strings(vec![0]);
        let (symbols, names) = self.symbols(&mut strings);
        let needed: Vec<u64> = self.needed.iter().map(|name| strings.add(name).into()).collect();
        let (soname, runpath) = (strings.add(&self.name).into(), strings.add("$ORIGIN").into());
        let hash = hash_table(&names);
        let relocations = self.relocation_table();

        // Behind the loads: what the dynamic linker reads, then what it writes to.
        let end = self.loads.iter().map(|load| load.address + load.size).max().unwrap_or(0);
        let tables_at = end.next_multiple_of(self.machine.page);
        let mut at = tables_at;
        let mut place = |bytes: usize| {
            let start = at.next_multiple_of(8);
            at = start + bytes as u64;
            start
        };
        let symbols_at = place(symbols.len());
        let hash_at = place(hash.len());
        let relocations_at = place(relocations.len());
        let strings_at = place(strings.0.len());
        let dynamic_at = at.next_multiple_of(self.machine.page);
        let mut dynamic = Writer::default();
        for &name in &needed {
            dynamic.u64(&[1, name]);
        }
        dynamic.u64(&[14, soname, 29, runpath, 4, hash_at, 5, strings_at, 6, symbols_at, 10, strings.0.len() as u64, 11, SYMBOL]);
        dynamic.u64(&[7, relocations_at, 8, relocations.len() as u64, 9, RELA, 0, 0]);

        let mut tables = vec![0; (at - tables_at) as usize];
        let parts = [(symbols_at, &symbols), (hash_at, &hash), (relocations_at, &relocations), (strings_at, &strings.0)];
        for (start, part) in parts {
            tables[(start - tables_at) as usize..][..part.len()].copy_from_slice(part);
        }
        let sections = [
            Section { name: ".text", kind: 1, flags: 6, at: 0, bytes: end, link: 0, info: 0, entry: 0 },
            Section { name: ".dynsym", kind: 11, flags: 2, at: symbols_at, bytes: symbols.len() as u64, link: 5, info: 1, entry: SYMBOL },
            Section { name: ".hash", kind: 5, flags: 2, at: hash_at, bytes: hash.len() as u64, link: 2, info: 0, entry: 4 },
            Section {
                name: ".rela.dyn",
                kind: 4,
                flags: 2,
                at: relocations_at,
                bytes: relocations.len() as u64,
                link: 2,
                info: 0,
                entry: RELA,
            },
            Section { name: ".dynstr", kind: 3, flags: 2, at: strings_at, bytes: strings.0.len() as u64, link: 0, info: 0, entry: 0 },
            Section { name: ".dynamic", kind: 6, flags: 3, at: dynamic_at, bytes: dynamic.0.len() as u64, link: 5, info: 0, entry: 16 },
        ];
        self.assemble(tables_at, tables, dynamic_at, dynamic.0, &sections)
    }

    /// The symbol table, and the names of its symbols in order.
    fn symbols(&self, strings: &mut Strings) -> (Vec<u8>, Vec<&str>) {
        const FUNCTION: u16 = 0x12; // global, STT_FUNC, default visibility
        const OBJECT: u16 = 0x11;
        let mut table = Writer(vec![0; SYMBOL as usize]);
        let mut names = vec![""];
        let imports = self.imports.iter().map(|(name, _)| (name, FUNCTION, 0, 0, 0));
        let functions = self.functions.iter().map(|(name, at)| (name, FUNCTION, DEFINED, *at, 0));
        let objects = self.objects.iter().map(|(name, at, size)| (name, OBJECT, DEFINED, *at, *size));
        for (name, info, section, at, size) in imports.chain(functions).chain(objects) {
            table.u32(&[strings.add(name)]).u16(&[info, section]).u64(&[at, size]);
            names.push(name);
        }
        (table.0, names)
    }

    /// `GLOB_DAT` for imports (symbols 1..), `RELATIVE` for addresses inside.
    fn relocation_table(&self) -> Vec<u8> {
        let mut table = Writer::default();
        for &(slot, target) in &self.relocations {
            table.u64(&[slot, self.machine.relative, target]);
        }
        for (k, (_, slot)) in self.imports.iter().enumerate() {
            table.u64(&[*slot, ((k as u64 + 1) << 32) | self.machine.glob_dat, 0]);
        }
        table.0
    }

    /// Puts header, segments and sections together.
    fn assemble(&self, tables_at: u64, tables: Vec<u8>, dynamic_at: u64, dynamic: Vec<u8>, sections: &[Section]) -> (Vec<u8>, Vec<u64>) {
        let is_written = |load: &Load| {
            let slots = self.imports.iter().map(|(_, slot)| slot).chain(self.relocations.iter().map(|(slot, _)| slot));
            slots.clone().any(|&slot| load.address <= slot && slot < load.address + load.size)
        };
        let mut pieces: Vec<(u64, &[u8], u64, u32)> = Vec::new();
        let mut sealed = None;
        for load in &self.loads {
            let flags = match load.access {
                Access::Execute => 5,
                Access::Write => 6,
                // Slots are filled by the dynamic linker, which then takes the right to write away.
                Access::Read if is_written(load) => {
                    sealed.get_or_insert((load.address, load.size));
                    6
                }
                Access::Read => 4,
            };
            pieces.push((load.address, &load.bytes, load.size, flags));
        }
        pieces.push((tables_at, &tables, tables.len() as u64, 4));
        pieces.push((dynamic_at, &dynamic, dynamic.len() as u64, 6));
        let count = pieces.len() + 2 + usize::from(sealed.is_some());
        let mut file = Writer::default();
        let (mut headers, mut places) = (Writer::default(), Vec::new());
        // A place in the file and its address in memory differ by whole pages.
        let page = self.machine.page;
        let mut body: Vec<u8> = vec![0; (64 + 56 * count).next_multiple_of(page as usize)];
        for (address, bytes, size, flags) in pieces {
            let at = body.len() as u64;
            headers.u32(&[1, flags]).u64(&[at, address, address, bytes.len() as u64, size, page]);
            body.extend_from_slice(bytes);
            body.resize(body.len().next_multiple_of(page as usize), 0);
            places.push(at);
        }
        let (dynamic_place, tables_place) = (places.pop().unwrap_or(0), places.pop().unwrap_or(0));
        let size = dynamic.len() as u64;
        headers.u32(&[2, 6]).u64(&[dynamic_place, dynamic_at, dynamic_at, size, size, 8]);
        if let Some((address, size)) = sealed {
            let end = (address + size).next_multiple_of(page);
            headers.u32(&[0x6474_e552, 4]).u64(&[0, address, address, end - address, end - address, 1]);
        }
        headers.u32(&[0x6474_e551, 6]).u64(&[0, 0, 0, 0, 0, 16]); // the stack is not executable
        let offset = |at: u64| if at >= dynamic_at { dynamic_place + at - dynamic_at } else { tables_place + at.saturating_sub(tables_at) };
        let sections_at = section_table(&mut body, sections, offset);

        file.0.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        file.u16(&[3, self.machine.number]).u32(&[1]).u64(&[0, 64, sections_at]).u32(&[0]);
        file.u16(&[64, 56, count as u16, 64, sections.len() as u16 + 2, sections.len() as u16 + 1]);
        body[..64].copy_from_slice(&file.0);
        body[64..64 + headers.0.len()].copy_from_slice(&headers.0);
        (body, places)
    }
}

/// A section: what linkers, unlike loaders, read.
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    at: u64,
    bytes: u64,
    link: u32,
    info: u32,
    entry: u64,
}

/// Appends names and headers of the sections; returns where the headers lie.
fn section_table(body: &mut Vec<u8>, sections: &[Section], offset: impl Fn(u64) -> u64) -> u64 {
    let mut names = Strings(vec![0]);
    let mut table = Writer(vec![0; 64]);
    for section in sections {
        let name = names.add(section.name);
        let place = if section.kind == 1 { 0 } else { offset(section.at) };
        table.u32(&[name, section.kind]).u64(&[section.flags, section.at, place, section.bytes]);
        table.u32(&[section.link, section.info]).u64(&[8, section.entry]);
    }
    let own = names.add(".shstrtab");
    let names_at = body.len() as u64;
    table.u32(&[own, 3]).u64(&[0, 0, names_at, names.0.len() as u64]).u32(&[0, 0]).u64(&[1, 0]);
    body.extend_from_slice(&names.0);
    body.resize(body.len().next_multiple_of(8), 0);
    let at = body.len() as u64;
    body.extend_from_slice(&table.0);
    at
}

/// The System V hash table of the symbols, with one bucket: programs have few symbols.
fn hash_table(names: &[&str]) -> Vec<u8> {
    let mut table = Writer::default();
    let count = names.len() as u32;
    let first = if count > 1 { 1 } else { 0 };
    table.u32(&[1, count, first, 0]);
    for k in 1..count {
        table.u32(&[if k + 1 < count { k + 1 } else { 0 }]);
    }
    table.0
}

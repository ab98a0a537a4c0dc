//! What linking asks of an architecture: how its instructions refer to other places, and how they jump through a slot.

use super::Form;
use object::Architecture;
use object::elf::{self, RelocationType};

/// An architecture that images are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    /// Of 64-bit Intel and AMD.
    X86_64,
    /// Of 64-bit Arm.
    Aarch64,
}

/// What a relocation changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// All 64 bits: an address.
    Address,
    /// 32 bits: the distance in bytes.
    Distance,
    /// 26 bits of a branch: the distance in instructions.
    Branch,
    /// 21 bits of `adrp`: the distance in pages of 4 KB.
    Page,
    /// 12 bits of an `add` or a load: where in its page the target lies, in units of 2^n bytes.
    InPage(u32),
}

impl Machine {
    /// That of an object; `None` for others.
    pub fn of(architecture: Architecture) -> Option<Self> {
        match architecture {
            Architecture::X86_64 => Some(Self::X86_64),
            Architecture::Aarch64 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The largest page that its systems protect as a whole.
    pub fn page(self) -> u64 {
        match self {
            Self::X86_64 => 1 << 12,
            Self::Aarch64 => 1 << 16,
        }
    }

    /// Bytes of a jump through a slot.
    pub fn stub_bytes(self) -> u64 {
        match self {
            Self::X86_64 => 8,
            Self::Aarch64 => 16,
        }
    }

    /// A jump from `stub` to the address in `slot`; `None` where that is out of reach.
    pub fn stub(self, stub: u64, slot: u64) -> Option<Vec<u8>> {
        match self {
            // jmp *slot(%rip); int3; int3
            Self::X86_64 => {
                let mut code = vec![0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc];
                Field::Distance.write(&mut code[2..], stub + 2, slot.wrapping_sub(4)).then_some(code)
            }
            // adrp x16, slot; ldr x16, [x16, :lo12:slot]; br x16; brk #0: x16 is what linkers may use between functions.
            Self::Aarch64 => {
                let mut code: Vec<u8> = [0x9000_0010_u32, 0xf940_0210, 0xd61f_0200, 0xd420_0000].map(u32::to_le_bytes).concat();
                let written = Field::Page.write(&mut code, stub, slot) && Field::InPage(3).write(&mut code[4..], stub + 4, slot);
                written.then_some(code)
            }
        }
    }

    /// What a relocation means and changes; `None` for those that position-independent code of the small model does not have.
    pub fn relocation(self, kind: RelocationType, is_text: bool) -> Option<(Form, Field)> {
        Some(match (self, kind) {
            (Self::X86_64, elf::R_X86_64_PC32 | elf::R_X86_64_PLT32) => (Form::Near, Field::Distance),
            (Self::X86_64, elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX) => (Form::Slot, Field::Distance),
            (Self::X86_64, elf::R_X86_64_64) if !is_text => (Form::Address, Field::Address),
            (Self::Aarch64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => (Form::Near, Field::Branch),
            (Self::Aarch64, elf::R_AARCH64_ADR_PREL_PG_HI21) => (Form::Near, Field::Page),
            (Self::Aarch64, elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC) => (Form::Near, Field::InPage(0)),
            (Self::Aarch64, elf::R_AARCH64_LDST16_ABS_LO12_NC) => (Form::Near, Field::InPage(1)),
            (Self::Aarch64, elf::R_AARCH64_LDST32_ABS_LO12_NC) => (Form::Near, Field::InPage(2)),
            (Self::Aarch64, elf::R_AARCH64_LDST64_ABS_LO12_NC) => (Form::Near, Field::InPage(3)),
            (Self::Aarch64, elf::R_AARCH64_LDST128_ABS_LO12_NC) => (Form::Near, Field::InPage(4)),
            (Self::Aarch64, elf::R_AARCH64_ADR_GOT_PAGE) => (Form::Slot, Field::Page),
            (Self::Aarch64, elf::R_AARCH64_LD64_GOT_LO12_NC) => (Form::Slot, Field::InPage(3)),
            (Self::Aarch64, elf::R_AARCH64_PREL32) => (Form::Near, Field::Distance),
            (Self::Aarch64, elf::R_AARCH64_ABS64) if !is_text => (Form::Address, Field::Address),
            _ => return None,
        })
    }
}

impl Field {
    /// Makes what lies at `place` refer to `target`; false where that is out of reach, or the bytes end before.
    pub fn write(self, bytes: &mut [u8], place: u64, target: u64) -> bool {
        let signed = |value: i64, bits: u32| (value >> (bits - 1) == 0 || value >> (bits - 1) == -1).then_some(value as u32);
        let distance = target.wrapping_sub(place) as i64;
        // The bits of the value, and those of the word that it stands in.
        let (value, mask) = match self {
            Self::Address => {
                let field = bytes.first_chunk_mut();
                return field.is_some_and(|field| {
                    *field = target.to_le_bytes();
                    true
                });
            }
            Self::Distance => (signed(distance, 32), u32::MAX),
            Self::Branch => (signed(distance >> 2, 26).filter(|_| distance % 4 == 0), 0x03ff_ffff),
            Self::Page => {
                let pages = signed((target >> 12).wrapping_sub(place >> 12) as i64, 21);
                (pages.map(|pages| (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5), 0x60ff_ffe0)
            }
            Self::InPage(shift) => {
                let offset = (target & 0xfff) as u32;
                (offset.is_multiple_of(1 << shift).then_some(offset >> shift << 10), 0x003f_fc00)
            }
        };
        let Some((field, value)) = bytes.first_chunk_mut().zip(value) else { return false };
        *field = (u32::from_le_bytes(*field) & !mask | value & mask).to_le_bytes();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Machine};

    /// An instruction that refers to its own place, made to refer to another one.
    fn check(field: Field, code: u32, place: u64, target: u64, want: Option<u32>) {
        let mut bytes = code.to_le_bytes();
        let written = field.write(&mut bytes, place, target);
        assert_eq!(written.then(|| u32::from_le_bytes(bytes)), want, "{field:?} {place:x} {target:x}");
    }

    #[test]
    fn fields_are_as_the_assembler_writes_them() {
        check(Field::Branch, 0x9400_0000, 16, 24, Some(0x9400_0002)); // bl #8
        check(Field::Branch, 0x1400_0000, 16, 12, Some(0x17ff_ffff)); // b #-4
        check(Field::Page, 0x9000_0000, 0x1ffc, 0x2000, Some(0xb000_0000)); // adrp x0, #4096
        check(Field::Page, 0x9000_0000, 0x2000, 0x1fff, Some(0xf0ff_ffe0)); // adrp x0, #-4096
        check(Field::Page, 0x9000_0003, 0x1000, 0x8fff, Some(0xf000_0023)); // adrp x3, #28672
        check(Field::InPage(0), 0x9100_0021, 0, 0x7010, Some(0x9100_4021)); // add x1, x1, #16
        check(Field::InPage(1), 0x7940_0000, 0, 0x7006, Some(0x7940_0c00)); // ldrh w0, [x0, #6]
        check(Field::InPage(2), 0xbd40_0000, 0, 0x7ffc, Some(0xbd4f_fc00)); // ldr s0, [x0, #4092]
        check(Field::InPage(4), 0x3dc0_0020, 0, 0x7040, Some(0x3dc0_1020)); // ldr q0, [x1, #64]
        check(Field::Distance, 0, 16, 8, Some(0xffff_fff8));
    }

    #[test]
    fn what_no_instruction_reaches_is_refused() {
        check(Field::Branch, 0x9400_0000, 0, 1 << 27, None);
        check(Field::Branch, 0x9400_0000, 0, (1 << 27) - 4, Some(0x95ff_ffff));
        check(Field::Branch, 0x9400_0000, 0, 6, None);
        check(Field::Page, 0x9000_0000, 0, 1 << 32, None);
        check(Field::InPage(3), 0xf940_0000, 0, 0x7004, None);
        check(Field::Distance, 0, 0, 1 << 31, None);
        assert!(!Field::Distance.write(&mut [0; 3], 0, 0), "the bytes end before");
    }

    #[test]
    fn a_stub_loads_its_slot() {
        let words = |code: Vec<u8>| code.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect::<Vec<_>>();
        // adrp x16, #4096; ldr x16, [x16, #40]; br x16; brk #0
        let arm = Machine::Aarch64.stub(0x20, 0x1028).map(words);
        assert_eq!(arm, Some(vec![0xb000_0010, 0xf940_1610, 0xd61f_0200, 0xd420_0000]));
        // The distance counts from behind the jump of six bytes.
        assert_eq!(Machine::X86_64.stub(0x20, 0x1028), Some(vec![0xff, 0x25, 0x02, 0x10, 0, 0, 0xcc, 0xcc]));
    }
}

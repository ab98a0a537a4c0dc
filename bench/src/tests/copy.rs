//! A program made by hand: `out[i] = x[i]` on a vector of floats of any length.

use strata_runtime::manifest::*;
use strata_runtime::{Artefact, DType, DimOrder, Image, Manifest};

/// x86-64 for `strata_entry`: outputs[0].shape[0] = n; strata_output(call, 0, 4n); copy n floats; return 0.
#[rustfmt::skip]
const CODE: &[u8] = &[
    0x53, 0x41, 0x54, 0x55,                         // push rbx; push r12; push rbp
    0x48, 0x89, 0xfb,                               // mov rbx, rdi
    0x48, 0x8b, 0x07,                               // mov rax, [rdi]            inputs
    0x4c, 0x8b, 0x20,                               // mov r12, [rax]            x
    0x49, 0x8b, 0x44, 0x24, 0x18,                   // mov rax, [r12 + 24]       x.shape
    0x48, 0x8b, 0x28,                               // mov rbp, [rax]            n
    0x48, 0x8b, 0x47, 0x08,                         // mov rax, [rdi + 8]        outputs
    0x48, 0x8b, 0x00,                               // mov rax, [rax]
    0x48, 0x8b, 0x40, 0x18,                         // mov rax, [rax + 24]
    0x48, 0x89, 0x28,                               // mov [rax], rbp
    0x31, 0xf6,                                     // xor esi, esi
    0x48, 0x8d, 0x14, 0xad, 0x00, 0x00, 0x00, 0x00, // lea rdx, [rbp * 4]
    0xff, 0x15, 0xcd, 0x0f, 0x00, 0x00,             // call [rip + 0xfcd]        the slot at 0x1000
    0x48, 0x89, 0xc7,                               // mov rdi, rax
    0x49, 0x8b, 0x34, 0x24,                         // mov rsi, [r12]            x.data
    0x48, 0x89, 0xe9,                               // mov rcx, rbp
    0xf3, 0xa5,                                     // rep movsd
    0x31, 0xc0,                                     // xor eax, eax
    0x5d, 0x41, 0x5c, 0x5b, 0xc3,                   // pop rbp; pop r12; pop rbx; ret
];

/// The program.
pub fn artefact() -> Artefact {
    let mut manifest = Manifest::new("copy", Target::host());
    manifest.layout = Layout {
        entry: 0,
        prepare: None,
        signature: None,
        memory_bytes: 0x2000,
        segments: vec![
            Segment { offset: 0, bytes: 0x1000, access: Access::Execute },
            Segment { offset: 0x1000, bytes: 0x1000, access: Access::Read },
        ],
        imports: vec![Import { name: "strata_output".into(), offset: 0x1000 }],
        relocations: Vec::new(),
    };
    manifest.inputs = vec![Input {
        name: "x".into(),
        kind: InputKind::Tensor,
        dtype: DType::F32,
        shape: vec![None],
        sample: Vec::new(),
        dim_order: DimOrder::ROW_MAJOR,
        value: None,
    }];
    manifest.outputs = vec![Output {
        kind: OutputKind::Output,
        name: "out".into(),
        dtype: DType::F32,
        shape: vec![None],
        dim_order: DimOrder::ROW_MAJOR,
        in_place: false,
    }];
    Artefact { manifest, image: Image { bytes: CODE.to_vec() }, packed: None, op_libraries: Default::default() }
}

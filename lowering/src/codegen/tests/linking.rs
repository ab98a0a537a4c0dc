//! What kernels hardly ever need but the linker must get right: variables, tables of addresses, addresses of imports.

use super::machine::{Loaded, context, lowered};
use crate::codegen::{Alias, LinkError, LinkedImage, Options, Target, emit, link, link_as};
use crate::target;

const TEXT: &str = "
  llvm.func @abs(i32) -> i32
  llvm.func @labs(i64) -> i64
  llvm.mlir.global internal @counter(7 : i32) : i32
  llvm.mlir.global internal @zeros() : !llvm.array<1000 x i64> {
    %zero = llvm.mlir.zero : !llvm.array<1000 x i64>
    llvm.return %zero : !llvm.array<1000 x i64>
  }
  llvm.mlir.global internal constant @table() : !llvm.array<3 x ptr> {
    %none = llvm.mlir.undef : !llvm.array<3 x ptr>
    %one = llvm.mlir.addressof @one : !llvm.ptr
    %two = llvm.mlir.addressof @two : !llvm.ptr
    %labs = llvm.mlir.addressof @labs : !llvm.ptr
    %a = llvm.insertvalue %one, %none[0] : !llvm.array<3 x ptr>
    %b = llvm.insertvalue %two, %a[1] : !llvm.array<3 x ptr>
    %c = llvm.insertvalue %labs, %b[2] : !llvm.array<3 x ptr>
    llvm.return %c : !llvm.array<3 x ptr>
  }
  llvm.func @one(%x: i32) -> i32 {
    %r = llvm.mlir.constant(1 : i32) : i32
    llvm.return %r : i32
  }
  llvm.func @two(%x: i32) -> i32 {
    %r = llvm.mlir.constant(2 : i32) : i32
    llvm.return %r : i32
  }
  llvm.func @strata_entry(%call: !llvm.ptr) -> i32 {
    %counter = llvm.mlir.addressof @counter : !llvm.ptr
    %old = llvm.load volatile %counter : !llvm.ptr -> i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %new = llvm.add %old, %one : i32
    llvm.store volatile %new, %counter : i32, !llvm.ptr
    %zeros = llvm.mlir.addressof @zeros : !llvm.ptr
    %last = llvm.getelementptr %zeros[999] : (!llvm.ptr) -> !llvm.ptr, i64
    %zero = llvm.load volatile %last : !llvm.ptr -> i64
    llvm.store %zero, %call : i64, !llvm.ptr
    %out = llvm.getelementptr %call[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %abs = llvm.mlir.addressof @abs : !llvm.ptr
    llvm.store %abs, %out : !llvm.ptr, !llvm.ptr
    %table = llvm.mlir.addressof @table : !llvm.ptr
    %at = llvm.and %new, %one : i32
    %slot = llvm.getelementptr %table[%at] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.ptr
    %function = llvm.load volatile %slot : !llvm.ptr -> !llvm.ptr
    %picked = llvm.call %function(%new) : !llvm.ptr, (i32) -> i32
    %minus = llvm.sub %picked, %new : i32
    %distance = llvm.call @abs(%minus) : (i32) -> i32
    llvm.return %distance : i32
  }";

fn object_for(target: &Target) -> Vec<u8> {
    let context = context();
    let module = lowered(&context, TEXT, target);
    emit(module.op(), target, &Options::default()).unwrap().object
}

fn image_for(target: &Target) -> LinkedImage {
    link(&[&object_for(target)]).unwrap()
}

fn image() -> LinkedImage {
    image_for(&target::host())
}

#[test]
fn variables_tables_and_addresses() {
    let image = image();
    assert!(image.imports.iter().any(|(name, slot)| name == "labs" && image.rodata.contains(slot)));
    let loaded = Loaded::new(&image);
    let mut call = [-1i64, 0];
    for (count, picked) in [(8, 1), (9, 2), (10, 1)] {
        assert_eq!(loaded.call(&mut call), count - picked);
    }
    assert_eq!(call[0], 0);
    assert_eq!(call[1] as usize, super::machine::resolve("abs"));
}

#[test]
fn ranges_lie_on_pages_and_do_not_touch() {
    for (target, page) in [("x86-64-v3", 1 << 12), ("neoverse-n1", 1 << 16)] {
        let image = image_for(&target::named(target).unwrap());
        for (low, high) in [(&image.text, &image.rodata), (&image.rodata, &image.data)] {
            assert!(low.end <= high.start && high.start % page == 0, "{low:?} {high:?}");
        }
    }
    let image = image();
    assert!(image.data.end - image.data.start >= 8000);
    assert_eq!(image.bytes.len() as u64, image.data.end);
    assert!(image.relocations.iter().all(|(slot, target)| image.rodata.contains(slot) && image.text.contains(target)));
    let names: Vec<_> = image.symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.bytes > 0)).collect();
    assert!(names.contains(&("one", true)) && names.contains(&("strata_entry", true)), "{names:?}");
}

#[test]
fn objects_of_two_architectures_are_not_mixed() {
    let (ours, other) = (object_for(&target::named("x86-64-v3").unwrap()), object_for(&target::named("cortex-a72").unwrap()));
    assert!(matches!(link(&[&other, &ours]), Err(LinkError::Machine)));
}

/// An object of one function that gives a number, and of another that calls `other` if it is to.
fn object(text: &str, exports: &[&str]) -> Vec<u8> {
    let (context, target) = (context(), target::host());
    let options = Options { exports: exports.iter().map(|name| (*name).to_owned()).collect(), ..Options::default() };
    emit(lowered(&context, text, &target).op(), &target, &options).unwrap().object
}

fn number(name: &str, number: i32) -> Vec<u8> {
    let text = format!("llvm.func @{name}() -> i32 {{ %r = llvm.mlir.constant({number} : i32) : i32\n llvm.return %r : i32 }}");
    object(&text, &[name])
}

const PROGRAM: &str = "
  llvm.func @k0() -> i32
  llvm.func @k1() -> i32
  llvm.func @strata_entry(%call: !llvm.ptr) -> i32 {
    %a = llvm.call @k0() : () -> i32
    %b = llvm.call @k1() : () -> i32
    %ten = llvm.mlir.constant(10 : i32) : i32
    %tens = llvm.mul %a, %ten : i32
    %r = llvm.add %tens, %b : i32
    llvm.return %r : i32
  }";

#[test]
fn aliases_say_which_kernel_a_program_means() {
    let (program, three, four) = (object(PROGRAM, &[]), number("by_content_3", 3), number("by_content_4", 4));
    let alias = |name: &str, of: &str| (name.to_owned(), of.to_owned());
    let objects = [program.as_slice(), &three, &four];
    let result = |aliases: &[Alias]| Loaded::new(&link_as(&objects, aliases).unwrap()).call(&mut [0i64; 2]);
    assert_eq!(result(&[alias("k0", "by_content_3"), alias("k1", "by_content_4")]), 34);
    assert_eq!(result(&[alias("k0", "by_content_4"), alias("k1", "by_content_3")]), 43, "the same objects");
    assert_eq!(result(&[alias("k0", "by_content_4"), alias("k1", "by_content_4")]), 44, "two names of one kernel");
    // What no object and no alias knows is an import of the image.
    let image = link_as(&objects, &[alias("k0", "by_content_3")]).unwrap();
    assert_eq!(image.imports.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["k1"]);
}

#[test]
fn an_alias_of_what_is_not_there_is_an_import_by_its_own_name() {
    let program = object(PROGRAM, &[]);
    let three = number("by_content_3", 3);
    let aliases = [("k0".to_owned(), "by_content_3".to_owned()), ("k1".to_owned(), "gone".to_owned())];
    let linked = link_as(&[program.as_slice(), &three], &aliases);
    let imports = linked.map(|image| image.imports.into_iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert!(imports.is_ok_and(|imports| imports == ["k1"]));
}

//! Loads and runs compiled programs. No MLIR, no LLVM, no Python: code images, threads, memory, DLPack.
//!
//! [`Artefact`] is the file, [`Session`] the loaded program, [`Tensor`] what goes in and comes out.
//! The compiler fills a [`manifest::Manifest`] and an [`artefact::Image`]; everything else here only reads them.

pub mod abi;
pub mod arena;
pub mod artefact;
mod call;
pub mod capi;
mod checkpoint;
pub mod compare;
pub mod compiler;
mod copy;
pub mod cpu;
mod cpus;
pub mod cuda;
pub mod device;
pub mod dim_order;
pub mod dlpack;
pub mod dtype;
mod elf;
pub mod error;
mod float8;
pub mod guards;
pub mod header;
mod idle;
pub mod image;
pub mod imports;
pub mod library;
pub mod limits;
pub mod manifest;
pub mod measure;
pub mod memory;
pub mod op_call;
pub mod op_library;
mod openmp;
pub mod origin;
pub mod packed;
pub mod pool;
mod prepare;
pub mod profile;
mod replace;
pub mod session;
pub mod shared;
mod signature;
pub mod specialised;
mod strided;
pub mod tensor;
pub mod tensor_file;
mod torch_ops;
mod wait;
pub mod weights;

pub use artefact::{Artefact, ArtefactError, Image};
pub use device::{Device, DeviceError};
pub use dim_order::DimOrder;
pub use dtype::DType;
pub use error::{LoadError, RunError};
pub use guards::{Guards, Leaf};
pub use manifest::Manifest;
pub use measure::Measured;
pub use op_library::{OpLibraries, OpLibraryError, OpLibraryFile, OpLibraryKind};
pub use prepare::PreparedFiles;
pub use session::{CallState, Session};
pub use specialised::Specialised;
pub use tensor::{Tensor, TensorError};
pub use tensor_file::{TensorFile, TensorFileError};

//! Rust interfaces of ops: `op.interface::<dyn Pointwise>()` finds what the op's definition lists.

use crate::ir::Op;
use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;

/// One interface in an op's definition: a [`Caster`] of the trait object's type.
pub type Interface = &'static (dyn Any + Send + Sync);

/// Makes the trait object of an interface for an op.
pub struct Caster<T: ?Sized + 'static>(pub fn(Op<'static>) -> Box<T>);

/// An op seen through an interface.
pub struct InterfaceRef<'c, T: ?Sized> {
    object: Box<T>,
    marker: PhantomData<&'c ()>,
}

impl<T: ?Sized> Deref for InterfaceRef<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<'c> Op<'c> {
    /// The op as `T`, when its definition lists that interface.
    pub fn interface<T: ?Sized + 'static>(self) -> Option<InterfaceRef<'c, T>> {
        let caster = self.def()?.interfaces.iter().find_map(|interface| interface.downcast_ref::<Caster<T>>())?;
        // SAFETY: the object made from the lengthened handle is handed out for `'c` only.
        let op = unsafe { Op::<'static>::from_raw(self.raw) };
        Some(InterfaceRef { object: (caster.0)(op), marker: PhantomData })
    }

    /// Whether its definition lists the interface.
    pub fn has_interface<T: ?Sized + 'static>(self) -> bool {
        self.def().is_some_and(|def| def.interfaces.iter().any(|interface| interface.is::<Caster<T>>()))
    }
}

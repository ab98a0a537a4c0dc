//! A tensor as extensions see it: a view of a storage.

use std::sync::Arc;

use crate::constants::element_size;

/// Memory of tensors.
#[derive(Debug)]
pub(crate) struct Storage {
    data: *mut u8,
    pub bytes: usize,
    owned: bool,
}

// SAFETY: the memory is only reached by tensors, whose users order their accesses as users of PyTorch's do.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: it came from `posix_memalign`, and nothing has it any more.
            unsafe { libc::free(self.data.cast()) };
        }
    }
}

/// A tensor.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub storage: Arc<Storage>,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    pub offset: i64,
    pub dtype: i32,
}

/// Row-major strides.
pub(crate) fn dense(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(sizes[dim].max(1));
    }
    strides
}

impl Tensor {
    /// A tensor in new memory, which holds anything.
    pub fn empty(sizes: &[i64], strides: &[i64], dtype: i32) -> Result<Tensor, String> {
        let size = element_size(dtype).ok_or_else(|| format!("there are no tensors of the element type {dtype} here"))?;
        let too_large = || format!("a tensor of sizes {sizes:?} is larger than all memory");
        if sizes.len() != strides.len() || sizes.iter().chain(strides).any(|number| *number < 0) {
            return Err(format!("sizes {sizes:?} and strides {strides:?} are of no tensor"));
        }
        let mut elements = i64::from(!sizes.contains(&0));
        for (extent, stride) in sizes.iter().zip(strides).filter(|(extent, _)| **extent > 1) {
            elements = (extent - 1).checked_mul(*stride).and_then(|far| elements.checked_add(far)).ok_or_else(too_large)?;
        }
        let bytes = usize::try_from(elements).ok().and_then(|elements| elements.checked_mul(size)).ok_or_else(too_large)?;
        let mut data = std::ptr::null_mut();
        // SAFETY: the pointer may be written; the alignment is a power of two.
        if unsafe { libc::posix_memalign(&raw mut data, 64, bytes.max(1)) } != 0 {
            return Err(format!("out of memory: {bytes} bytes are asked for"));
        }
        let storage = Arc::new(Storage { data: data.cast(), bytes, owned: true });
        Ok(Tensor { storage, sizes: sizes.to_vec(), strides: strides.to_vec(), offset: 0, dtype })
    }

    /// A tensor over memory of somebody else, which lives longer.
    pub fn over(data: *mut u8, sizes: &[i64], strides: &[i64], offset: i64, dtype: i32) -> Result<Tensor, String> {
        let size = element_size(dtype).ok_or_else(|| format!("there are no tensors of the element type {dtype} here"))?;
        let reach: i64 = sizes.iter().zip(strides).map(|(extent, stride)| (extent - 1).max(0).saturating_mul(*stride)).sum();
        let bytes = usize::try_from(reach + 1 + offset).unwrap_or(0).saturating_mul(size);
        Ok(Tensor {
            storage: Arc::new(Storage { data, bytes, owned: false }),
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            offset,
            dtype,
        })
    }

    /// Bytes of an element.
    pub fn element_size(&self) -> usize {
        element_size(self.dtype).unwrap_or(1)
    }

    /// The number of elements.
    pub fn len(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// The address of the first element.
    pub fn data(&self) -> *mut u8 {
        self.storage.data.wrapping_offset(self.offset as isize * self.element_size() as isize)
    }

    /// Whether it is row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        let wanted = dense(&self.sizes);
        self.len() == 0 || (0..self.sizes.len()).all(|dim| self.sizes[dim] == 1 || self.strides[dim] == wanted[dim])
    }

    /// The place of a dimension that may count from the end.
    pub fn dim(&self, dim: i64) -> Result<usize, String> {
        let rank = self.sizes.len() as i64;
        let place = if dim < 0 { dim + rank } else { dim };
        usize::try_from(place).ok().filter(|_| place < rank).ok_or_else(|| format!("a tensor of rank {rank} has no dimension {dim}"))
    }

    /// Copies the elements of a tensor of the same element type, whose sizes may be broadcast.
    pub fn copy_from(&self, from: &Tensor) -> Result<(), String> {
        let lead = self.sizes.len().checked_sub(from.sizes.len());
        let fits = |lead: usize| from.sizes.iter().zip(&self.sizes[lead..]).all(|(from, to)| from == to || *from == 1);
        let Some(lead) = lead.filter(|lead| fits(*lead)) else {
            return Err(format!("sizes {:?} do not expand to {:?}", from.sizes, self.sizes));
        };
        if from.dtype != self.dtype {
            return Err("copies between tensors of two element types are not there".into());
        }
        let strides = |dim: usize| if dim < lead || from.sizes[dim - lead] == 1 { 0 } else { from.strides[dim - lead] };
        let (size, mut index) = (self.element_size(), vec![0i64; self.sizes.len()]);
        for _ in 0..self.len() {
            let place = |stride: &dyn Fn(usize) -> i64| index.iter().enumerate().map(|(dim, at)| at * stride(dim)).sum::<i64>() as isize;
            let (to, at) = (place(&|dim| self.strides[dim]), place(&strides));
            // SAFETY: both elements lie in the tensors' storages, since sizes and strides do.
            unsafe {
                std::ptr::copy(from.data().wrapping_offset(at * size as isize), self.data().wrapping_offset(to * size as isize), size)
            };
            for dim in (0..index.len()).rev() {
                index[dim] += 1;
                if index[dim] < self.sizes[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
        Ok(())
    }

    /// A row-major copy.
    pub fn dense_copy(&self) -> Result<Tensor, String> {
        let copy = Tensor::empty(&self.sizes, &dense(&self.sizes), self.dtype)?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// The order of dims in memory where it has no gaps, as `empty_like` keeps it; row-major else.
    pub fn like_strides(&self) -> Vec<i64> {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by_key(|dim| std::cmp::Reverse((self.strides[*dim], self.sizes[*dim])));
        let inside: Vec<i64> = order.iter().map(|dim| self.sizes[*dim]).collect();
        let mut strides = vec![0; order.len()];
        for (dim, stride) in order.iter().zip(dense(&inside)) {
            strides[*dim] = stride;
        }
        let same = (0..order.len()).all(|dim| self.sizes[dim] == 1 || strides[dim] == self.strides[dim]);
        if same { strides } else { dense(&self.sizes) }
    }

    /// Sets all bytes to zero, element by element where it has gaps.
    pub fn zero(&self) -> Result<(), String> {
        self.fill(&vec![0; self.element_size()])
    }

    /// Sets all elements.
    pub fn fill(&self, element: &[u8]) -> Result<(), String> {
        let mut bytes = element.to_vec();
        self.copy_from(&Tensor::over(bytes.as_mut_ptr(), &[], &[], 0, self.dtype)?)
    }
}

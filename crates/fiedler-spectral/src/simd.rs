//! Which vectors our own kernels are compiled for.

use pulp::{Scalar, WithSimd};

/// The vectors that kernels run on: 256 bits on x86, 128 on ARM, where the processor has them, plain code elsewhere.
///
/// `pulp::Arch` goes on to 512 bits. Those are left to matrix products, which they make twice as fast: the kernels of these libraries wait
/// for memory, one form less keeps the program small, and their sums are the same on every x86 machine.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Arch {
    /// No vectors.
    Scalar,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    V3(pulp::x86::V3),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(pulp::aarch64::Neon),
}

impl Arch {
    /// What this machine has.
    #[inline]
    pub fn new() -> Arch {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return Arch::V3(simd);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(simd) = pulp::aarch64::Neon::try_new() {
            return Arch::Neon(simd);
        }
        Arch::Scalar
    }

    /// Runs a kernel compiled for these vectors.
    #[inline(always)]
    pub fn dispatch<K: WithSimd>(self, kernel: K) -> K::Output {
        match self {
            Arch::Scalar => kernel.with_simd(Scalar::new()),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(simd) => pulp::Simd::vectorize(simd, kernel),
            #[cfg(target_arch = "aarch64")]
            Arch::Neon(simd) => pulp::Simd::vectorize(simd, kernel),
        }
    }
}

impl Default for Arch {
    fn default() -> Arch {
        Arch::new()
    }
}

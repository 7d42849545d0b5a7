//! Scheduling and hazard classes.

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The scheduling and hazard class of a row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class { $($(#[$doc])* $name,)* }

        impl Class {
            /// The class with this name in the table files; `None` if there is none.
            pub fn named(text: &str) -> Option<Class> {
                match text { $($text => Some(Class::$name),)* _ => None }
            }

            /// The class's name in the table files.
            pub fn name(self) -> &'static str {
                match self { $(Class::$name => $text,)* }
            }
        }
    };
}

impl Class {
    /// True if the instruction reads and writes memory atomically.
    pub const fn is_atomic(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::SmemAtomic
                | C::SmemAtomicRet
                | C::LdsAtomic
                | C::LdsAtomicRet
                | C::VmemAtomic
                | C::VmemAtomicRet
                | C::FlatAtomic
                | C::FlatAtomicRet
                | C::GlobalAtomic
                | C::GlobalAtomicRet
        )
    }

    /// True for an atomic that returns the old value.
    pub const fn returns_old(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::SmemAtomicRet | C::LdsAtomicRet | C::VmemAtomicRet | C::FlatAtomicRet | C::GlobalAtomicRet
        )
    }

    /// True if the instruction is a vector load from memory, to registers or to LDS. Atomics are excluded.
    pub const fn loads(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::VmemLoad
                | C::VmemLoadLds
                | C::FlatLoad
                | C::GlobalLoad
                | C::GlobalLoadLds
                | C::ScratchLoad
                | C::ScratchLoadLds
        )
    }

    /// True for copies between memory and LDS that have separate counters (gfx12.5).
    pub const fn is_async_copy(self) -> bool {
        use Class as C;
        matches!(self, C::AsyncLoad | C::AsyncStore | C::TensorLoad | C::TensorStore)
    }

    /// True if a scheduler must not move such an instruction, and must not move others across it: the instruction changes the effect of
    /// other instructions, is visible from outside, or depends on the adjacent instructions.
    pub const fn is_boundary(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::Branch
                | C::Endpgm
                | C::Barrier
                | C::Waitcnt
                | C::Nop
                | C::Sleep
                | C::Sendmsg
                | C::Trap
                | C::SoppMisc
                | C::Setreg
                | C::Getreg
                | C::GprIdx
                | C::Movrel
                | C::CacheCtl
                | C::SmemCache
                | C::SmemTime
                | C::Gds
                | C::Gws
                | C::MfmaLdScale
        )
    }
}

classes! {
    /// Vector ALU.
    Valu = "valu",
    /// Transcendental vector ALU.
    Trans = "trans",
    /// Dot product ("DL op").
    ValuDot = "valu_dot",
    /// Vector compare.
    Cmp = "cmp",
    /// Vector compare that writes EXEC.
    Cmpx = "cmpx",
    /// `v_nop`.
    Vnop = "vnop",
    /// `v_readlane_b32`, `v_readfirstlane_b32`.
    Readlane = "readlane",
    /// `v_writelane_b32`.
    Writelane = "writelane",
    /// `v_permlane*_swap`.
    Permlane = "permlane",
    /// `v_accvgpr_read_b32`.
    AccvgprRead = "accvgpr_read",
    /// `v_accvgpr_write_b32`.
    AccvgprWrite = "accvgpr_write",
    /// `v_accvgpr_mov_b32`.
    AccvgprMov = "accvgpr_mov",
    /// Matrix instruction of the XDL pipe.
    MfmaXdl = "mfma_xdl",
    /// f32 matrix instruction (distinguished on gfx942 and later).
    MfmaSgemm = "mfma_sgemm",
    /// f64 matrix instruction.
    MfmaDgemm = "mfma_dgemm",
    /// Sparse matrix instruction.
    Smfmac = "smfmac",
    /// `v_mfma_ld_scale_b32`.
    MfmaLdScale = "mfma_ld_scale",
    /// Scalar ALU.
    Salu = "salu",
    /// `s_movrel*`: M0 is added to numbers of registers.
    Movrel = "movrel",
    /// `s_set_gpr_idx_*`.
    GprIdx = "gpr_idx",
    /// `s_setreg*`.
    Setreg = "setreg",
    /// `s_getreg_b32`.
    Getreg = "getreg",
    /// Branches, calls, returns.
    Branch = "branch",
    /// `s_barrier`.
    Barrier = "barrier",
    /// `s_waitcnt`.
    Waitcnt = "waitcnt",
    /// `s_nop`.
    Nop = "nop",
    /// `s_sleep`.
    Sleep = "sleep",
    /// `s_endpgm*`.
    Endpgm = "endpgm",
    /// `s_sendmsg*`.
    Sendmsg = "sendmsg",
    /// `s_get_barrier_state`: requests the state of a barrier, as a message does.
    BarrierState = "barrier_state",
    /// `s_trap`.
    Trap = "trap",
    /// Other program-control instructions.
    SoppMisc = "sopp_misc",
    /// Scalar load.
    SmemLoad = "smem_load",
    /// Scalar store.
    SmemStore = "smem_store",
    /// Scalar atomic.
    SmemAtomic = "smem_atomic",
    /// Scalar atomic with return.
    SmemAtomicRet = "smem_atomic_ret",
    /// Scalar cache control.
    SmemCache = "smem_cache",
    /// `s_memtime`, `s_memrealtime`.
    SmemTime = "smem_time",
    /// LDS read.
    LdsRead = "lds_read",
    /// LDS write.
    LdsWrite = "lds_write",
    /// LDS atomic.
    LdsAtomic = "lds_atomic",
    /// LDS atomic with return.
    LdsAtomicRet = "lds_atomic_ret",
    /// `ds_swizzle`, `ds_permute`, `ds_bpermute`.
    LdsPermute = "lds_permute",
    /// `ds_nop`.
    LdsNop = "lds_nop",
    /// GDS-only instructions.
    Gds = "gds",
    /// Global wave sync.
    Gws = "gws",
    /// Buffer load.
    VmemLoad = "vmem_load",
    /// Buffer load into LDS.
    VmemLoadLds = "vmem_load_lds",
    /// Buffer store.
    VmemStore = "vmem_store",
    /// Buffer store from LDS.
    VmemStoreLds = "vmem_store_lds",
    /// Buffer atomic.
    VmemAtomic = "vmem_atomic",
    /// Buffer atomic with return.
    VmemAtomicRet = "vmem_atomic_ret",
    /// Vector cache control.
    CacheCtl = "cache_ctl",
    /// Flat load.
    FlatLoad = "flat_load",
    /// Flat store.
    FlatStore = "flat_store",
    /// Flat atomic.
    FlatAtomic = "flat_atomic",
    /// Flat atomic with return.
    FlatAtomicRet = "flat_atomic_ret",
    /// Global load.
    GlobalLoad = "global_load",
    /// Global load into LDS.
    GlobalLoadLds = "global_load_lds",
    /// Global store.
    GlobalStore = "global_store",
    /// Global atomic.
    GlobalAtomic = "global_atomic",
    /// Global atomic with return.
    GlobalAtomicRet = "global_atomic_ret",
    /// Scratch load.
    ScratchLoad = "scratch_load",
    /// Scratch load into LDS.
    ScratchLoadLds = "scratch_load_lds",
    /// Scratch store.
    ScratchStore = "scratch_store",
    // Classes that only RDNA has.
    /// Vector ALU on f64, which has a separate unit.
    ValuDp = "valu_dp",
    /// Transcendental with a scalar result.
    TransScalar = "trans_scalar",
    /// Matrix instruction.
    Wmma = "wmma",
    /// Sparse matrix instruction.
    Swmmac = "swmmac",
    /// Scalar ALU on floats.
    SaluFloat = "salu_float",
    /// `s_delay_alu`.
    DelayAlu = "delay_alu",
    /// Scalar prefetch.
    SmemPrefetch = "smem_prefetch",
    /// Traversal stack of ray tracing in LDS.
    LdsBvh = "lds_bvh",
    /// Direct load from LDS.
    LdsDirect = "lds_direct",
    /// Load of a pixel's parameters from LDS.
    LdsParam = "lds_param",
    /// Vector prefetch.
    VmemPrefetch = "vmem_prefetch",
    /// Copy from memory to LDS with a separate counter (gfx12.5).
    AsyncLoad = "async_load",
    /// Copy from LDS to memory with a separate counter (gfx12.5).
    AsyncStore = "async_store",
    /// `ds_atomic_async_barrier_arrive_b64`: arrives at a barrier in LDS when earlier asynchronous copies are done.
    AsyncArrive = "async_arrive",
    /// Copy of a tensor's tile to LDS.
    TensorLoad = "tensor_load",
    /// Copy of a tensor's tile from LDS.
    TensorStore = "tensor_store",
    /// `tensor_save`, `tensor_stop`.
    TensorCtl = "tensor_ctl",
}

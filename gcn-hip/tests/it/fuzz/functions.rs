//! The functions that sequences call, and the kinds of their arguments.

/// Functions with the kinds of their arguments.
///
/// A capital letter is the address for a created object: `P` memory, `S` stream, `E` event, `M` module, `U` function, `G` graph, `X`
/// executable graph, `N` node, `L` pool, `O` anything else. The small letters `p`, `s`, `e`, `m`, `u`, `g`, `x`, `n`, `l` are objects of
/// these kinds; `o` is a context, `1` the address of a variable, `7` registered memory, `8` the size of a result, `9` a HIP version, `j` a
/// node that its graph may no longer contain. `z` is a size, `k` a copy direction, `i` and `f` are small numbers, `d` is a device, `h` a
/// name, `v` any word, `y` a grid and `b` a block in one dimension, `w` the count of the arrays `a` of handles, `q` kernel arguments, `Q`
/// kernel arguments in a buffer, `r`, `2`, `3` and `4` the parameters of a fill, of copies and of a launch, `5` those of a pool, `6` those
/// of a host callback, `c` and `t` host functions.
#[rustfmt::skip]
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("hipMalloc", "Pz"), ("hipMalloc", "Pz"), ("hipMallocManaged", "Pzf"), ("hipHostMalloc", "Pzf"), ("hipExtMallocWithFlags", "Pzf"),
    ("hipMallocPitch", "POzz"), ("hipMemAllocPitch", "POzzi"), ("hipMallocAsync", "Pzs"), ("hipMallocFromPoolAsync", "Pzls"),
    ("hipFree", "p"), ("hipFreeAsync", "ps"), ("hipHostFree", "p"), ("hipHostRegister", "pzf"), ("hipHostUnregister", "7"), ("hipHostUnregister", "p"),
    ("hipHostGetDevicePointer", "Opf"), ("hipHostGetFlags", "Op"), ("hipMemGetInfo", "OO"), ("hipMemGetAddressRange", "OOp"),
    ("hipMemPtrGetInfo", "pO"), ("hipPointerGetAttributes", "Op"), ("hipPointerGetAttribute", "Oip"), ("hipMemPrefetchAsync", "pzds"),
    ("hipMemAdvise", "pzid"), ("hipMemRangeGetAttribute", "O8ipz"), ("hipStreamAttachMemAsync", "spzf"),
    ("hipMemcpy", "ppzk"), ("hipMemcpy", "ppzk"), ("hipMemcpyAsync", "ppzks"), ("hipMemcpyWithStream", "ppzks"),
    ("hipMemcpyDtoH", "ppz"), ("hipMemcpyHtoDAsync", "ppzs"), ("hipMemcpyDtoDAsync", "ppzs"), ("hipMemcpyPeer", "pdpdz"),
    ("hipMemcpyPeerAsync", "pdpdzs"), ("hipMemcpy2D", "pzpzzzk"), ("hipMemcpy2DAsync", "pzpzzzks"), ("hipMemcpy3D", "3"),
    ("hipMemcpy3DAsync", "3s"), ("hipMemcpyParam2D", "2"), ("hipMemcpyParam2DAsync", "2s"), ("hipDrvMemcpy2DUnaligned", "2"),
    ("hipMemcpyToSymbol", "1pzzk"), ("hipMemcpyFromSymbolAsync", "p1zzks"), ("hipGetSymbolAddress", "O1"), ("hipGetSymbolSize", "O1"),
    ("hipMemset", "piz"), ("hipMemsetAsync", "pizs"), ("hipMemsetD8", "piz"), ("hipMemsetD16Async", "pizs"), ("hipMemsetD32", "piz"),
    ("hipMemset2D", "pzizz"), ("hipMemset2DAsync", "pzizzs"),
    ("hipModuleGetFunction", "Umh"), ("hipModuleGetFunction", "Umh"), ("hipModuleGetGlobal", "OOmh"), ("hipModuleGetFunctionCount", "Om"),
    ("hipModuleUnload", "m"), ("hipFuncGetAttribute", "Oiu"), ("hipFuncGetAttributes", "Ou"), ("hipFuncSetAttribute", "uii"),
    ("hipModuleLaunchKernel", "uyyybbbfsqQ"), ("hipModuleLaunchKernel", "uyyybbbfsqQ"), ("hipModuleLaunchKernel", "uyyybbbfsqQ"),
    ("hipModuleLaunchCooperativeKernel", "uyyybbbfsq"), ("hipExtModuleLaunchKernel", "uyyybbbfsqQeef"),
    ("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", "Ouiz"), ("hipModuleOccupancyMaxPotentialBlockSize", "OOuzi"),
    ("hipStreamCreate", "S"), ("hipStreamCreateWithFlags", "Sf"), ("hipStreamCreateWithPriority", "Sfi"), ("hipStreamDestroy", "s"),
    ("hipStreamSynchronize", "s"), ("hipStreamQuery", "s"), ("hipStreamWaitEvent", "sef"), ("hipStreamGetFlags", "sO"),
    ("hipStreamGetPriority", "sO"), ("hipStreamGetDevice", "sO"), ("hipStreamGetId", "sO"), ("hipStreamSetAttribute", "siO"),
    ("hipStreamBeginCapture", "si"), ("hipStreamBeginCaptureToGraph", "sgaawi"), ("hipStreamEndCapture", "sG"),
    ("hipStreamIsCapturing", "sO"), ("hipStreamGetCaptureInfo", "sOO"), ("hipStreamGetCaptureInfo_v2", "sOOOOO"),
    ("hipStreamUpdateCaptureDependencies", "sawi"), ("hipThreadExchangeStreamCaptureMode", "O"), ("hipStreamWriteValue32", "spif"),
    ("hipStreamWriteValue64", "spif"), ("hipStreamWaitValue32", "sp00i"), ("hipStreamWaitValue64", "sp00i"),
    ("hipLaunchHostFunc", "scp"), ("hipStreamAddCallback", "stpf"), ("hipExtStreamCreateWithCUMask", "Siv"),
    ("hipEventCreate", "E"), ("hipEventCreateWithFlags", "Ef"), ("hipEventDestroy", "e"), ("hipEventRecord", "es"),
    ("hipEventRecordWithFlags", "esf"), ("hipEventSynchronize", "e"), ("hipEventQuery", "e"), ("hipEventElapsedTime", "Oee"),
    ("hipGraphCreate", "Gf"), ("hipGraphDestroy", "g"), ("hipGraphClone", "Gg"), ("hipGraphDestroyNode", "n"),
    ("hipGraphAddEmptyNode", "Ngaw"), ("hipGraphAddMemcpyNode1D", "Ngawppzk"), ("hipGraphAddMemsetNode", "Ngawr"),
    ("hipGraphAddMemcpyNode", "Ngaw3"), ("hipGraphAddChildGraphNode", "Ngawg"), ("hipGraphAddEventRecordNode", "Ngawe"),
    ("hipGraphAddEventWaitNode", "Ngawe"), ("hipGraphAddDependencies", "gaaw"), ("hipGraphRemoveDependencies", "gaaw"),
    ("hipGraphGetNodes", "gOO"), ("hipGraphGetRootNodes", "gOO"), ("hipGraphGetEdges", "gOOO"), ("hipGraphNodeGetDependencies", "nOO"),
    ("hipGraphNodeGetDependentNodes", "nOO"), ("hipGraphNodeGetType", "nO"), ("hipGraphInstantiate", "Xgvvi"),
    ("hipGraphInstantiateWithFlags", "Xgf"), ("hipGraphLaunch", "xs"), ("hipGraphUpload", "xs"), ("hipGraphExecDestroy", "x"),
    ("hipGraphMemsetNodeSetParams", "nr"), ("hipGraphExecMemsetNodeSetParams", "xjr"), ("hipGraphMemcpyNodeSetParams1D", "nppzk"),
    ("hipGraphExecMemcpyNodeSetParams1D", "xjppzk"), ("hipGraphMemcpyNodeSetParams", "n3"), ("hipGraphExecMemcpyNodeSetParams", "xj3"),
    ("hipGraphExecUpdate", "xgOO"), ("hipGraphNodeSetEnabled", "xjf"), ("hipGraphNodeGetEnabled", "xjO"), ("hipGraphExecGetFlags", "xO"),
    ("hipGraphAddKernelNode", "Ngaw4"), ("hipGraphKernelNodeSetParams", "n4"), ("hipGraphExecKernelNodeSetParams", "xj4"),
    ("hipGraphAddHostNode", "Ngaw6"), ("hipGraphHostNodeSetParams", "n6"), ("hipGraphKernelNodeGetParams", "nO"), ("hipGraphMemsetNodeGetParams", "nO"), ("hipGraphHostNodeGetParams", "nO"),
    ("hipGraphChildGraphNodeGetGraph", "nO"), ("hipGraphEventRecordNodeGetEvent", "nO"), ("hipGraphEventRecordNodeSetEvent", "ne"),
    ("hipMemPoolCreate", "L5"), ("hipMemPoolDestroy", "l"), ("hipDeviceGetMemPool", "Ld"), ("hipDeviceGetDefaultMemPool", "Ld"),
    ("hipDeviceSetMemPool", "dl"), ("hipMemPoolTrimTo", "lz"), ("hipMemPoolGetAttribute", "liO"), ("hipMemPoolSetAttribute", "liO"),
    ("hipSetDevice", "d"), ("hipGetDevice", "O"), ("hipGetDeviceCount", "O"), ("hipGetDevicePropertiesR0600", "Od"), ("hipDeviceGet", "Od"),
    ("hipDeviceGetAttribute", "Oid"), ("hipDeviceTotalMem", "Od"), ("hipDeviceGetUuid", "Od"), ("hipDeviceGetByPCIBusId", "Oh"),
    ("hipDeviceComputeCapability", "OOd"), ("hipDeviceGetLimit", "Oi"), ("hipDeviceSetLimit", "iz"), ("hipDeviceCanAccessPeer", "Odd"),
    ("hipDeviceEnablePeerAccess", "df"), ("hipDeviceDisablePeerAccess", "d"), ("hipDeviceGetP2PAttribute", "Oidd"),
    ("hipDeviceSynchronize", ""), ("hipGetLastError", ""), ("hipPeekAtLastError", ""), ("hipGetProcAddress", "hO9fO"),
    ("hipDrvGetErrorName", "iO"), ("hipDrvGetErrorString", "iO"), ("hipCtxCreate", "Ofd"), ("hipCtxGetCurrent", "O"),
    ("hipCtxSetCurrent", "o"), ("hipCtxPushCurrent", "o"), ("hipCtxPopCurrent", "O"), ("hipDevicePrimaryCtxRetain", "Od"),
];

/// Functions that may succeed with invalid arguments: they ignore a stream that does not exist, or a pointer if the size is 0.
pub const LENIENT: &[&str] = &["hipFuncSetAttribute"];

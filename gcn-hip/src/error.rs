//! HIP's error codes (`hipError_t` in `hip_runtime_api.h`) with their names and descriptions.

macro_rules! errors {
    ($($variant:ident = $code:literal, $name:literal, $text:literal;)*) => {
        /// The error of a HIP function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        #[allow(dead_code, reason = "the list is HIP's; some codes never occur here")]
        pub(crate) enum Error {
            $($variant = $code,)*
        }

        /// Code, name and description, with the terminating zeros that C expects.
        const TABLE: &[(u32, &str, &str)] =
            &[(0, "hipSuccess\0", "no error\0"), $(($code, concat!($name, "\0"), concat!($text, "\0")),)*];
    };
}

errors! {
    InvalidValue = 1, "hipErrorInvalidValue", "invalid argument";
    OutOfMemory = 2, "hipErrorOutOfMemory", "out of memory";
    NotInitialized = 3, "hipErrorNotInitialized", "initialization error";
    Deinitialized = 4, "hipErrorDeinitialized", "driver shutting down";
    ProfilerDisabled = 5, "hipErrorProfilerDisabled", "profiler disabled while using external profiling tool";
    ProfilerNotInitialized = 6, "hipErrorProfilerNotInitialized", "profiler is not initialized";
    ProfilerAlreadyStarted = 7, "hipErrorProfilerAlreadyStarted", "profiler already started";
    ProfilerAlreadyStopped = 8, "hipErrorProfilerAlreadyStopped", "profiler already stopped";
    InvalidConfiguration = 9, "hipErrorInvalidConfiguration", "invalid configuration argument";
    InvalidPitchValue = 12, "hipErrorInvalidPitchValue", "invalid pitch argument";
    InvalidSymbol = 13, "hipErrorInvalidSymbol", "invalid device symbol";
    InvalidDevicePointer = 17, "hipErrorInvalidDevicePointer", "invalid device pointer";
    InvalidMemcpyDirection = 21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy";
    InsufficientDriver = 35, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version";
    MissingConfiguration = 52, "hipErrorMissingConfiguration", "__global__ function call is not configured";
    PriorLaunchFailure = 53, "hipErrorPriorLaunchFailure", "unspecified launch failure in prior launch";
    InvalidDeviceFunction = 98, "hipErrorInvalidDeviceFunction", "invalid device function";
    NoDevice = 100, "hipErrorNoDevice", "no ROCm-capable device is detected";
    InvalidDevice = 101, "hipErrorInvalidDevice", "invalid device ordinal";
    InvalidImage = 200, "hipErrorInvalidImage", "device kernel image is invalid";
    InvalidContext = 201, "hipErrorInvalidContext", "invalid device context";
    ContextAlreadyCurrent = 202, "hipErrorContextAlreadyCurrent", "context is already current context";
    MapFailed = 205, "hipErrorMapFailed", "mapping of buffer object failed";
    UnmapFailed = 206, "hipErrorUnmapFailed", "unmapping of buffer object failed";
    ArrayIsMapped = 207, "hipErrorArrayIsMapped", "array is mapped";
    AlreadyMapped = 208, "hipErrorAlreadyMapped", "resource already mapped";
    NoBinaryForGpu = 209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device";
    AlreadyAcquired = 210, "hipErrorAlreadyAcquired", "resource already acquired";
    NotMapped = 211, "hipErrorNotMapped", "resource not mapped";
    NotMappedAsArray = 212, "hipErrorNotMappedAsArray", "resource not mapped as array";
    NotMappedAsPointer = 213, "hipErrorNotMappedAsPointer", "resource not mapped as pointer";
    ECCNotCorrectable = 214, "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered";
    UnsupportedLimit = 215, "hipErrorUnsupportedLimit", "limit is not supported on this architecture";
    ContextAlreadyInUse = 216, "hipErrorContextAlreadyInUse", "exclusive-thread device already in use by a different thread";
    PeerAccessUnsupported = 217, "hipErrorPeerAccessUnsupported", "peer access is not supported between these two devices";
    InvalidKernelFile = 218, "hipErrorInvalidKernelFile", "invalid kernel file";
    InvalidGraphicsContext = 219, "hipErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context";
    InvalidSource = 300, "hipErrorInvalidSource", "device kernel image is invalid";
    FileNotFound = 301, "hipErrorFileNotFound", "file not found";
    SharedObjectSymbolNotFound = 302, "hipErrorSharedObjectSymbolNotFound", "shared object symbol not found";
    SharedObjectInitFailed = 303, "hipErrorSharedObjectInitFailed", "shared object initialization failed";
    OperatingSystem = 304, "hipErrorOperatingSystem", "OS call failed or operation not supported on this OS";
    InvalidHandle = 400, "hipErrorInvalidHandle", "invalid resource handle";
    IllegalState = 401, "hipErrorIllegalState", "the operation cannot be performed in the present state";
    NotFound = 500, "hipErrorNotFound", "named symbol not found";
    NotReady = 600, "hipErrorNotReady", "device not ready";
    IllegalAddress = 700, "hipErrorIllegalAddress", "an illegal memory access was encountered";
    LaunchOutOfResources = 701, "hipErrorLaunchOutOfResources", "too many resources requested for launch";
    LaunchTimeOut = 702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated";
    PeerAccessAlreadyEnabled = 704, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled";
    PeerAccessNotEnabled = 705, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled";
    SetOnActiveProcess = 708, "hipErrorSetOnActiveProcess", "cannot set while device is active in this process";
    ContextIsDestroyed = 709, "hipErrorContextIsDestroyed", "context is destroyed";
    Assert = 710, "hipErrorAssert", "device-side assert triggered";
    HostMemoryAlreadyRegistered = 712, "hipErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped";
    HostMemoryNotRegistered = 713, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region";
    LaunchFailure = 719, "hipErrorLaunchFailure", "unspecified launch failure";
    CooperativeLaunchTooLarge = 720, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch";
    NotSupported = 801, "hipErrorNotSupported", "operation not supported";
    StreamCaptureUnsupported = 900, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing";
    StreamCaptureInvalidated = 901, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture";
    StreamCaptureMerge = 902, "hipErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences";
    StreamCaptureUnmatched = 903, "hipErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began";
    StreamCaptureUnjoined = 904, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work";
    StreamCaptureIsolation = 905, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream";
    StreamCaptureImplicit = 906, "hipErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream";
    CapturedEvent = 907, "hipErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream";
    StreamCaptureWrongThread = 908, "hipErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread";
    GraphExecUpdateFailure = 910, "hipErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    InvalidChannelDescriptor = 911, "hipErrorInvalidChannelDescriptor", "invalid channel descriptor";
    InvalidTexture = 912, "hipErrorInvalidTexture", "invalid texture";
    Unknown = 999, "hipErrorUnknown", "unknown error";
    RuntimeMemory = 1052, "hipErrorRuntimeMemory", "runtime memory call returned error";
    RuntimeOther = 1053, "hipErrorRuntimeOther", "runtime call other than memory returned error";
}

/// The result of a HIP function.
pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// The name of a code, terminated by a zero.
pub(crate) fn name(code: u32) -> &'static str {
    row(code).map_or("hipErrorUnknown\0", |row| row.1)
}

/// The description of a code, terminated by a zero.
pub(crate) fn text(code: u32) -> &'static str {
    row(code).map_or("unknown error\0", |row| row.2)
}

/// True if HIP defines an error with this code.
pub(crate) fn is_known(code: u32) -> bool {
    row(code).is_some()
}

fn row(code: u32) -> Option<&'static (u32, &'static str, &'static str)> {
    TABLE.iter().find(|row| row.0 == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_texts() {
        assert_eq!((name(0), text(0)), ("hipSuccess\0", "no error\0"));
        assert_eq!((name(Error::OutOfMemory as u32), text(2)), ("hipErrorOutOfMemory\0", "out of memory\0"));
        assert_eq!((name(12345), is_known(12345), is_known(700)), ("hipErrorUnknown\0", false, true));
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    }
}

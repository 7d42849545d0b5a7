// What a device says of itself: properties, attributes, limits, names.
#include "check.h"

int main() {
    int count = 0, version = 0, current = -1;
    OK(hipInit(0));
    OK(hipGetDeviceCount(&count));
    OK(hipRuntimeGetVersion(&version));
    EXPECT(count >= 1 && version >= 50000000);
    OK(hipDriverGetVersion(&version));
    OK(hipGetDevice(&current));
    EXPECT(current == 0);
    hipDeviceProp_t p;
    OK(hipGetDeviceProperties(&p, 0));
    // A Radeon counts workgroup processors, and RDNA 1 has room for 20 waves in a SIMD.
    bool radeon = p.major > 9;
    EXPECT(p.warpSize == (radeon ? 32 : 64) && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536 && p.major >= 9);
    EXPECT(strstr(p.gcnArchName, radeon ? "gfx1" : "gfx9") == p.gcnArchName && strlen(p.name) > 0);
    EXPECT(p.multiProcessorCount > (radeon ? 15 : 50) && p.totalGlobalMem > 1 << 28 && p.clockRate > 100000 && p.memoryClockRate > 100000);
    EXPECT(p.regsPerBlock >= 65536 && p.maxThreadsDim[0] == 1024 && p.maxGridSize[0] == 2147483647 && p.l2CacheSize > 0);
    EXPECT(p.maxThreadsPerMultiProcessor == (p.major == 10 && p.minor == 1 ? 2560 : 2048) && p.memoryBusWidth >= (radeon ? 256 : 1024) && p.concurrentKernels && p.unifiedAddressing);
    EXPECT(p.canMapHostMemory && p.managedMemory && p.cooperativeLaunch && p.totalConstMem >= 65536 && !p.integrated);
    EXPECT(p.maxSharedMemoryPerMultiProcessor >= 65536 && p.arch.hasGlobalInt32Atomics && p.arch.hasDoubles && p.arch.hasWarpBallot);
    struct {
        hipDeviceAttribute_t attribute;
        long long value;
    } same[] = {
        {hipDeviceAttributeMaxThreadsPerBlock, p.maxThreadsPerBlock}, {hipDeviceAttributeWarpSize, p.warpSize},
        {hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount}, {hipDeviceAttributeMaxBlockDimX, p.maxThreadsDim[0]},
        {hipDeviceAttributeMaxBlockDimZ, p.maxThreadsDim[2]}, {hipDeviceAttributeMaxGridDimX, p.maxGridSize[0]},
        {hipDeviceAttributeMaxGridDimY, p.maxGridSize[1]}, {hipDeviceAttributeClockRate, p.clockRate},
        {hipDeviceAttributeMemoryClockRate, p.memoryClockRate}, {hipDeviceAttributeMemoryBusWidth, p.memoryBusWidth},
        {hipDeviceAttributeL2CacheSize, p.l2CacheSize}, {hipDeviceAttributeMaxSharedMemoryPerBlock, (long long)p.sharedMemPerBlock},
        {hipDeviceAttributeMaxRegistersPerBlock, p.regsPerBlock}, {hipDeviceAttributeConcurrentKernels, p.concurrentKernels},
        {hipDeviceAttributeComputeCapabilityMajor, p.major}, {hipDeviceAttributeComputeCapabilityMinor, p.minor},
        {hipDeviceAttributeMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {hipDeviceAttributePciBusId, p.pciBusID}, {hipDeviceAttributeManagedMemory, p.managedMemory},
        {hipDeviceAttributeCooperativeLaunch, p.cooperativeLaunch}, {hipDeviceAttributeIntegrated, p.integrated},
        {hipDeviceAttributeEccEnabled, p.ECCEnabled}, {hipDeviceAttributeTexturePitchAlignment, (long long)p.texturePitchAlignment},
    };
    for (auto &s : same) {
        int value = -1;
        OK(hipDeviceGetAttribute(&value, s.attribute, 0));
        if (value != s.value)
            return printf("attribute %d: %d, not %lld\n", s.attribute, value, s.value), 1;
    }
    // All that there are have an answer, if only that there is no such thing.
    int answered = 0;
    for (int a = hipDeviceAttributeCudaCompatibleBegin; a < hipDeviceAttributeCudaCompatibleEnd; a++) {
        int value = -77;
        hipError_t code = hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)a, 0);
        EXPECT(code == hipSuccess ? value != -77 : code == hipErrorInvalidValue || code == hipErrorNotSupported);
        answered += code == hipSuccess;
    }
    printf("%d attributes\n", answered);
    int value;
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWallClockRate, 0));
    EXPECT(value == 100000 || value == 25000);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributePhysicalMultiProcessorCount, 0));
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeFineGrainSupport, 0));
    char name[256], bus[64];
    hipDevice_t device;
    OK(hipDeviceGet(&device, 0));
    OK(hipDeviceGetName(name, sizeof name, device));
    EXPECT(!strcmp(name, p.name));
    OK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
    int found = -1;
    OK(hipDeviceGetByPCIBusId(&found, bus));
    EXPECT(found == 0);
    hipUUID uuid;
    OK(hipDeviceGetUuid(&uuid, device));
    size_t total, free, all, limit;
    OK(hipDeviceTotalMem(&total, device));
    OK(hipMemGetInfo(&free, &all));
    EXPECT(total == p.totalGlobalMem && all == total && free <= total);
    OK(hipDeviceGetLimit(&limit, hipLimitStackSize));
    EXPECT(limit >= 1024);
    OK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
    EXPECT(limit > 0);
    OK(hipDeviceSetLimit(hipLimitMallocHeapSize, 64 << 20));
    OK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
    EXPECT(limit == 64 << 20);
    OK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    unsigned flags;
    OK(hipGetDeviceFlags(&flags));
    OK(hipDeviceSetCacheConfig(hipFuncCachePreferShared));
    hipFuncCache_t config;
    OK(hipDeviceGetCacheConfig(&config));
    hipSharedMemConfig banks;
    OK(hipDeviceGetSharedMemConfig(&banks));
    int chosen = -1;
    OK(hipChooseDeviceR0600(&chosen, &p));
    EXPECT(chosen == 0);
    GIVES(hipErrorInvalidDevice, hipSetDevice(count));
    GIVES(hipErrorInvalidDevice, hipGetDeviceProperties(&p, 99));
    EXPECT(hipGetLastError() == hipErrorInvalidDevice && hipGetLastError() == hipSuccess);
    EXPECT(!strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") && strlen(hipGetErrorString(hipErrorInvalidValue)));
    printf("PASS\n");
}

// Memory in the order of streams.
#include "check.h"

__global__ void fill(int *at, int value) { at[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
    int supported = 0;
    OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
    EXPECT(supported);
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    int *at, host[64];
    for (int round = 0; round < 5; round++) {
        OK(hipMallocAsync((void **)&at, 4096, stream));
        fill<<<16, 64, 0, stream>>>(at, round);
        OK(hipMemcpyAsync(host, at, sizeof host, hipMemcpyDeviceToHost, stream));
        OK(hipFreeAsync(at, stream));
        OK(hipStreamSynchronize(stream));
        EXPECT(host[9] == round);
    }
    hipMemPoolProps properties = {};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location = {hipMemLocationTypeDevice, 0};
    hipMemPool_t pool, usual;
    OK(hipMemPoolCreate(&pool, &properties));
    uint64_t threshold = 1 << 20, read = 0, used = 0;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &read));
    EXPECT(read == threshold);
    OK(hipMallocFromPoolAsync((void **)&at, 1000, pool, stream));
    OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used >= 1000);
    OK(hipFreeAsync(at, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
    OK(hipMemPoolTrimTo(pool, 0));
    hipMemAccessDesc access = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
    OK(hipMemPoolSetAccess(pool, &access, 1));
    OK(hipDeviceGetDefaultMemPool(&usual, 0));
    OK(hipDeviceSetMemPool(0, pool));
    hipMemPool_t current;
    OK(hipDeviceGetMemPool(&current, 0));
    EXPECT(current == pool);
    OK(hipDeviceSetMemPool(0, usual));
    OK(hipMemPoolDestroy(pool));
    printf("PASS\n");
}

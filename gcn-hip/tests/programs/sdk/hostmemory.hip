// Memory of the host that kernels use, managed memory, and what pointers are.
#include "check.h"

__global__ void twice(int *at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        at[i] *= 2;
}

static void is(void *at, hipMemoryType type, bool managed) {
    hipPointerAttribute_t a;
    OK(hipPointerGetAttributes(&a, at));
    EXPECT(a.type == type && a.device == 0 && a.isManaged == managed);
}

int main() {
    const int n = 1000;
    int *pinned, *seen, *managed, *on_device, *registered = (int *)aligned_alloc(4096, 8192);
    OK(hipHostMalloc((void **)&pinned, n * 4, hipHostMallocMapped | hipHostMallocPortable | hipHostMallocCoherent));
    OK(hipHostGetDevicePointer((void **)&seen, pinned, 0));
    unsigned flags;
    OK(hipHostGetFlags(&flags, pinned));
    EXPECT(flags & hipHostMallocMapped);
    for (int i = 0; i < n; i++)
        pinned[i] = registered[i] = i;
    twice<<<4, 256>>>(seen, n);
    OK(hipDeviceSynchronize());
    EXPECT(pinned[n - 1] == 2 * (n - 1));
    OK(hipHostRegister(registered, 8192, hipHostRegisterMapped));
    GIVES(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(registered, 8192, hipHostRegisterDefault));
    OK(hipHostGetDevicePointer((void **)&seen, registered, 0));
    twice<<<4, 256>>>(seen, n);
    OK(hipDeviceSynchronize());
    EXPECT(registered[n - 1] == 2 * (n - 1));
    is(pinned, hipMemoryTypeHost, false);
    is(registered, hipMemoryTypeHost, false);
    OK(hipHostUnregister(registered));
    GIVES(hipErrorHostMemoryNotRegistered, hipHostUnregister(registered));
    OK(hipMallocManaged((void **)&managed, n * 4));
    OK(hipMemAdvise(managed, n * 4, hipMemAdviseSetPreferredLocation, 0));
    for (int i = 0; i < n; i++)
        managed[i] = i + 1;
    OK(hipMemPrefetchAsync(managed, n * 4, 0, 0));
    twice<<<4, 256>>>(managed, n);
    OK(hipMemPrefetchAsync(managed, n * 4, hipCpuDeviceId, 0));
    OK(hipDeviceSynchronize());
    EXPECT(managed[n - 1] == 2 * n);
    is(managed, hipMemoryTypeManaged, true);
    OK(hipMalloc(&on_device, n * 4));
    is(on_device + 7, hipMemoryTypeDevice, false);
    hipPointerAttribute_t attributes;
    int local;
    hipError_t code = hipPointerGetAttributes(&attributes, &local);
    EXPECT(code == hipErrorInvalidValue || attributes.type == hipMemoryTypeUnregistered);
    hipDeviceptr_t base;
    size_t size;
    OK(hipMemGetAddressRange(&base, &size, on_device + 7));
    EXPECT(base == on_device && size == n * 4);
    int advice = 0;
    OK(hipMemRangeGetAttribute(&advice, sizeof advice, hipMemRangeAttributePreferredLocation, managed, n * 4));
    EXPECT(advice == 0);
    // The direction by what the pointers are.
    OK(hipMemcpy(on_device, managed, n * 4, hipMemcpyDefault));
    OK(hipMemcpy(pinned, on_device, n * 4, hipMemcpyDefault));
    EXPECT(pinned[3] == 8);
    OK(hipMemcpyHtoD(on_device, registered, 16));
    OK(hipMemcpyDtoD(on_device + 4, on_device, 16));
    OK(hipMemcpyDtoH(pinned, on_device, 32));
    EXPECT(pinned[7] == 6);
    OK(hipMemsetD32(on_device, 0x01020304, 8));
    OK(hipMemsetD16(on_device, 0x0506, 2));
    OK(hipMemsetD8(on_device + 7, 9, 1));
    auto v = download(on_device, 8);
    EXPECT(v[0] == 0x05060506 && v[1] == 0x01020304 && v[7] == 0x01020309);
    OK(hipHostFree(pinned));
    OK(hipFree(managed));
    OK(hipFree(on_device));
    GIVES(hipErrorInvalidValue, hipFree(on_device));
    OK(hipFree(nullptr));
    free(registered);
    printf("PASS\n");
}

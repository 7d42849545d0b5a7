// What these devices or this library lack is refused: programs ask, and do without.
#include "check.h"

int main() {
    hipArray_t array;
    hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
    GIVES(hipErrorNotSupported, hipMallocArray(&array, &format, 16, 16, 0));
    hipTextureObject_t texture;
    hipResourceDesc resource = {};
    hipTextureDesc description = {};
    GIVES(hipErrorNotSupported, hipCreateTextureObject(&texture, &resource, &description, nullptr));
    int *at = device<int>(4), value = 1;
    hipIpcMemHandle_t handle;
    GIVES(hipErrorNotSupported, hipIpcGetMemHandle(&handle, at));
    hipMemGenericAllocationHandle_t generic;
    hipMemAllocationProp properties = {};
    GIVES(hipErrorNotSupported, hipMemCreate(&generic, 4096, &properties, 0));
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
    EXPECT(value == 0);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeImageSupport, 0));
    EXPECT(value == 0);
    // None of this harms the device.
    OK(hipMemset(at, 0, 16));
    OK(hipDeviceSynchronize());
    printf("PASS\n");
}

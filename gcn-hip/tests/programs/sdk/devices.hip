// Several devices, as many as there are.
#include "check.h"

__global__ void add(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }

int main() {
    int count;
    OK(hipGetDeviceCount(&count));
    printf("%d devices\n", count);
    std::vector<int *> at(count);
    for (int d = 0; d < count; d++) {
        OK(hipSetDevice(d));
        at[d] = upload(std::vector<int>(64, d + 1));
        for (int peer = 0; peer < count; peer++) {
            int can = -1;
            OK(hipDeviceCanAccessPeer(&can, d, peer));
            EXPECT(can == (d != peer));
            if (can)
                OK(hipDeviceEnablePeerAccess(peer, 0));
        }
    }
    // Kernels on each device read the next one's memory.
    for (int d = 0; d < count; d++) {
        OK(hipSetDevice(d));
        add<<<1, 64>>>(at[d], at[(d + 1) % count]);
        OK(hipGetLastError());
        OK(hipDeviceSynchronize());
    }
    int expected = count == 1 ? 2 : 1 + 2;
    EXPECT(download(at[0], 64)[63] == expected);
    hipStream_t stream;
    OK(hipSetDevice(count - 1));
    OK(hipStreamCreate(&stream));
    hipDevice_t of;
    OK(hipStreamGetDevice(stream, &of));
    EXPECT(of == count - 1);
    OK(hipMemcpyPeerAsync(at[count - 1], count - 1, at[0], 0, 256, stream));
    OK(hipStreamSynchronize(stream));
    EXPECT(download(at[count - 1], 64)[0] == expected);
    hipPointerAttribute_t attributes;
    OK(hipPointerGetAttributes(&attributes, at[count - 1]));
    EXPECT(attributes.device == count - 1);
    OK(hipDeviceReset());
    printf("PASS\n");
}

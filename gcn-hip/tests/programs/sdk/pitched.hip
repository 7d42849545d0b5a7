// Memory of two and three dimensions.
#include "check.h"

__global__ void twice(char *at, size_t pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        ((float *)(at + y * pitch))[x] *= 2;
}

__global__ void mark(hipPitchedPtr p, hipExtent e) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    ((int *)((char *)p.ptr + z * p.pitch * e.height + y * p.pitch))[x] += x + 10 * y + 100 * z;
}

int main() {
    const int width = 37, height = 19;
    std::vector<float> a(width * height), b(width * height);
    for (int i = 0; i < width * height; i++)
        a[i] = i;
    char *at;
    size_t pitch;
    OK(hipMallocPitch((void **)&at, &pitch, width * 4, height));
    EXPECT(pitch >= width * 4 && pitch % 128 == 0);
    OK(hipMemcpy2D(at, pitch, a.data(), width * 4, width * 4, height, hipMemcpyHostToDevice));
    twice<<<dim3(3, 3), dim3(16, 8)>>>(at, pitch, width, height);
    OK(hipMemcpy2DAsync(b.data(), width * 4, at, pitch, width * 4, height, hipMemcpyDeviceToHost, 0));
    OK(hipStreamSynchronize(0));
    for (int i = 0; i < width * height; i++)
        EXPECT(b[i] == 2 * a[i]);
    OK(hipMemset2D(at, pitch, 0, 4, height));
    OK(hipMemcpy2D(b.data(), width * 4, at, pitch, width * 4, height, hipMemcpyDeviceToHost));
    EXPECT(b[width] == 0 && b[width + 1] == 2 * a[width + 1]);

    hipExtent extent = make_hipExtent(5 * 4, 4, 3);
    hipPitchedPtr box;
    OK(hipMalloc3D(&box, extent));
    OK(hipMemset3D(box, 1, extent));
    mark<<<1, dim3(5, 4, 3)>>>(box, extent);
    int out[3][4][5];
    hipMemcpy3DParms parameters = {};
    parameters.srcPtr = box;
    parameters.dstPtr = make_hipPitchedPtr(out, 5 * 4, 5, 4);
    parameters.extent = extent;
    parameters.kind = hipMemcpyDeviceToHost;
    OK(hipMemcpy3D(&parameters));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                EXPECT(out[z][y][x] == 0x01010101 + x + 10 * y + 100 * z);
    // Part of it, from a place inside.
    int part[2][2][2];
    parameters = {};
    parameters.srcPtr = box;
    parameters.srcPos = make_hipPos(4, 1, 1);
    parameters.dstPtr = make_hipPitchedPtr(part, 8, 2, 2);
    parameters.extent = make_hipExtent(8, 2, 2);
    parameters.kind = hipMemcpyDeviceToHost;
    OK(hipMemcpy3DAsync(&parameters, 0));
    OK(hipDeviceSynchronize());
    EXPECT(part[0][0][0] == out[1][1][1] && part[1][1][1] == out[2][2][2]);
    OK(hipFree(box.ptr));
    OK(hipFree(at));
    printf("PASS\n");
}

/* The README's launch from C and C++: SNIPPET is the text there. */
#include "module.h"

int main(void) {
    enum { n = 1000 };
    static float host[n];
    float *x, *y;
    hipStream_t stream;
    hipStreamCreate(&stream);
    hipMalloc((void **)&x, sizeof host);
    hipMalloc((void **)&y, sizeof host);
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice);
    for (int i = 0; i < n; i++)
        host[i] = 1;
    hipMemcpy(y, host, sizeof host, hipMemcpyHostToDevice);

#include SNIPPET

    hipStreamSynchronize(stream);
    hipMemcpy(host, y, sizeof host, hipMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (host[i] != 3.0f * (float)i + 1) {
            printf("y[%d] is %f\n", i, (double)host[i]);
            return 1;
        }
    printf("%s\n", hipGetErrorName(hipGetLastError()));
    return 0;
}

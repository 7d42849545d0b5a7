// Calls that the compiler cannot resolve: virtual functions, pointers to functions, recursion, large arguments.
#include "check.h"

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ Circle(float radius) : radius(radius) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void areas(float *out) {
    alignas(8) char room[2][sizeof(Circle)];
    Shape *shapes[] = {new (room[0]) Square(threadIdx.x), new (room[1]) Circle(threadIdx.x)};
    // Lanes of one wave call different functions.
    out[threadIdx.x] = shapes[threadIdx.x % 3 == 0]->area();
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[] = {plus, times, minus};
__device__ Operation chosen = times;

__global__ void operate(int *out, Operation given) {
    int i = threadIdx.x;
    out[i] = operations[i % 3](i, 5) + 1000 * given(i, 2);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recurse(int *out) {
    out[threadIdx.x] = fibonacci(threadIdx.x % 12) + 1000 * ackermann(2, threadIdx.x % 4);
}

struct Large {
    int values[900];
};
__global__ void pick(Large large, int *out) { out[threadIdx.x] = large.values[threadIdx.x * 7]; }

template <typename F> __global__ void apply(int *out, F f) { out[threadIdx.x] = f(threadIdx.x); }

int main() {
    auto out = device<int>(64);
    auto area = device<float>(64);
    areas<<<1, 64>>>(area);
    auto a = download(area, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(a[i] == (i % 3 == 0 ? 3.0f * i * i : i * i));
    Operation given;
    OK(hipMemcpyFromSymbol(&given, HIP_SYMBOL(chosen), sizeof given));
    operate<<<1, 64>>>(out, given);
    auto v = download(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(v[i] == (i % 3 == 0 ? i + 5 : i % 3 == 1 ? i * 5 : i - 5) + 2000 * i);
    recurse<<<1, 64>>>(out);
    OK(hipDeviceSynchronize());
    v = download(out, 64);
    int f[12] = {0, 1};
    for (int i = 2; i < 12; i++)
        f[i] = f[i - 1] + f[i - 2];
    for (int i = 0; i < 64; i++)
        EXPECT(v[i] == f[i % 12] + 1000 * (2 * (i % 4) + 3));
    Large large;
    for (int i = 0; i < 900; i++)
        large.values[i] = i * i;
    pick<<<1, 64>>>(large, out);
    v = download(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(v[i] == 49 * i * i);
    int captured = 11;
    apply<<<1, 64>>>(out, [=] __device__(int i) { return captured + i; });
    v = download(out, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(v[i] == 11 + i);
    printf("PASS\n");
}

// What the programs in this folder share. Each checks itself and prints PASS at its end.
#pragma once
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(call)                                                                                       \
    do {                                                                                               \
        hipError_t code = (call);                                                                      \
        if (code != hipSuccess) {                                                                      \
            printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, hipGetErrorName(code));           \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

#define GIVES(expected, call)                                                                          \
    do {                                                                                               \
        hipError_t code = (call);                                                                      \
        if (code != (expected)) {                                                                      \
            printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, hipGetErrorName(code));           \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                              \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                             \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

template <typename T> T *device(size_t count) {
    T *at;
    OK(hipMalloc(&at, count * sizeof(T)));
    OK(hipMemset(at, 0, count * sizeof(T)));
    return at;
}

template <typename T> T *upload(const std::vector<T> &from) {
    T *at = device<T>(from.size());
    OK(hipMemcpy(at, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice));
    return at;
}

template <typename T> std::vector<T> download(const T *at, size_t count) {
    std::vector<T> out(count);
    OK(hipMemcpy(out.data(), at, count * sizeof(T), hipMemcpyDeviceToHost));
    return out;
}

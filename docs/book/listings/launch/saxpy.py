# ANCHOR: host
import array
import ctypes

hip = ctypes.CDLL("libamdhip64.so")


def check(code):
    if code != 0:
        hip.hipGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(hip.hipGetErrorString(code).decode())


def to_device(data):
    pointer, size = ctypes.c_void_p(), len(data) * data.itemsize
    check(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)))
    check(hip.hipMemcpy(pointer, ctypes.c_void_p(data.buffer_info()[0]), ctypes.c_size_t(size), 1))
    return pointer


class Arguments(ctypes.Structure):
    _fields_ = [
        ("a", ctypes.c_float),
        ("x", ctypes.c_void_p),
        ("x_len", ctypes.c_uint32),
        ("y", ctypes.c_void_p),
        ("y_len", ctypes.c_uint32),
    ]


n = 1000
x, y = array.array("f", [1.0] * n), array.array("f", [2.0] * n)
dx, dy = to_device(x), to_device(y)

module, saxpy = ctypes.c_void_p(), ctypes.c_void_p()
check(hip.hipModuleLoad(ctypes.byref(module), b"saxpy.hsaco"))
check(hip.hipModuleGetFunction(ctypes.byref(saxpy), module, b"saxpy"))

arguments = Arguments(3.0, dx, n, dy, n)
size = ctypes.c_size_t(ctypes.sizeof(arguments))
config = (ctypes.c_void_p * 5)(
    1,  # HIP_LAUNCH_PARAM_BUFFER_POINTER
    ctypes.addressof(arguments),
    2,  # HIP_LAUNCH_PARAM_BUFFER_SIZE
    ctypes.addressof(size),
    3,  # HIP_LAUNCH_PARAM_END
)
check(hip.hipModuleLaunchKernel(saxpy, (n + 255) // 256, 1, 1, 256, 1, 1, 0, None, None, config))
check(hip.hipMemcpy(ctypes.c_void_p(y.buffer_info()[0]), dy, ctypes.c_size_t(4 * n), 2))
print("right" if all(value == 5.0 for value in y) else "wrong")
# ANCHOR_END: host

"""Kernels of Triton through its own driver and launcher, each beside NumPy."""

import numpy as np
import pytest
import triton
import triton.language as tl

import gcn_tools as gcn
from gcn_tools.triton import Array, synchronize


@pytest.fixture
def random():
    return np.random.default_rng(1)


def close(result, expected, bound):
    """Within `bound` of the largest expected value."""
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound * np.abs(expected).max())


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


def test_vector_add(random):
    x, y = random.random((2, 1000), np.float32)
    out = Array(np.full(1024, 7, np.float32))
    add_kernel[(4,)](Array(x), Array(y), out, 1000, BLOCK=256)
    np.testing.assert_array_equal(out.numpy()[:1000], x + y)
    np.testing.assert_array_equal(out.numpy()[1000:], 7)


@triton.jit
def softmax_kernel(x, out, columns, stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + column, column < columns, float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * stride + column, power / tl.sum(power, 0), column < columns)


def test_softmax(random):
    x = random.normal(size=(7, 300)).astype(np.float32)
    out = Array.zeros(x.shape, np.float32)
    softmax_kernel[(7,)](Array(x), out, 300, 300, BLOCK=512)
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    close(out.numpy(), power / power.sum(1, keepdims=True), 1e-6)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), ACC)
    for start in range(0, K, BK):
        inside = start + k < K
        left = tl.load(a + m[:, None] * K + (start + k)[None, :], (m[:, None] < M) & inside[None, :], 0)
        right = tl.load(b + (start + k)[:, None] * N + n[None, :], inside[:, None] & (n[None, :] < N), 0)
        sum = tl.dot(left, right, sum, out_dtype=ACC)
    tl.store(c + m[:, None] * N + n[None, :], sum, (m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("stages", [1, 2])
def test_matmul_f16_of_odd_sizes(random, stages):
    M, N, K = 70, 50, 90
    a, b = random.normal(size=(M, K)).astype(np.float16), random.normal(size=(K, N)).astype(np.float16)
    c = Array.zeros((M, N), np.float32)
    matmul_kernel[(3, 2)](Array(a), Array(b), c, M, N, K, BM=32, BN=32, BK=32, ACC=tl.float32, num_stages=stages)
    close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), 1e-6)


def test_matmul_i8_is_exact(random):
    M, N, K = 64, 64, 128
    a, b = random.integers(-128, 128, (M, K), np.int8), random.integers(-128, 128, (K, N), np.int8)
    c = Array.zeros((M, N), np.int32)
    matmul_kernel[(2, 2)](Array(a), Array(b), c, M, N, K, BM=32, BN=32, BK=64, ACC=tl.int32)
    np.testing.assert_array_equal(c.numpy(), a.astype(np.int32) @ b.astype(np.int32))


def bf16(x):
    """The bits of x rounded to bfloat16, and the value that they have."""
    bits = x.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return bits.astype(np.int16), (bits << 16).view(np.float32)


def test_matmul_bf16(random):
    M = N = K = 64
    (a_bits, a), (b_bits, b) = bf16(random.normal(size=(M, K))), bf16(random.normal(size=(K, N)))
    c = Array.zeros((M, N), np.float32)
    a, b = a.astype(np.float64), b.astype(np.float64)
    left, right = Array(a_bits, "bfloat16"), Array(b_bits, "bfloat16")
    matmul_kernel[(1, 2)](left, right, c, M, N, K, BM=64, BN=32, BK=32, ACC=tl.float32, num_warps=8)
    close(c.numpy(), a @ b, 1e-6)


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, i < columns, 0)
    mean = tl.sum(total, 0) / columns
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        centred = tl.where(i < columns, tl.load(x + row * columns + i, i < columns, 0) - mean, 0)
        total += centred * centred
    scale = 1 / tl.sqrt(tl.sum(total, 0) / columns + eps)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = (tl.load(x + row * columns + i, i < columns) - mean) * scale
        value = value * tl.load(weight + i, i < columns) + tl.load(bias + i, i < columns)
        tl.store(out + row * columns + i, value, i < columns)


def test_layer_norm(random):
    x = random.normal(3, 2, (5, 700)).astype(np.float32)
    weight, bias = random.normal(size=(2, 700)).astype(np.float32)
    out = Array.zeros(x.shape, np.float32)
    layer_norm_kernel[(5,)](Array(x), Array(weight), Array(bias), out, 700, 1e-5, BLOCK=256)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight + bias
    close(out.numpy(), expected, 1e-6)


@triton.jit
def reduce_kernel(x, least, greatest, where, total, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    value = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(least + m, tl.min(value, 1))
    tl.store(greatest + n, tl.max(value, 0))
    tl.store(where + m, tl.argmax(value, 1))
    tl.store(total, tl.sum(value))


def test_reductions(random):
    x = random.permutation(64 * 128).reshape(64, 128).astype(np.int32)
    outputs = [Array.zeros(size, np.int32) for size in (64, 128, 64, 1)]
    reduce_kernel[(1,)](Array(x), *outputs, M=64, N=128)
    for output, expected in zip(outputs, (x.min(1), x.max(0), x.argmax(1), x.sum(keepdims=True).reshape(1))):
        np.testing.assert_array_equal(output.numpy(), expected)


@triton.jit
def histogram_kernel(x, bins, last, done, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n)
    tl.atomic_add(bins + value, 1, i < n)
    tl.atomic_max(last + value, i, i < n)
    if tl.atomic_add(done, 1) == tl.num_programs(0) - 1:
        tl.store(done + 1, 77)


def test_atomics(random):
    x = random.integers(0, 16, 1000, np.int32)
    bins, last, done = (Array.zeros(size, np.int32) for size in (16, 16, 2))
    histogram_kernel[(8,)](Array(x), bins, last, done, 1000, BLOCK=128)
    np.testing.assert_array_equal(bins.numpy(), np.bincount(x, minlength=16))
    np.testing.assert_array_equal(last.numpy(), [np.flatnonzero(x == value)[-1] for value in range(16)])
    np.testing.assert_array_equal(done.numpy(), [8, 77])


@triton.jit
def locked_kernel(lock, total):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total, volatile=True) + tl.program_id(0))
    tl.atomic_xchg(lock, 0)


def test_a_lock_between_programs():
    lock, total = Array.zeros(1, np.int32), Array.zeros(1, np.int32)
    locked_kernel[(20,)](lock, total, num_warps=1)
    np.testing.assert_array_equal(total.numpy(), [190])


@triton.jit
def permute_kernel(table, index, out, gathered, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(index + i, i < n)
    value = tl.load(table + place, i < n)
    tl.store(out + place, value * 2, i < n)
    tl.store(gathered + i, value, i < n)


def test_gather_and_scatter(random):
    table, index = random.random(500), random.permutation(500).astype(np.int64)
    out, gathered = Array.zeros(500, np.float64), Array.zeros(500, np.float64)
    permute_kernel[(4,)](Array(table), Array(index), out, gathered, 500, BLOCK=128)
    np.testing.assert_array_equal(out.numpy(), table * 2)
    np.testing.assert_array_equal(gathered.numpy(), table[index])


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def scan_kernel(x, a, sums, states, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(value, 0))
    _, state = tl.associative_scan((tl.load(a + i), value), 0, recurrence)
    tl.store(states + i, state)


def test_scans(random):
    x, a = random.integers(-5, 6, (2, 256)).astype(np.float32)
    a = np.sign(a)
    sums, states = Array.zeros(256, np.float32), Array.zeros(256, np.float32)
    scan_kernel[(1,)](Array(x), Array(a), sums, states, N=256)
    np.testing.assert_array_equal(sums.numpy(), np.cumsum(x))
    state, expected = 0, []
    for factor, term in zip(a, x):
        state = factor * state + term
        expected.append(state)
    np.testing.assert_array_equal(states.numpy(), expected)


@triton.jit
def convolution_kernel(x, w, out, H, W, R: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for r in tl.static_range(R):
        for s in tl.static_range(R):
            y, c = row + r - R // 2, column + s - R // 2
            inside = (y >= 0) & (y < H) & (c >= 0) & (c < W)
            total += tl.load(x + y * W + c, inside, 0) * tl.load(w + r * R + s)
    tl.store(out + row * W + column, total, column < W)


def test_convolution(random):
    x, w = random.integers(-9, 10, (20, 100)).astype(np.float32), random.integers(-9, 10, (3, 3)).astype(np.float32)
    out = Array.zeros(x.shape, np.float32)
    convolution_kernel[(20, 2)](Array(x), Array(w), out, 20, 100, R=3, BLOCK=64)
    padded = np.pad(x, 1)
    expected = sum(w[r, s] * padded[r : r + 20, s : s + 100] for r in range(3) for s in range(3))
    np.testing.assert_array_equal(out.numpy(), expected)


def philox(seed, counter):
    """The first word of Philox-4x32-10 (Salmon and others, SC 2011) for (counter, 0, 0, 0) and this key."""
    c = [counter.astype(np.uint64), *(np.zeros(counter.shape, np.uint64) for _ in range(3))]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        b, a = c[2] * np.uint64(0xCD9E8D57), c[0] * np.uint64(0xD2511F53)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & mask, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


@triton.jit
def dropout_kernel(x, bits, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(bits + i, tl.randint(seed, i), i < n)
    kept = tl.where(tl.rand(seed, i) > p, tl.load(x + i, i < n) / (1 - p), 0)
    tl.store(out + i, kept, i < n)


def test_dropout_by_philox(random):
    x = random.random(1000, np.float32) + 1
    bits, out = Array.zeros(1000, np.uint32), Array.zeros(1000, np.float32)
    dropout_kernel[(4,)](Array(x), bits, out, 1000, 0.25, 123456789, BLOCK=256)
    np.testing.assert_array_equal(bits.numpy(), philox(123456789, np.arange(1000)))
    kept = out.numpy() != 0
    assert 0.7 < kept.mean() < 0.8
    close(out.numpy()[kept], x[kept] / 0.75, 1e-6)


@triton.jit
def attention_kernel(q, k, v, out, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    base = tl.program_id(1) * N * D
    query = tl.load(q + base + m[:, None] * D + d[None, :])
    greatest = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * BM, BN):
        n = start + tl.arange(0, BN)
        keys = tl.load(k + base + n[None, :] * D + d[:, None])
        score = tl.dot(query, keys) * scale
        score = tl.where(m[:, None] >= n[None, :], score, float("-inf"))
        above = tl.maximum(greatest, tl.max(score, 1))
        power = tl.exp2(score - above[:, None])
        factor = tl.exp2(greatest - above)
        total = total * factor + tl.sum(power, 1)
        values = tl.load(v + base + n[:, None] * D + d[None, :])
        acc = tl.dot(power.to(tl.float16), values, acc * factor[:, None])
        greatest = above
    tl.store(out + base + m[:, None] * D + d[None, :], acc / total[:, None])


def test_flash_attention(random):
    heads, N, D = 2, 128, 64
    q, k, v = random.normal(size=(3, heads, N, D)).astype(np.float16)
    out = Array.zeros((heads, N, D), np.float32)
    scale = D**-0.5
    attention_kernel[(N // 64, heads)](
        Array(q), Array(k), Array(v), out, N, scale * 1.4426950408889634, D=D, BM=64, BN=32
    )
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    score = np.where(np.tri(N, dtype=bool), q @ k.transpose(0, 2, 1) * scale, -np.inf)
    power = np.exp(score - score.max(2, keepdims=True))
    # The weights are rounded to f16 before the second product.
    close(out.numpy(), power / power.sum(2, keepdims=True) @ v, 2e-3)


@triton.jit
def sort_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sort(tl.load(x + i)))


def test_sort(random):
    x = random.random(256, np.float32)
    out = Array.zeros(256, np.float32)
    sort_kernel[(1,)](Array(x), out, N=256)
    np.testing.assert_array_equal(out.numpy(), np.sort(x))


@triton.jit
def transpose_kernel(x, out, N: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, N)
    tl.store(out + i[:, None] * N + j[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :])))


@pytest.mark.parametrize("element", [np.int8, np.float16, np.int64])
def test_transpose(random, element):
    x = random.integers(-100, 100, (64, 64)).astype(element)
    out = Array.zeros(x.shape, element)
    transpose_kernel[(1,)](Array(x), out, N=64)
    np.testing.assert_array_equal(out.numpy(), x.T)


@triton.jit
def beyond_kernel(x, n):
    tl.store(x + n, 1)


def test_an_access_out_of_bounds_is_an_error_of_the_launch_and_not_of_the_process(capfd):
    import gcn_tools.triton

    x = Array.zeros(16, np.int32)
    # Triton's launcher sets a RuntimeError and still runs its hooks, so that Python raises a SystemError instead.
    with pytest.raises((RuntimeError, SystemError)) as raised:
        beyond_kernel[(1,)](x, 1 << 40)
    said = raised.value.__cause__ or raised.value
    assert "illegal memory access" in str(said)
    report = capfd.readouterr().err
    assert "beyond_kernel" in report and "test_kernels.py" in report and "out of bounds" in report
    with pytest.raises(gcn.Error, match="hipDeviceSynchronize: .*illegal memory access"):
        synchronize()
    # The error persists until the device is reset, which frees its memory and unloads its modules.
    gcn_tools.triton._call("hipDeviceReset")
    x._address = 0
    np.testing.assert_array_equal(Array.zeros(16, np.int32).numpy(), 0)

"""What Triton's tutorials and the libraries that are built on it do, each beside NumPy."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice

from gcn_tools.triton import Array, synchronize


@pytest.fixture
def random():
    return np.random.default_rng(2)


def close(result, expected, bound):
    """Within `bound` of the largest expected value."""
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound * np.abs(expected).max())


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=2), triton.Config({"BM": 64, "BN": 32, "BK": 16}, num_warps=4)],
    key=["M", "N", "K"],
)
@triton.jit
def swizzled_matmul(
    a, b, c, M, N, K, am, ak, bk, bn, cm, cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    """Tutorial 3: groups of rows share the cache, and the product has an activation."""
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = pid // in_group * GROUP
    size = min(rows - first, GROUP)
    row, column = first + (pid % in_group) % size, (pid % in_group) // size
    m, n, k = (row * BM + tl.arange(0, BM)) % M, (column * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    left, right = a + m[:, None] * am + k[None, :] * ak, b + k[:, None] * bk + n[None, :] * bn
    sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, tl.cdiv(K, BK)):
        x = tl.load(left, mask=k[None, :] < K - start * BK, other=0.0)
        y = tl.load(right, mask=k[:, None] < K - start * BK, other=0.0)
        sum = tl.dot(x, y, sum)
        left += BK * ak
        right += BK * bk
    if ACTIVATION == "leaky_relu":
        sum = leaky_relu(sum)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * cm + n[None, :] * cn, sum.to(tl.float16), (m[:, None] < M) & (n[None, :] < N))


def test_a_product_with_leaky_relu_is_tuned(random):
    M, N, K = 100, 72, 80
    a, b = random.normal(size=(M, K)).astype(np.float16), random.normal(size=(K, N)).astype(np.float16)
    c = Array.zeros((M, N), np.float16)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)  # noqa: E731
    swizzled_matmul[grid](Array(a), Array(b), c, M, N, K, K, 1, N, 1, N, 1, GROUP=2, ACTIVATION="leaky_relu")
    product = a.astype(np.float64) @ b.astype(np.float64)
    close(c.numpy(), np.where(product >= 0, product, 0.01 * product), 1e-3)
    assert swizzled_matmul.best_config in swizzled_matmul.configs


@triton.jit
def persistent_softmax(out, x, stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """Tutorial 2: as many programs as the device holds, each with several rows."""
    start, step = tl.program_id(0), tl.num_programs(0)
    for row in tl.range(start, rows, step, num_stages=STAGES):
        i = tl.arange(0, BLOCK)
        value = tl.load(x + row * stride + i, i < columns, -float("inf"))
        power = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * stride + i, power / tl.sum(power, axis=0), i < columns)


def test_persistent_softmax(random):
    x = random.normal(size=(23, 200)).astype(np.float32)
    out = Array.zeros(x.shape, np.float32)
    persistent_softmax[(4,)](out, Array(x), 200, 23, 200, BLOCK=256, STAGES=2)
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    close(out.numpy(), power / power.sum(1, keepdims=True), 1e-6)


@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, lock, stride, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Tutorial 5: the gradients of the weights are summed under locks."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < N
    value = tl.load(x + row * stride + i, inside, 0).to(tl.float32)
    up = tl.load(dy + row * stride + i, inside, 0).to(tl.float32)
    weight = tl.load(w + i, inside, 0).to(tl.float32)
    r = tl.load(rstd + row)
    hat = tl.where(inside, (value - tl.load(mean + row)) * r, 0.0)
    wdy = tl.where(inside, weight * up, 0.0)
    c1, c2 = tl.sum(hat * wdy, axis=0) / N, tl.sum(wdy, axis=0) / N
    tl.store(dx + row * stride + i, (wdy - (hat * c1 + c2)) * r, inside)
    group = row % GROUPS
    mine, count = lock + group, lock + GROUPS + group
    part_w, part_b = up * hat, up
    to_w, to_b = dw + group * N + i, db + group * N + i
    while tl.atomic_cas(mine, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(to_w, inside)
        part_b += tl.load(to_b, inside)
    tl.store(to_w, part_w, inside)
    tl.store(to_b, part_b, inside)
    tl.debug_barrier()
    tl.atomic_xchg(mine, 0)


def test_layer_norm_backward(random):
    M, N, GROUPS = 12, 90, 4
    x, dy = random.normal(size=(2, M, N)).astype(np.float32)
    w = random.normal(size=N).astype(np.float32)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    dx, dw, db = Array.zeros((M, N), np.float32), Array.zeros((GROUPS, N), np.float32), Array.zeros((GROUPS, N), np.float32)
    arrays = [Array(v) for v in (x, w, mean, rstd)]
    layer_norm_backward[(M,)](dx, Array(dy), dw, db, *arrays, Array.zeros(2 * GROUPS, np.int32), N, N, GROUPS=GROUPS, BLOCK=128)
    hat = (x.astype(np.float64) - mean[:, None]) * rstd[:, None]
    wdy = w * dy.astype(np.float64)
    c1, c2 = (hat * wdy).mean(1, keepdims=True), wdy.mean(1, keepdims=True)
    close(dx.numpy(), (wdy - (hat * c1 + c2)) * rstd[:, None], 1e-5)
    close(dw.numpy().sum(0), (dy * hat).sum(0), 1e-5)
    close(db.numpy().sum(0), dy.astype(np.float64).sum(0), 1e-5)


@triton.jit
def causal_attention(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Tutorial 6: blocks before the diagonal without a mask, then those on it with one."""
    start, head = tl.program_id(0), tl.program_id(1)
    m, d = start * BM + tl.arange(0, BM), tl.arange(0, D)
    base = head * N * D
    query = tl.load(q + base + m[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for stage in tl.static_range(2):
        first, last = (0, start * BM) if stage == 0 else (start * BM, (start + 1) * BM)
        for at in range(first, last, BN):
            n = at + tl.arange(0, BN)
            key = tl.load(k + base + n[None, :] * D + d[:, None])
            score = tl.dot(query, key) * scale
            if stage == 1:
                score = tl.where(m[:, None] >= n[None, :], score, -float("inf"))
            higher = tl.maximum(best, tl.max(score, 1))
            power = tl.math.exp2(score - higher[:, None])
            shrink = tl.math.exp2(best - higher)
            total = total * shrink + tl.sum(power, 1)
            value = tl.load(v + base + n[:, None] * D + d[None, :])
            sum = tl.dot(power.to(tl.float16), value, sum * shrink[:, None])
            best = higher
    tl.store(out + base + m[:, None] * D + d[None, :], (sum / total[:, None]).to(tl.float16))


def test_causal_attention(random):
    H, N, D = 2, 128, 32
    q, k, v = random.normal(size=(3, H, N, D)).astype(np.float16)
    out = Array.zeros((H, N, D), np.float16)
    scale = D**-0.5
    causal_attention[(N // 64, H)](Array(q), Array(k), Array(v), out, scale * 1.44269504, N, D=D, BM=64, BN=32)
    score = np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64)) * scale
    score = np.where(np.tril(np.ones((N, N), bool)), score, -np.inf)
    power = np.exp(score - score.max(2, keepdims=True))
    close(out.numpy(), power / power.sum(2, keepdims=True) @ v.astype(np.float64), 3e-3)


@triton.jit
def grouped_matmul(a, b, c, sizes, COUNT, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tutorial 8: tables of pointers and sizes; each program takes tiles of all products in turn."""
    tile = tl.program_id(0)
    end = 0
    for which in range(COUNT):
        M, N, K = tl.load(sizes + which * 3), tl.load(sizes + which * 3 + 1), tl.load(sizes + which * 3 + 2)
        columns = tl.cdiv(N, BN)
        begin, end = end, end + tl.cdiv(M, BM) * columns
        while tile >= begin and tile < end:
            left = tl.load(a + which).to(tl.pointer_type(tl.float16))
            right = tl.load(b + which).to(tl.pointer_type(tl.float16))
            to = tl.load(c + which).to(tl.pointer_type(tl.float16))
            m = (tile - begin) // columns * BM + tl.arange(0, BM)
            n = (tile - begin) % columns * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            sum = tl.zeros((BM, BN), tl.float32)
            for start in range(0, K, BK):
                x = tl.load(left + m[:, None] * K + (start + k)[None, :], (m[:, None] < M) & (start + k < K)[None, :], 0)
                y = tl.load(right + (start + k)[:, None] * N + n[None, :], (start + k < K)[:, None] & (n[None, :] < N), 0)
                sum = tl.dot(x, y, sum)
            tl.store(to + m[:, None] * N + n[None, :], sum.to(tl.float16), (m[:, None] < M) & (n[None, :] < N))
            tile += PROGRAMS


def test_grouped_matmul(random):
    shapes = [(64, 32, 48), (20, 70, 32), (33, 16, 64)]
    pairs = [(random.normal(size=(m, k)), random.normal(size=(k, n))) for m, n, k in shapes]
    pairs = [(a.astype(np.float16), b.astype(np.float16)) for a, b in pairs]
    lefts, rights = [Array(a) for a, _ in pairs], [Array(b) for _, b in pairs]
    outs = [Array.zeros((m, n), np.float16) for m, n, _ in shapes]
    tables = [Array(np.array([array.data_ptr() for array in arrays], np.int64)) for arrays in (lefts, rights, outs)]
    grouped_matmul[(3,)](*tables, Array(np.array(shapes, np.int32)), len(shapes), PROGRAMS=3, BM=32, BN=32, BK=16)
    for (a, b), out in zip(pairs, outs):
        close(out.numpy(), a.astype(np.float64) @ b.astype(np.float64), 1e-3)


@triton.jit
def asin_kernel(x, out, n, BLOCK: tl.constexpr):
    """Tutorial 7: functions of the device's library."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.asin(tl.load(x + i, i < n)), i < n)


def test_functions_of_the_device_library(random):
    x = random.random(1000, np.float32)
    out = Array.zeros(1000, np.float32)
    asin_kernel[(4,)](Array(x), out, 1000, BLOCK=256)
    close(out.numpy(), np.arcsin(x.astype(np.float64)), 1e-6)


@triton.jit
def split_matmul(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Products of parts of K are added with atomics."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.program_id(0) * BK + tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, tl.cdiv(K, BK * SPLIT)):
        at = k + start * BK * SPLIT
        x = tl.load(a + m[:, None] * K + at[None, :], (at < K)[None, :], 0)
        y = tl.load(b + at[:, None] * BN + n[None, :], (at < K)[:, None], 0)
        sum = tl.dot(x, y, sum)
    tl.atomic_add(c + m[:, None] * BN + n[None, :], sum)


def test_split_matmul(random):
    K = 300
    a, b = random.normal(size=(32, K)).astype(np.float16), random.normal(size=(K, 64)).astype(np.float16)
    c = Array.zeros((32, 64), np.float32)
    split_matmul[(4,)](Array(a), Array(b), c, K, BM=32, BN=64, BK=32, SPLIT=4)
    close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), 1e-6)


@triton.jit
def cross_entropy(x, label, loss, gradient, columns, BLOCK: tl.constexpr):
    """The loss and its gradient, in two passes over a row that is longer than a block."""
    row = tl.program_id(0)
    x += row * columns
    best, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + i, i < columns, -float("inf"))
        higher = tl.maximum(best, tl.max(value))
        total = total * tl.exp(best - higher) + tl.sum(tl.exp(value - higher))
        best = higher
    right = tl.load(label + row)
    tl.store(loss + row, best + tl.log(total) - tl.load(x + right))
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + i, i < columns, -float("inf"))
        tl.store(gradient + row * columns + i, tl.exp(value - best) / total - tl.where(i == right, 1.0, 0.0), i < columns)


def test_cross_entropy(random):
    x, label = random.normal(size=(9, 300)).astype(np.float32), random.integers(0, 300, 9).astype(np.int64)
    loss, gradient = Array.zeros(9, np.float32), Array.zeros((9, 300), np.float32)
    cross_entropy[(9,)](Array(x), Array(label), loss, gradient, 300, BLOCK=128)
    power = np.exp(x.astype(np.float64))
    chance = power / power.sum(1, keepdims=True)
    close(loss.numpy(), -np.log(chance[np.arange(9), label]), 1e-5)
    close(gradient.numpy(), chance - np.eye(300)[label], 1e-5)


@triton.jit
def rotary(x, cosine, sine, HEADS, HALF: tl.constexpr):
    """Pairs of halves are rotated in place."""
    row, head, i = tl.program_id(0), tl.program_id(1), tl.arange(0, HALF)
    at = x + (row * HEADS + head) * 2 * HALF + i
    c, s = tl.load(cosine + row * HALF + i), tl.load(sine + row * HALF + i)
    first, second = tl.load(at).to(tl.float32), tl.load(at + HALF).to(tl.float32)
    tl.store(at, (first * c - second * s).to(tl.float16))
    tl.store(at + HALF, (second * c + first * s).to(tl.float16))


def test_rotary_embedding(random):
    x = random.normal(size=(5, 3, 64)).astype(np.float16)
    angle = np.outer(np.arange(5), 10000.0 ** (-np.arange(32) / 32))
    cosine, sine = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    out = Array(x)
    rotary[(5, 3)](out, Array(cosine), Array(sine), 3, HALF=32)
    first, second = x[..., :32].astype(np.float64), x[..., 32:].astype(np.float64)
    c, s = cosine[:, None], sine[:, None]
    close(out.numpy(), np.concatenate([first * c - second * s, second * c + first * s], 2), 1e-3)


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a, b, out, T: tl.constexpr):
    """h[t] = a[t] h[t-1] + b[t], as state space models have it, by a scan of pairs."""
    row, i = tl.program_id(0), tl.arange(0, T)
    pair = (tl.load(a + row * T + i), tl.load(b + row * T + i))
    _, h = tl.associative_scan(pair, 0, first_order)
    tl.store(out + row * T + i, h)


def test_recurrence(random):
    a, b = random.uniform(0.5, 1, (4, 128)).astype(np.float32), random.normal(size=(4, 128)).astype(np.float32)
    out = Array.zeros((4, 128), np.float32)
    recurrence[(4,)](Array(a), Array(b), out, T=128)
    h, expected = np.zeros(4), np.empty((4, 128))
    for t in range(128):
        h = a[:, t].astype(np.float64) * h + b[:, t]
        expected[:, t] = h
    close(out.numpy(), expected, 1e-5)


@triton.jit
def int4_matmul(a, packed, scale, c, K: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr, BM: tl.constexpr):
    """Weights of four bits, two in a byte, with a scale for each group of rows."""
    m, n, k = tl.arange(0, BM), tl.arange(0, N), tl.arange(0, GROUP)
    sum = tl.zeros((BM, N), tl.float32)
    for start in range(0, K, GROUP):
        byte = tl.load(packed + (start + k)[:, None] // 2 * N + n[None, :])
        nibble = (byte >> ((k % 2) * 4)[:, None].to(tl.uint8)) & 15
        weight = (nibble.to(tl.float16) - 8.0) * tl.load(scale + start // GROUP * N + n)[None, :]
        sum = tl.dot(tl.load(a + m[:, None] * K + (start + k)[None, :]), weight.to(tl.float16), sum)
    tl.store(c + m[:, None] * N + n[None, :], sum)


def test_weights_of_four_bits(random):
    K, N, GROUP = 128, 64, 32
    a = random.normal(size=(16, K)).astype(np.float16)
    weight, scale = random.integers(0, 16, (K, N), np.uint8), random.random((K // GROUP, N)).astype(np.float16)
    packed = weight[0::2] | weight[1::2] << 4
    c = Array.zeros((16, N), np.float32)
    int4_matmul[(1,)](Array(a), Array(packed), Array(scale), c, K=K, N=N, GROUP=GROUP, BM=16)
    real = ((weight.astype(np.float16) - 8) * np.repeat(scale, GROUP, 0)).astype(np.float64)
    close(c.numpy(), a.astype(np.float64) @ real, 1e-5)


@triton.jit
def column_sums(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Descriptors of tensors, which check the bounds themselves."""
    rows = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    first = tl.program_id(0) * BN
    sum = tl.zeros((BN,), tl.float32)
    for start in range(0, M, BM):
        sum += tl.sum(rows.load([start, first]), 0)
    n = first + tl.arange(0, BN)
    tl.store(out + n, sum, n < N)


def test_tensor_descriptors(random):
    x = random.random((50, 72)).astype(np.float32)
    out = Array.zeros(72, np.float32)
    column_sums[(3,)](Array(x), out, 50, 72, BM=16, BN=32)
    close(out.numpy(), x.astype(np.float64).sum(0), 1e-6)


@triton.jit
def counts(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.histogram(tl.load(x + i, i < n, 0), BINS, mask=i < n)
    tl.atomic_add(out + tl.arange(0, BINS), part)


def test_histogram(random):
    x = random.integers(0, 16, 1000).astype(np.int32)
    out = Array.zeros(16, np.int32)
    counts[(4,)](Array(x), out, 1000, BINS=16, BLOCK=256)
    np.testing.assert_array_equal(out.numpy(), np.bincount(x, minlength=16))


@triton.jit
def says(x):
    tl.device_print("value", tl.load(x + tl.program_id(0)))


def test_device_print(capfd):
    says[(2,)](Array(np.array([41, 42], np.int32)), num_warps=1)
    synchronize()
    text = capfd.readouterr().out
    assert "value: 41" in text and "value: 42" in text


def test_do_bench(random):
    x, out = Array(random.random(256, np.float32)), Array.zeros(256, np.float32)
    assert triton.testing.do_bench(lambda: asin_kernel[(1,)](x, out, 256, BLOCK=256), warmup=1, rep=1) > 0

"""Arguments of kernels: what Python passes, as a spec and buffers."""

from __future__ import annotations

import math
from typing import Any, Mapping, Optional, Sequence, Union

from gcn_tools._gcn import Error

#: Element types by format character of the buffer protocol; the size of `l` and `L` depends on the platform.
_LETTERS = {
    "b": "i8", "B": "u8", "c": "u8", "?": "u8", "h": "i16", "H": "u16", "i": "i32", "I": "u32", "q": "i64",
    "Q": "u64", "e": "f16", "f": "f32", "d": "f64",
}


class Buffer:
    """Memory of the device with the contents of `data`, which gets the result if it is writable.

    `type` names the elements where Python does not know them, such as ``bf16`` or ``fp8``.

    >>> from array import array
    >>> Buffer(array("d", [1.0, 2.0])).type
    'f64'
    """

    def __init__(self, data: Any, type: Optional[str] = None) -> None:
        view = memoryview(data)
        if not view.c_contiguous:
            raise Error("a buffer must be contiguous; pass numpy.ascontiguousarray(x), or a copy")
        self.type: str = type or _element(view)
        # Python cannot cast a memoryview without elements.
        self.view: memoryview = view.cast("B") if view.nbytes else memoryview(b"")


def _element(view: memoryview) -> str:
    letter = view.format.lstrip("@=<")
    if letter in ("l", "L"):
        return f"{'i' if letter == 'l' else 'u'}{8 * view.itemsize}"
    if letter not in _LETTERS:
        raise Error(f"elements of format `{view.format}` have no type on the device; name one: gcn.Buffer(x, 'u8')")
    return _LETTERS[letter]


def bind(
    args: Union[Mapping[str, Any], Sequence[Any]],
) -> "tuple[Union[dict[str, Any], list[Any]], list[tuple[str, Buffer]]]":
    """The spec's arguments, null where a buffer belongs, and the buffers by name or position."""
    buffers: "list[tuple[str, Buffer]]" = []

    def one(key: str, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, str, Mapping)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        scalar = getattr(value, "item", None)
        if scalar is not None and getattr(value, "ndim", None) == 0:
            return one(key, value.item())
        if not isinstance(value, Buffer):
            try:
                value = Buffer(value)
            except TypeError:
                raise Error(
                    f"argument {key}: a {type(value).__name__} is neither a number nor a buffer; pass bytes, "
                    "an array, or a dict as in docs/sim.md"
                ) from None
        buffers.append((key, value))
        return None

    if isinstance(args, Mapping):
        return {key: one(key, value) for key, value in args.items()}, buffers
    return [one(str(position), value) for position, value in enumerate(args)], buffers


def write_back(buffers: "list[tuple[str, Buffer]]", outputs: "list[bytes]") -> None:
    """Copies results to where they came from."""
    for (_, buffer), output in zip(buffers, outputs):
        if not buffer.view.readonly:
            buffer.view[:] = output

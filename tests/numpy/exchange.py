# SPDX-License-Identifier: BSL-1.0
"""exchange.py PROGRAM FOLDER: NumPy and the library read what the other one writes."""
import itertools
import os
import subprocess
import sys

import numpy as np

program, folder = sys.argv[1:]
kinds = {"f32": "f4", "f64": "f8", "i32": "i4", "i64": "i8", "bool": "b1", "i8": "i1", "u8": "u1",
         "bf16": "V2", "f16": "f2"}


def expected(kind, shape):
    """The elements at row-major positions, which exchange.cpp computes too."""
    place = np.arange(int(np.prod(shape)), dtype="i8")
    number = (place * 7 + 3) % 101
    if kind == "bool":
        values = place % 3 == 0
    elif kind == "bf16":
        words = ((number - 50) / 4).astype("<f4").view("<u4")
        values = (words >> 16).astype("<u2").view("V2")
    elif kind in ("f32", "f64", "f16"):
        values = ((number - 50) / 4).astype(kinds[kind])
    else:
        values = (number if kind == "u8" else number - 50).astype(kinds[kind])
    return values.reshape(shape)


def same(read, wanted):
    return (read.dtype == wanted.dtype and read.shape == wanted.shape
            and read.tobytes() == wanted.tobytes())


# --- what NumPy writes ----------------------------------------------------------------------------

source = os.path.join(folder, "from_numpy")
os.makedirs(source, exist_ok=True)
lines = []
shapes = [(), (5,), (7, 5), (0, 4), (3, 2, 4)]
for kind, shape, order, fortran in itertools.product(kinds, shapes, "<>", (False, True)):
    if kind == "bf16" and order == ">":
        continue  # bytes without meaning have no order
    array = expected(kind, shape)
    if kind != "bf16":
        array = array.astype(array.dtype.newbyteorder(order))
    array = np.array(array, order="F" if fortran else "C")  # asfortranarray adds a dimension
    version = (1 + len(lines) % 3, 0)
    name = f"{len(lines)}.npy"
    with open(os.path.join(source, name), "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    lines.append(" ".join([name, "-", kind, *map(str, shape)]))
for save, name in ((np.savez, "stored.npz"), (np.savez_compressed, "packed.npz")):
    save(os.path.join(source, name), **{kind: expected(kind, (6, 5)) for kind in kinds})
    lines += [f"{name} {kind} {kind} 6 5" for kind in kinds]
with open(os.path.join(source, "list"), "w", encoding="ascii") as file:
    file.write("\n".join(lines) + "\n")
subprocess.run([program, "read", source], check=True)

# --- what the library writes ----------------------------------------------------------------------

target = os.path.join(folder, "for_numpy")
os.makedirs(target, exist_ok=True)
subprocess.run([program, "write", target], check=True)
stored, packed = (np.load(os.path.join(target, name)) for name in ("stored.npz", "packed.npz"))
assert len(stored.files) == len(packed.files) == len(kinds)
for kind in kinds:
    wanted = expected(kind, (5, 4))
    member = "boolean" if kind == "bool" else kind
    for read in (np.load(os.path.join(target, kind + ".npy")), stored[member], packed[member]):
        assert same(read, wanted), f"{kind}: {read.dtype} {read.shape}"
        assert read.flags.c_contiguous
assert np.load(os.path.join(target, "scalar.npy")) == 0.1
assert np.load(os.path.join(target, "empty.npy")).shape == (0, 4)
assert np.load(os.path.join(target, "line.npy")).tolist() == [1, 2, 3]
print(f"NumPy {np.__version__} has read {3 * len(kinds) + 3} arrays")

"""PyPI's `mdfs`, timed as a black box. Runs in an environment of its own: python mdfs_pypi.py DATA.npz k [repeats]."""

import json
import sys
import time

import mdfs
import numpy as np

data = np.load(sys.argv[1])
x, y = np.asfortranarray(data["x"].astype(np.float64)), data["y"].astype(np.int32)
dimensions = int(sys.argv[2])
seconds = []
for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 1):
    started = time.perf_counter()
    found = mdfs.compute_max_ig(x, y, dimensions=dimensions, divisions=1, discretizations=1, seed=0, range_=0.0)
    seconds.append(time.perf_counter() - started)
print(json.dumps({"seconds": min(seconds), "max_igs": np.asarray(found.max_igs).tolist()}))

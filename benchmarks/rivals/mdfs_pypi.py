"""PyPI's `mdfs`, timed as a black box. Runs in an environment of its own.

python mdfs_pypi.py DATA.npz dimensions [repeats [divisions]]
"""

import json
import sys
import time

import mdfs
import numpy as np

data = np.load(sys.argv[1])
x, y = np.asfortranarray(data["x"].astype(np.float64)), data["y"].astype(np.int32)
dimensions, repeats, divisions = map(int, (sys.argv[2:] + ["1", "1"][len(sys.argv) - 3 :])[:3])
seconds = []
for _ in range(repeats):
    started = time.process_time()
    found = mdfs.compute_max_ig(x, y, dimensions=dimensions, divisions=divisions, discretizations=1, seed=0, range_=0.0)
    seconds.append(time.process_time() - started)
print(json.dumps({"seconds": min(seconds), "max_igs": np.asarray(found.max_igs).tolist()}))

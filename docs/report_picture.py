"""Makes images/report.png, the picture of the report in README and on the landing page: python docs/report_picture.py.

It needs Chromium. The table is simulated: `IL6` and `TNF` matter only together, `age` and `CRP` alone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

PICTURE = Path(__file__).parent / "images" / "report.png"
N_PATIENTS = 600


def patients() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    genes = [f"gene{v}" for v in range(1, 117)]
    names = ["age", "CRP", "IL6", "TNF", *genes]
    table = pd.DataFrame(rng.normal(size=(N_PATIENTS, len(names))).round(3), columns=names)
    table["age"] = (55 + 12 * table["age"]).round().astype(int)
    log_odds = (
        0.06 * (table["age"] - 55)
        + 0.7 * table["CRP"]
        + 2.4 * ((table["IL6"] > 0) ^ (table["TNF"] > 0))  # neither is informative alone
        - 1.2
    )
    ill = rng.random(N_PATIENTS) < 1 / (1 + np.exp(-log_odds))
    return table.assign(outcome=np.where(ill, "ill", "healthy"))


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is needed to make the picture: install it")
    with tempfile.TemporaryDirectory() as folder:
        patients().to_csv(Path(folder) / "patients.csv", index=False)
        run = ["run", "patients.csv", "--target", "outcome", "--seed", "1", "--report", "report.html"]
        subprocess.run([sys.executable, "-m", "interplay", *run], cwd=folder, check=True)
        report = (Path(folder) / "report.html").as_uri()
        size = ["--window-size=1120,1190", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        subprocess.run([chromium, "--headless", "--no-sandbox", *size, f"--screenshot={PICTURE}", report], check=True)
    Image.open(PICTURE).quantize(128).save(PICTURE, optimize=True)  # a third of the bytes


if __name__ == "__main__":
    main()

"""Write what a wheel is made of and needs, as a CycloneDX file that names every part, its version and its licence.

The wheel is installed beside the packages of ``runtime.lock`` in a fresh environment, so what is listed is what was
resolved, not what was meant. Parts compiled into the module leave no trace in an environment, and are added here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import nanobind
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.exception import MissingOptionalDependencyException
from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]


def main(folder: Path) -> None:
    """Write the file beside the only wheel in `folder`, and check it against the schema and against the wheel."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{folder} must hold one wheel, not {len(wheels)}: run `make reproducible`")
    bom = _installed_parts(wheels[0])
    _add_compiled_parts(bom)
    # The same parts make the same file: no time of day, no random number.
    bom.metadata.timestamp = datetime.fromtimestamp(int(_git("log", "-1", "--format=%ct")), tz=UTC)
    bom.serial_number = uuid5(NAMESPACE_URL, " ".join(sorted(str(part.purl) for part in bom.components)))
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    _check(text)
    name, number, *_ = wheels[0].name.split("-")
    out = folder / f"{name}-{number}.cdx.json"
    out.write_text(text + "\n", encoding="utf-8")
    print(f"{out}: {len(bom.components)} parts")


def _installed_parts(wheel: Path) -> Bom:
    with tempfile.TemporaryDirectory(prefix="interplay-sbom-") as folder:
        environment = Path(folder) / "environment"
        _run("venv", "--without-pip", environment)
        pip = ("pip", "--python", environment, "install", "--quiet")
        _run(*pip, "--require-hashes", "--requirement", ROOT / "release/runtime.lock")
        # No dependency is looked for: one that the lock lacks is found out by `check`.
        _run(*pip, "--no-deps", "--no-index", wheel.resolve())
        _run("pip", "--python", environment, "check")
        out = Path(folder) / "installed.json"
        _run(
            "cyclonedx_py", "environment", "--output-reproducible", "--spec-version", "1.6", "--mc-type", "library",
            "--pyproject", ROOT / "pyproject.toml", "--output-file", out, environment,
        )  # fmt: skip
        return Bom.from_json(json.loads(out.read_text(encoding="utf-8")))


def _add_compiled_parts(bom: Bom) -> None:
    """Add what is linked into ``interplay._core``: nanobind, and the hash map that it brings."""
    header = Path(nanobind.source_dir()).parent / "ext/robin_map/include/tsl/robin_growth_policy.h"
    found = dict(re.findall(r"#define TSL_RH_VERSION_(\w+) (\d+)", header.read_text(encoding="utf-8")))
    hash_map_version = ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH"))
    hash_map = _compiled("robin-map", "MIT", PackageURL("github", "tessil", "robin-map", hash_map_version))
    binding = _compiled("nanobind", "BSD-3-Clause", PackageURL("pypi", None, "nanobind", version("nanobind")))
    bom.components.update([binding, hash_map])
    bom.register_dependency(bom.metadata.component, [binding])
    bom.register_dependency(binding, [hash_map])


def _compiled(name: str, licence: str, purl: PackageURL) -> Component:
    return Component(
        name=name,
        version=purl.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        licenses=[LicenseFactory().make_from_string(licence)],
        properties=[Property(name="interplay:compiled into", value="interplay._core")],
    )


def _check(text: str) -> None:
    try:
        errors = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    except MissingOptionalDependencyException as missing:
        sys.exit(f"the SBOM cannot be validated: {missing}")
    if errors:
        sys.exit(f"the SBOM is not valid: {errors}")
    document = json.loads(text)
    root = document["metadata"]["component"]["bom-ref"]
    needed = {entry["ref"]: set(entry.get("dependsOn", ())) for entry in document["dependencies"]}
    reached, left = {root}, [root]
    while left:
        found = needed.get(left.pop(), set()) - reached
        reached |= found
        left.extend(found)
    stray = {part["bom-ref"] for part in document["components"]} - reached
    if stray:
        sys.exit(f"the SBOM lists what nothing needs: {', '.join(sorted(stray))}")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _run(module: str, *arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

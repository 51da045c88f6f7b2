"""Kernels' source → functions on the device: compiled, each in a thread of its own, or as they were compiled before.

CuPy would do so too, but asks the compiler for its version at every kernel, which takes as long as all else here.
Compiled images go into CuPy's folder of compiled kernels (``CUPY_CACHE_DIR``), by a hash of source, options and
versions.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from interplay import _core
from interplay.files.whole_file import whole_path

#: A file, a function in it, and the compiler's options.
Kernel = tuple[str, str, tuple[str, ...]]

#: Options of all kernels. Denormal numbers are zeros, as CuPy has it for kernels of its own.
_OPTIONS = ("-std=c++17", "-ftz=true")

#: Seconds until a search begins, measured on an H200's machine (benchmarks/cold_start.py) and rounded up: a few
#: launches and copies; the import of CuPy and the driver's start; the compiler.
_RUNNING_SECONDS, _KEPT_SECONDS, _COLD_SECONDS = 0.1, 1.0, 2.0

#: Paths of images that are compiled, or being compiled, by file, options and compute capability.
_images: dict[tuple[str, tuple[str, ...], str], Future[Path]] = {}
_lock = Lock()


@lru_cache(maxsize=32)
def source_of(name: str) -> str:
    """Return a kernel's source with its own headers in place of their #include lines.

    Then the source alone identifies a kernel, and its image can be kept by it.
    """
    included: set[str] = set()

    def text_of(file: str) -> str:
        if file in included:
            return ""
        included.add(file)
        return re.sub(r'#include "([^"]+)"', lambda found: text_of(found[1]), _content(file))

    return text_of(name)


@lru_cache(maxsize=64)  # most headers are of several kernels
def _content(file: str) -> str:
    folder = Path(str(_core.__file__)).parent / "cuda"
    if not folder.is_dir():  # not installed but built where it stands
        folder = Path(__file__).resolve().parents[5] / "core" / "cuda"
    return (folder / file).read_text(encoding="utf-8").replace("#pragma once", "")


def image_name(file: str, options: tuple[str, ...], capability: str) -> str:
    """Return the name of the image of a source with these options, for devices of this compute capability.

    It depends on the versions of CuPy and CUDA, too; not on that of the compiler, which would have to be loaded.
    """
    import cupy

    by = (cupy.__version__, str(cupy.cuda.runtime.runtimeGetVersion()))
    content = "\0".join((source_of(file), *_OPTIONS, *options, *by))
    digest = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    return f"{Path(file).stem}-{digest}-sm{capability}.cubin"


def start_seconds() -> float:
    """Return about how long a GPU takes to begin: with kernels in use already, compiled before, or never.

    Known without CuPy, whose import is a part of it.
    """
    if any(file != "planes/bit_planes.cu" for file, _, _ in list(_images)):  # not only the trial of the compiler
        return _RUNNING_SECONDS
    folder = _folder()
    has_kept = folder is not None and next(folder.glob("tuple_*.cubin"), None) is not None
    return _KEPT_SECONDS if has_kept else _COLD_SECONDS


def compile_ahead(kernels: Iterable[Kernel]) -> None:
    """Begin to compile the kernels of a search, all at once; `compiled` waits for the kernel it is asked for."""
    import cupy

    device = cupy.cuda.Device()
    capability = device.compute_capability

    def compile_one(file: str, options: tuple[str, ...]) -> None:
        with suppress(Exception), device:  # an error comes again where the kernel is asked for
            _image(file, options, capability)

    for file, options in dict.fromkeys((file, options) for file, _, options in kernels):
        if (file, options, capability) not in _images:
            with suppress(RuntimeError):  # no thread is to be had: it is compiled when it is asked for
                Thread(target=compile_one, args=(file, options)).start()


def compiled(file: str, function: str, options: tuple[str, ...]) -> Any:
    """Return a kernel for the current device."""
    import cupy

    return _function(file, function, options, cupy.cuda.Device().compute_capability)


def allow_shared_memory(kernel: Any, n_bytes: int) -> None:
    """Let a kernel have this much shared memory on the current device.

    The limit is never lowered: threads share kernels, and another thread may be about to launch this one with more.
    """
    with _lock:
        kernel.max_dynamic_shared_size_bytes = max(kernel.max_dynamic_shared_size_bytes, n_bytes)


@lru_cache(maxsize=128)
def _function(file: str, function: str, options: tuple[str, ...], capability: str) -> Any:
    import cupy

    def load(path: Path) -> Any:
        return cupy.RawModule(path=str(path)).get_function(function)

    try:
        return load(_image(file, options, capability))
    except (OSError, cupy.cuda.driver.CUDADriverError):
        # Damaged, gone, or from a compiler that is too new for this driver: compiled anew, once.
        with _lock:
            _images.pop((file, options, capability), None)
        return load(_image(file, options, capability, anew=True))


def _image(file: str, options: tuple[str, ...], capability: str, *, anew: bool = False) -> Path:
    """Return where the image of a kernel is, compiled here if nobody has; several threads may ask for it."""
    key = (file, options, capability)
    with _lock:
        image = _images.get(key)
        is_mine = image is None
        if image is None:
            image = _images[key] = Future()
    if is_mine:
        try:
            image.set_result(_made_image(file, options, capability, anew=anew))
        except BaseException as error:
            with _lock:
                _images.pop(key, None)
            image.set_exception(error)
    return image.result()


def _made_image(file: str, options: tuple[str, ...], capability: str, *, anew: bool) -> Path:
    name, kept_in = image_name(file, options, capability), _folder()
    if kept_in is not None and not anew and os.path.exists(kept_in / name):  # not if the folder may not be entered
        return kept_in / name
    _import_meanwhile()
    image = _compile(source_of(file), (*_OPTIONS, *options))
    if kept_in is not None:
        with suppress(OSError):  # a full disk, or a folder that can only be read, does not stop a search
            with whole_path(kept_in / name) as unfinished:
                unfinished.write_bytes(image)
            return kept_in / name
    path = _folder_of_process() / name
    path.write_bytes(image)
    return path


def _compile(source: str, options: tuple[str, ...]) -> bytes:
    """Compile for the current device, or for the architecture that the options name."""
    image: bytes
    if not any(option.startswith("-arch=") for option in options):
        from cupy.cuda.compiler import compile_using_nvrtc

        image = compile_using_nvrtc(source, options, cache_in_memory=True)[0]
        return image
    # CuPy takes numbers alone, and instructions of one generation only need a letter after the number.
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(source, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*options, "--device-as-default-execution-space"))
        image = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"{error}: {nvrtc.getProgramLog(program)}") from None
    finally:
        nvrtc.destroyProgram(program)
    return image


@lru_cache(maxsize=1)
def _import_meanwhile() -> None:
    """Import the module that p-values will need, in a fourth of the compiler's time and beside the compiler."""
    with suppress(RuntimeError):
        Thread(target=import_module, args=("scipy.special",)).start()


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    """Return the folder of images, beside those of CuPy; None if CuPy keeps none, or there can be no folder."""
    if os.environ.get("CUPY_CACHE_IN_MEMORY", "0") in ("", "0"):
        given = os.environ.get("CUPY_CACHE_DIR")
        with suppress(OSError, RuntimeError):  # RuntimeError: there is no home
            folder = (Path(given) if given else Path("~/.cupy/kernel_cache").expanduser()) / "interplay"
            folder.mkdir(parents=True, exist_ok=True)
            return folder
    return None


@lru_cache(maxsize=1)
def _folder_of_process() -> Path:
    """Return a folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="interplay-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)

"""Files that appear complete or not at all."""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from interplay.files.whole_file import check_writable, one_line, whole_file, whole_path

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="permissions and devices of POSIX")


def test_the_file_appears_at_the_end_and_nothing_else_stays(tmp_path):
    target = tmp_path / "result.csv"
    with whole_file(target) as file:
        file.write(b"abc")
        file.flush()
        assert not target.exists()
    assert target.read_bytes() == b"abc"
    assert os.listdir(tmp_path) == ["result.csv"]


def write_half(target, error):
    with whole_file(target) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_leaves_what_was_there(tmp_path, error):
    target = tmp_path / "result.csv"
    target.write_bytes(b"before")
    with pytest.raises(error):
        write_half(target, error())
    assert target.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["result.csv"]


def test_whole_path_keeps_the_ending_for_writers_that_look_at_it(tmp_path):
    with whole_path(tmp_path / "report.html") as unfinished:
        assert unfinished.suffix == ".html"
        assert unfinished.parent == tmp_path
        unfinished.write_text("page")
    assert (tmp_path / "report.html").read_text() == "page"


@posix_only
def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path):
    old_mask = os.umask(0o027)
    try:
        with whole_file(tmp_path / "new"):
            pass
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o600)
    with whole_file(tmp_path / "old"):
        pass
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o600


@posix_only
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole_file(tmp_path / "link") as file:
        file.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


@posix_only
def test_a_device_is_written_to_and_not_replaced():
    with whole_file("/dev/null") as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_check_writable_knows_before(tmp_path):
    check_writable(tmp_path / "new.csv")
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="make it first"):
        check_writable(tmp_path / "no" / "new.csv")
    with pytest.raises(IsADirectoryError, match="folder"):
        check_writable(tmp_path)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_half(tmp_path / "no" / "new.csv", ValueError())
    assert str(caught.value).startswith(f"cannot write {str(tmp_path / 'no' / 'new.csv')!r}: there is no folder")
    assert "\n" not in one_line(caught.value)
    with pytest.raises(OSError, match="No space") as caught:
        write_half(tmp_path / "new.csv", OSError(28, "No space left on device"))
    assert str(caught.value) == f"cannot write {str(tmp_path / 'new.csv')!r}: No space left on device"
    assert caught.value.errno == 28


@posix_only
def test_the_previous_file_is_kept_and_permissions_with_it(tmp_path):
    file, previous = tmp_path / "kept", tmp_path / "kept.prev"
    for content in (b"1", b"2", b"3"):
        with whole_file(file, previous=previous) as opened:
            opened.write(content)
        file.chmod(0o600)
    assert (file.read_bytes(), previous.read_bytes()) == (b"3", b"2")
    assert stat.S_IMODE(previous.stat().st_mode) == 0o600
    file.unlink()  # as after a crash between the two moves
    with whole_file(file, previous=previous) as opened:
        opened.write(b"4")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert previous.read_bytes() == b"2"


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path):
    file = tmp_path / "kept"
    file.touch()
    os.chown(file, 12345, 23456)
    with whole_file(file):
        pass
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)


@posix_only
def test_a_link_that_leads_to_itself_is_named(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="cannot write"), whole_file(tmp_path / "a"):
        pass


@posix_only
def test_files_written_in_threads_leave_the_mask_of_permissions_alone(tmp_path, monkeypatch):
    """It can only be read by setting it, and a thread that makes a file meanwhile would have the wrong one."""
    umask = os.umask

    def forbidden_umask(mask):
        raise AssertionError("the mask of the process was set")

    def write(number):
        with whole_path(tmp_path / f"{number}.txt") as unfinished:
            unfinished.write_text("x")

    before = umask(0o027)
    monkeypatch.setattr(os, "umask", forbidden_umask)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(40)))
        assert umask(0o027) == 0o027
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}
    finally:
        umask(before)

"""What `make affected` runs is what README.md names."""

import pytest

import affected


def test_every_folder_of_the_table_has_tests_that_exist():
    named = affected.named_tests()
    floors = [path for path in (affected.ROOT / "src" / "interplay").iterdir() if (path / "__init__.py").exists()]
    rooms = {floor.name: [room.name for room in floor.iterdir() if room.name in named] for floor in floors}
    assert all(floor in named or inside for floor, inside in rooms.items())
    tests = [test for inside in named.values() for test in inside if test.startswith("tests/")]
    assert [test for test in tests if not (affected.ROOT / test).exists()] == []


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        (["src/interplay/ask/gains/call.py"], ["tests/search", "tests/base/test_max_gains.py"]),
        (["core/cpu/search/routing.cpp"], ["tests/engines", "tests/search"]),
        (["tests/base/test_max_gains.py", "src/interplay/base/text.py"], ["tests/base"]),
        (["tests/project/test_maps.py", "tests/reference.py", "README.md"], ["tests/project/test_maps.py"]),
    ],
)
def test_tests_of_changed_files(changed, tests):
    assert affected.affected(changed) == tests

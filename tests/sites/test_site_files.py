"""Files of sites: what is refused, in one line, and what the command line does with them."""

import json

import numpy as np
import pandas as pd
import pytest

import interplay
from hostile.commands import run_command
from interplay.show.results.result import table_bytes
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites
from interplay.sites.site_counts import read_counts
from interplay.sites.site_list import read_list

SITES = ("Basel", "Turku")


def table(seed, n=300):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (n, 8)), columns=[f"rs{v}" for v in range(8)])
    return X, np.where((X["rs2"] ^ X["rs5"]) ^ (rng.random(n) < 0.25), "ill", "well")


TABLES = {"Basel": table(0), "Turku": table(1)}


@pytest.fixture
def plan():
    return plan_sites(*TABLES["Basel"], sites=SITES, target="status")


@pytest.fixture
def folder(tmp_path, plan):
    """The files of a whole search."""
    plan.save(tmp_path / "plan.json")
    lists = [list_at_site(plan, *TABLES[site], site=site) for site in SITES]
    for one in lists:
        one.save(tmp_path / f"{one.site}.list")
        count_at_site(plan, *TABLES[one.site], site=one.site, lists=lists).save(tmp_path / f"{one.site}.counts")
    return tmp_path


def combined(folder, *names):
    return combine_sites(folder / "plan.json", [folder / name for name in names or ("Basel.counts", "Turku.counts")])


def changed(file, change, *, checksum=False):
    """Change a file by hand; with a new checksum, as a program could."""
    import hashlib

    text = change(file.read_text(encoding="utf-8"))
    if checksum:
        lines = text.splitlines()[:-1]
        body = "".join(f"{line}\n" for line in lines)
        text = f"{body}# checksum: {hashlib.sha256(body.encode()).hexdigest()}\n"
    file.write_text(text, encoding="utf-8")


def test_files_are_taken_after_a_change_of_line_ends(folder):
    before = combined(folder).table
    for file in folder.glob("*.counts"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    pd.testing.assert_frame_equal(combined(folder).table, before)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[: len(text) // 2], "damaged"),
        (lambda text: text.replace("# samples: 300", "# samples: 301"), "damaged"),
        (lambda text: text.replace("listed\t", "-\t", 1), "damaged"),
        (lambda text: "", "is not a count file of a site"),
        (lambda text: "rs1,rs2\n1,2\n", "is not a count file of a site"),
        (lambda text: text.replace("version 1", "version 2", 1), "another version"),
        (
            lambda text: text.replace("count file of a site", "list file of a site", 1),
            "is a list file of a site, not a count file",
        ),
    ],
)
def test_damaged_counts_are_refused(folder, change, says):
    changed(folder / "Turku.counts", change)
    with pytest.raises(ValueError, match=says) as caught:
        combined(folder)
    assert "Turku.counts" in str(caught.value)


def _with_other_counts(text):
    """Move one sample of a tuple to another cell."""
    lines = text.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(("listed\t", "-\t")))
    *fields, counts = lines[place].split("\t")
    numbers = [int(number) for number in counts.split(" ")]
    numbers[0] -= 1
    numbers[2] += 1
    lines[place] = "\t".join([*fields, " ".join(map(str, numbers))])
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_with_other_counts, "not of one table|are of different tables|has not the levels"),
        (lambda text: text.replace("listed\t", "-\t", 1), "of different tables|no site has listed"),
        (lambda text: text.replace("samples of classes: [", "samples of classes: [1, "), "lines that are no counts"),
        (lambda text: text.replace("levels\trs2\t1 1", "levels\trs2\t1 0"), "has not the levels"),
        (lambda text: text.replace("levels\trs2\t1 1", "levels\trs2\t1 7"), "lines that are no counts"),
        (lambda text: text.replace("\trs5\t", "\trs99\t", 1), "lines that are no counts"),
        (lambda text: text.replace('site: "Turku"', 'site: "Oslo"'), "site 'Oslo', which the plan does not have"),
        (lambda text: text.replace("# tuples: ", "# tuples: 1"), "does not hold the tuples"),
        (lambda text: text.replace("# tuples: ", "# tuples: x"), "no valid entry 'tuples'"),
    ],
)
def test_counts_that_do_not_fit_are_refused(folder, change, says):
    changed(folder / "Turku.counts", change, checksum=True)
    with pytest.raises(ValueError, match=says):
        combined(folder)


def test_every_site_must_be_there_once(folder, plan):
    with pytest.raises(ValueError, match="counts lacks those of 'Turku'"):
        combined(folder, "Basel.counts")
    with pytest.raises(ValueError, match="two files of site 'Basel'"):
        combined(folder, "Basel.counts", "Basel.counts")
    with pytest.raises(ValueError, match="lists lacks the list of 'Turku'"):
        count_at_site(plan, *TABLES["Basel"], site="Basel", lists=[folder / "Basel.list"])
    with pytest.raises(ValueError, match="two lists of site 'Basel'"):
        count_at_site(plan, *TABLES["Basel"], site="Basel", lists=[folder / "Basel.list"] * 2)


def test_files_of_another_plan_are_refused(folder):
    other = plan_sites(*TABLES["Basel"], sites=SITES, target="status", level=0.01)
    other.save(folder / "plan.json")
    with pytest.raises(ValueError, match=r"Basel.counts' is of another plan"):
        combined(folder)
    with pytest.raises(ValueError, match=r"Basel.list' is of another plan"):
        count_at_site(other, *TABLES["Basel"], site="Basel", lists=[folder / f"{site}.list" for site in SITES])


def test_another_table_in_round_two_is_refused(folder, plan):
    lists = [folder / f"{site}.list" for site in SITES]
    X, y = TABLES["Turku"]
    order = np.random.default_rng(5).permutation(len(y))  # the same columns and classes, other samples
    count_at_site(plan, X.iloc[order], y, site="Turku", lists=lists).save(folder / "Turku.counts")
    with pytest.raises(ValueError, match="its list and its counts are of different tables"):
        combined(folder)


def test_different_unions_are_refused(folder, plan):
    lists = [list_at_site(plan, *TABLES["Turku"], site="Turku"), folder / "Basel.list"]
    fewer = type(lists[0])(plan, "Turku", lists[0].tuples[:1])
    count_at_site(plan, *TABLES["Turku"], site="Turku", lists=[fewer, lists[1]]).save(folder / "Turku.counts")
    with pytest.raises(ValueError, match="counted different tuples"):
        combined(folder)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (TABLES["Basel"][0].drop(columns=["rs3", "rs4"]), "X lacks the column 'rs3' and 1 more"),
        (TABLES["Basel"][0].assign(rs3=2), "column 'rs3' of X has the value 2, which is no level of the plan"),
        (TABLES["Basel"][0].assign(rs3=np.nan), "column 'rs3' of X has 300 missing values"),
        (
            TABLES["Basel"][0].assign(rs3="a"),
            "column 'rs3' of X holds labels, and the plan has levels that are numbers",
        ),
    ],
)
def test_tables_that_do_not_fit_the_plan_are_refused(plan, X, says):
    with pytest.raises(ValueError, match=says):
        list_at_site(plan, X, TABLES["Basel"][1], site="Basel")


def test_outcomes_that_do_not_fit_the_plan_are_refused(plan):
    X, y = TABLES["Basel"]
    with pytest.raises(ValueError, match="y has the class 'dead', which the plan does not have"):
        list_at_site(plan, X, np.where(y == "ill", "dead", y), site="Basel")
    with pytest.raises(ValueError, match="y has one class only, 'ill'"):
        list_at_site(plan, X, np.full(300, "ill"), site="Basel")


def test_too_many_significant_tuples_need_another_plan():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 40))
    X[:, 20:] = X[:, :20] ^ (rng.random((2000, 20)) < 0.02)  # copies: many pairs of one cause
    X[:, :20] = X[:, :1] ^ (rng.random((2000, 20)) < 0.05)
    y = X[:, 0] ^ X[:, 30] ^ (rng.random(2000) < 0.2)
    site = np.repeat(["a", "b"], 1000)
    tables = {name: (X[site == name], y[site == name]) for name in ("a", "b")}

    def found(plan):
        lists = [list_at_site(plan, *tables[name], site=name) for name in "ab"]
        return combine_sites(plan, [count_at_site(plan, *tables[name], site=name, lists=lists) for name in "ab"])

    with pytest.raises(ValueError, match=r"make a plan with list_up_to=0\.00029"):
        found(plan_sites(X, y, sites=["a", "b"]))
    pooled = interplay.interactions(X, y, strata=site, coding="levels")
    again = found(plan_sites(X, y, sites=["a", "b"], list_up_to=0.00029))
    # Sites send no samples for tests beside other columns.
    columns = [name for name in again.table.columns if name != "significant"]
    assert table_bytes(again.table[columns], "csv") == table_bytes(pooled.table[columns], "csv")


def test_plans_are_text_and_say_what_is_wrong(tmp_path, plan):
    file = tmp_path / "plan.json"
    plan.save(file)
    assert plan_digest(file) == plan.digest
    entries = json.loads(file.read_text(encoding="utf-8"))
    # Spaces and the order of entries do not matter.
    file.write_text(json.dumps(dict(reversed(entries.items())), indent=4), encoding="utf-8")
    assert plan_digest(file) == plan.digest
    for change, says in [
        ({"sites": ["a"]}, "2 to 256 sites"),
        ({"sites": ["a", "a"]}, "an entry twice"),
        ({"columns": []}, "dimensions=2 needs as many columns"),
        ({"columns": [{"name": "a"}]}, "either levels or thresholds"),
        ({"columns": [{"name": "a", "levels": [0, "x"]}]}, "all numbers or all labels"),
        ({"columns": [{"name": "a", "thresholds": [2, 1]}]}, "numbers that grow"),
        ({"missing": "impute"}, "missing must be one of"),
        ({"version": 9}, "another version"),
        ({"speed": 1}, "unknown entry 'speed'"),
        ({"list_up_to": 1e-9}, "list_up_to must be at least"),
    ]:
        file.write_text(json.dumps(entries | change), encoding="utf-8")
        with pytest.raises(ValueError, match=says):
            plan_digest(file)
    del entries["classes"]
    file.write_text(json.dumps(entries), encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the entry 'classes'"):
        plan_digest(file)


def plan_digest(file):
    from interplay.sites.plan import read_plan

    return read_plan(file).digest


def test_names_of_columns_may_be_anything(tmp_path):
    X, y = TABLES["Basel"]
    odd = ["a\tb", "# c", '"d"', " e", "listed", "é\n", "-", "levels"]
    frame = X.set_axis(odd, axis=1)
    plan = plan_sites(frame, y, sites=SITES, max_p=1)
    lists, counts = [], []
    for site in SITES:
        list_at_site(plan, TABLES[site][0].set_axis(odd, axis=1), TABLES[site][1], site=site).save(tmp_path / site)
        lists.append(tmp_path / site)
    for site in SITES:
        made = count_at_site(plan, TABLES[site][0].set_axis(odd, axis=1), TABLES[site][1], site=site, lists=lists)
        made.save(tmp_path / f"{site}.counts")
        counts.append(tmp_path / f"{site}.counts")
    assert combine_sites(plan, counts).significant == [('"d"', "é\n")]


def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for site, (X, y) in TABLES.items():
        X.assign(status=y).to_csv(f"{site}.csv", index=False)
    plan = ["site", "plan", "Basel.csv", "--target", "status", "--levels", "0,1,2", "--out", "plan.json"]
    assert run_command(*plan, "--site", "Basel", "--site", "Turku").code == 0
    for site in SITES:
        done = run_command("site", "list", "plan.json", f"{site}.csv", "--site", site, "--out", f"{site}.list")
        assert done.code == 0, done.err
        assert "read it before you send it" in done.err
    for site in SITES:
        done = run_command(
            "site", "count", "plan.json", f"{site}.csv", "Basel.list", "Turku.list", "--site", site,
            "--min-cell", 5, "--out", f"{site}.counts",
        )  # fmt: skip
        assert done.code == 0, done.err
    done = run_command("site", "combine", "plan.json", "Basel.counts", "Turku.counts", "--format", "csv")
    assert done.code == 0, done.err
    pooled = pd.concat([X for X, _ in TABLES.values()], ignore_index=True)
    y, site = np.concatenate([y for _, y in TABLES.values()]), np.repeat(SITES, 300)
    assert done.out.encode() == table_bytes(
        interplay.interactions(pooled, y, strata=site, coding="levels").table, "csv"
    )
    done = run_command("site", "list", "plan.json", "Basel.csv", "--site", "Basel", "--out", "Basel.csv")
    assert done.code == 2
    assert "also used for something else" in done.err
    done = run_command("site", "combine", "plan.json", "Basel.list", "Turku.counts")
    assert done.code == 2
    assert "is a list file of a site, not a count file" in done.err


@pytest.mark.parametrize("name", ["Basel.list", "Turku.counts"])
def test_every_flip_is_refused(folder, plan, name):
    file = folder / name
    content = file.read_bytes()
    read = read_list if name.endswith("list") else read_counts
    rng = np.random.default_rng(0)
    places = np.unique(np.r_[rng.integers(0, len(content), 300), np.arange(len(content) - 3, len(content))])
    for place in places.tolist():
        for byte in {content[place] ^ (1 << int(rng.integers(8))), 13, 10, 0} - {content[place]}:
            file.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
            with pytest.raises(ValueError, match=name):
                read(plan, file)

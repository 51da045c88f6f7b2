"""interactions(offset=read_loco(…)): every tuple is tested beside the prediction without its members' chromosomes."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

import interplay
from command_line import in_process
from interplay.data.study.table import as_table
from interplay.genetics import read_loco

CHROMOSOMES = ["1", "2", "X"]


def polygenic(n=400, seed=0):
    """Nine variants on three chromosomes and an exposure; parts[c] is what chromosome c predicts, beside a pair."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        rng.integers(0, 3, (n, 9)), columns=[f"rs{v}" for v in range(9)], index=[f"i{i}" for i in range(n)]
    )
    X["smokes"] = rng.integers(0, 2, n)
    parts = rng.normal(size=(3, n)) * np.array([[1.5], [1.0], [0.5]])
    pair = 0.6 * np.where((X.rs1 > 0) ^ (X.rs4 > 0), 1, -1)
    y = parts.sum(axis=0) + pair + rng.normal(size=n)
    positions = {f"rs{v}": (f"chr{CHROMOSOMES[v // 3]}", 100.0 * v) for v in range(9)}
    return X, y, parts, positions


def written(folder, parts, names):
    """Write the predictions as REGENIE does, people in another order."""
    order = np.random.default_rng(1).permutation(len(names))
    lines = [" ".join(["FID_IID", *(f"f{place}_{names[place]}" for place in order)])]
    for number, label in enumerate(["1", "2", "23"]):
        values = np.delete(parts, number, axis=0).sum(axis=0)
        lines.append(" ".join([label, *(f"{values[place]:.12g}" for place in order)]))
    (folder / "step1_1.loco").write_text("\n".join(lines) + "\n")
    return folder / "step1_1.loco"


def without(parts, members):
    """Return the prediction without the chromosomes of the members; an exposure lies on none."""
    own = {int(name[2:]) // 3 for name in members if name != "smokes"}
    return sum((parts[c] for c in range(3) if c not in own), np.zeros(parts.shape[1]))


def test_tests_are_those_of_statsmodels(tmp_path):
    X, y, parts, positions = polygenic()
    loco = read_loco(written(tmp_path, parts, X.index), samples=list(X.index))
    found = interplay.interactions(X, y, offset=loco, positions=positions, scale="values", max_p=1, coding="levels")
    assert len(found) == found.n_tests == 45
    assert found.significant == [("rs1", "rs4")]
    table = found.table
    for row, members in list(enumerate(table["members"]))[::11]:
        data = pd.DataFrame({"a": X[members[0]], "b": X[members[1]], "left": y - without(parts, members)})
        larger = smf.ols("left ~ C(a) * C(b)", data).fit()
        f, p, _ = larger.compare_f_test(smf.ols("left ~ C(a) + C(b)", data).fit())
        assert table["f"][row] == pytest.approx(f, rel=1e-6)
        assert table["p_value"][row] == pytest.approx(p, rel=1e-5)
    assert table["p_adjusted"].tolist() == pytest.approx(multipletests(table["p_value"], method="holm")[1], rel=1e-9)
    # One search beside the whole prediction, which holds what the pair's own chromosomes predict, is another one.
    plain = interplay.interactions(X, y, offset=parts.sum(axis=0), scale="values", max_p=1, coding="levels").table
    assert plain["p_value"].tolist() != pytest.approx(table["p_value"].tolist(), rel=0.01)


def test_lists_triples_families_and_other_outcomes():
    """Parts of the whole list, whatever decides what is listed: each tuple as one search of it alone has it."""
    X, y, parts, positions = polygenic(n=300)
    loco = pd.DataFrame({f"chr{label}": parts.sum(axis=0) - parts[c] for c, label in enumerate(CHROMOSOMES)})
    loco.index = X.index
    shuffled = loco.iloc[::-1]  # matched by name
    ill = (y > 0).astype(int)
    times = (np.exp(-0.3 * y) * np.random.default_rng(2).exponential(size=300), np.ones(300))
    calls = [
        (y, {"top": 7}),
        (y, {"p_adjust": "BH", "max_p": 1}),
        (ill, {"variables": ["rs4", "smokes"], "max_p": 1}),
        (ill, {"variables": ["rs1", "rs2"], "partners": ["rs4", "rs8", "smokes"], "max_p": 1}),
        (y, {"min_distance": 150, "max_p": 1}),
        (times, {"variables": ["rs1"], "max_p": 1}),
        (y, {"dimensions": 3, "top": 5, "missing": "omit"}),
    ]
    for outcome, call in calls:
        found = interplay.interactions(X, outcome, offset=shuffled, positions=positions, **call)
        rest = {name: value for name, value in call.items() if name in ("dimensions", "missing")}
        for row in range(0, len(found), 14):
            members = found.table["members"][row]
            one = interplay.interactions(
                X[list(members)], outcome, offset=without(parts, members), max_p=1, **rest
            ).table
            assert found.table["p_value"][row] == pytest.approx(one["p_value"][0], rel=1e-6), (call, members)
        if "max_p" in call and call["max_p"] == 1:
            assert len(found) == found.n_tests
        if "top" in call:
            whole = interplay.interactions(X, outcome, offset=shuffled, positions=positions, max_p=1, **rest).table
            assert found.table["members"].tolist() == whole["members"].tolist()[: call["top"]]
            assert found.table["p_adjusted"].tolist() == pytest.approx(whole["p_adjusted"][: call["top"]].tolist())
        if call.get("p_adjust") == "BH":
            expected = false_discovery_control(found.table["p_value"])
            assert found.table["p_adjusted"].tolist() == pytest.approx(expected.tolist())


def test_the_result_is_like_others(tmp_path):
    X, y, parts, positions = polygenic()
    loco = pd.DataFrame({label: parts.sum(axis=0) - parts[c] for c, label in enumerate(CHROMOSOMES)})
    age = np.random.default_rng(3).normal(size=400)
    told = []
    found = interplay.interactions(
        X, y + age, offset=loco, positions=positions, covariates=age, progress=told.append, n_jobs=2
    )
    assert found.significant == [("rs1", "rs4")]
    assert told == sorted(told)
    assert found.clumps()["size"].tolist() == [1]
    assert found.provenance["offset by chromosome"] == ["1", "2", "X"]
    assert found.provenance["engine"]["searches"] == 9
    assert "the offset" in found.summary()
    found.save(tmp_path / "pairs")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, found.table)
    found.to_html(tmp_path / "pairs.html")
    again = interplay.interactions(X, y + age, offset=loco, positions=positions, covariates=age, **found.settings)
    pd.testing.assert_frame_equal(again.table, found.table)


def test_what_does_not_fit():
    X, y, parts, positions = polygenic()
    loco = pd.DataFrame({label: parts.sum(axis=0) - parts[c] for c, label in enumerate(CHROMOSOMES)})

    def refused(words, error=ValueError, **given):
        with pytest.raises(error, match=words):
            interplay.interactions(X, y, **({"offset": loco, "positions": positions} | given))

    refused(r"^offset has no predictions without chromosome 'chrX', of variable 'rs6'", offset=loco[["1", "2"]])
    refused(r"^offset must have a column for each of two or more chromosomes", offset=loco[["1"]])
    refused(r"^offset must have one row per sample, 400, not 399", offset=loco[1:])
    refused(r"^offset has missing or infinite values", offset=loco.replace(loco.iloc[3, 1], np.nan))
    refused(r"^groups does not go with an offset for each chromosome", groups=np.arange(400) // 2)
    with pytest.raises(ValueError, match="y has 3 classes"):
        interplay.interactions(X, np.arange(400) % 3, offset=loco, positions=positions)
    with pytest.raises(ValueError, match=r"^offset by chromosome needs the chromosomes of the variables"):
        interplay.select(X, y, offset=loco)


def test_people_are_matched_by_name(tmp_path):
    """A file of genotypes knows its people by IID; predictions are in another order, and named FID_IID."""
    X, y, parts, positions = polygenic()
    file = written(tmp_path, parts, X.index)
    expected = interplay.interactions(
        X, y, offset=read_loco(file, samples=list(X.index)), positions=positions, top=3
    ).table
    table = as_table(X.reset_index(drop=True))
    table.sample_names = X.index.to_numpy()
    found = interplay.interactions(table, y, offset=read_loco(file), positions=positions, top=3)
    pd.testing.assert_frame_equal(found.table, expected)
    table.sample_names = np.array(["nobody", *X.index[1:]])
    with pytest.raises(ValueError, match="'nobody' has no predictions in 'offset'"):
        interplay.interactions(table, y, offset=read_loco(file), positions=positions)


def test_the_command_is_the_function(tmp_path, monkeypatch, capfd):
    X, y, parts, positions = polygenic()
    frame = X.reset_index(drop=True).assign(trait=y)
    frame.to_csv(tmp_path / "d.csv", index=False)
    at = pd.DataFrame(
        [(name, *where) for name, where in positions.items()], columns=["variable", "chromosome", "position"]
    )
    at.to_csv(tmp_path / "at.csv", index=False)
    loco = read_loco(written(tmp_path, parts, X.index), samples=list(X.index))
    lines = [" ".join(["FID_IID", *(f"f_{name}" for name in X.index)])]
    lines += [" ".join([label, *(f"{value:.12g}" for value in loco[label])]) for label in loco]
    (tmp_path / "ordered.loco").write_text("\n".join(lines) + "\n")
    command = (
        "interactions",
        tmp_path / "d.csv",
        "--target",
        "trait",
        "--positions",
        tmp_path / "at.csv",
        "--top",
        "3",
    )
    command = (*command, "--seed", "0", "--loco", tmp_path / "ordered.loco")
    done = in_process(monkeypatch, capfd, *command, "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(pd.read_csv(tmp_path / "d.csv"), "trait", offset=loco, positions=positions, top=3)
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table, rtol=1e-9)
    done = in_process(monkeypatch, capfd, *command, "--offset", "rs0")
    assert done.code == 2
    assert "--loco does not go with --offset" in done.err

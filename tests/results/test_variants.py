"""What a GWAS gives of each variant, beside statsmodels, plain counts and PLINK 2."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from bed_reader import to_bed
from scipy.stats import chi2

import interplay
from genotype_study import Study
from interplay.data.models.per_unit import linear_per_unit, logistic_per_unit
from interplay.show.plots.gains import shown_places
from interplay.show.report.content import report_content

N = 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    G = rng.binomial(2, rng.uniform(0.1, 0.5, 12), (N, 12)).astype(float)
    G[rng.random(G.shape) < 0.03] = np.nan
    G[:, 11] = 1.0
    columns = np.column_stack([np.ones(N), rng.normal(size=N), np.arange(N) % 3 == 1])
    number = 50 + 10 * (np.nan_to_num(G[:, 2]) + columns[:, 1] + rng.normal(size=N))
    is_case = rng.random(N) < 1 / (1 + np.exp(1 - np.nan_to_num(G[:, 4]) - columns[:, 1]))
    return G, columns, number, is_case


@pytest.mark.parametrize("n_columns", [1, 3])
def test_slopes_are_those_of_statsmodels(data, n_columns):
    G, columns, number, is_case = data
    known_columns = columns[:, :n_columns]
    linear = linear_per_unit(G.T, number, known_columns)
    logistic = logistic_per_unit(G.T, is_case, known_columns)
    for v in range(11):
        known = ~np.isnan(G[:, v])
        design = np.column_stack([known_columns, G[:, v]])[known]
        ols, logit = sm.OLS(number[known], design).fit(), sm.Logit(is_case[known], design).fit(disp=0)
        smaller = sm.OLS(number[known], design[:, :-1]).fit()
        for found, fit in ((linear, ols), (logistic, logit)):
            np.testing.assert_allclose(found.estimate[v], fit.params[-1], rtol=1e-6)
            np.testing.assert_allclose(found.error[v], fit.bse[-1], rtol=1e-5)
            np.testing.assert_allclose(np.exp(found.log_p[v]), fit.pvalues[-1], rtol=1e-5)
        np.testing.assert_allclose(linear.explained[v], 1 - ols.ssr / smaller.ssr, rtol=1e-8)
        np.testing.assert_allclose(linear.lod[v], (ols.llf - smaller.llf) / np.log(10), rtol=1e-8)
    assert np.isnan(linear.estimate[11])  # one value
    assert np.isnan(logistic.estimate[11])


def test_a_known_part_and_separated_classes(data):
    G, columns, _, is_case = data
    found = logistic_per_unit(G[:, :2].T, is_case, columns[:, :1], offset=columns[:, 1])
    known = ~np.isnan(G[:, 1])
    fit = sm.GLM(
        is_case[known],
        np.column_stack([np.ones(known.sum()), G[known, 1]]),
        sm.families.Binomial(),
        offset=columns[known, 1],
    ).fit()
    np.testing.assert_allclose([found.estimate[1], found.error[1]], [fit.params[1], fit.bse[1]], rtol=1e-5)
    apart = logistic_per_unit(is_case[np.newaxis].astype(float), is_case, columns[:, :1])
    assert np.isnan(apart.estimate[0])


@pytest.mark.parametrize("ending", [".bed", ".pgen", ".vcf"])
def test_tables_of_files_of_genotypes(tmp_path, ending):
    study = Study()
    study.write_sample(tmp_path / "study.sample")
    file = study.write(tmp_path, ending)
    more = {} if ending != ".vcf" else {"sample_file": tmp_path / "study.sample"}
    read = {
        ".bed": interplay.genetics.read_bed,
        ".pgen": interplay.genetics.read_pgen,
        ".vcf": interplay.genetics.read_vcf,
    }
    table = read[ending](file, **more)
    result = interplay.select(table, "phenotype", dimensions=1, random_state=0)
    found = result.table
    values = study.values
    np.testing.assert_allclose(found["a1_freq"], np.nanmean(values, axis=1) / 2, rtol=1e-6)
    np.testing.assert_allclose(found["missing"], np.isnan(values).mean(axis=1))
    assert found[["chromosome", "position", "a1", "a2"]].iloc[17].to_list() == ["2", 18000, "G", "A"]
    assert found["n"].to_list() == (~np.isnan(values)).sum(axis=1).tolist()
    known = ~np.isnan(values[5])
    fit = sm.Logit(study.is_ill[known], sm.add_constant(values[5][known])).fit(disp=0)
    np.testing.assert_allclose(found.loc[5, ["beta", "se"]].astype(float), [fit.params[1], fit.bse[1]], rtol=1e-5)
    np.testing.assert_allclose(found["or"], np.exp(found["beta"]))
    result.save(tmp_path / "result")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "result").table, found)
    pairs = interplay.interactions(table, "phenotype", top=4)
    first = pairs.table.iloc[0]
    number = study.positions.index(first["position_1"])
    assert first["members"][0] == f"rs{number}"
    np.testing.assert_allclose(first["beta_1"], found["beta"][number])
    np.testing.assert_allclose(first["lod"], first["chi2"] / (2 * np.log(10)))
    parts = [interplay.interactions(table, "phenotype", top=4, shard=(i, 2)) for i in (1, 2)]
    pd.testing.assert_frame_equal(interplay.merge_interactions(parts).table, pairs.table)


def test_pictures_and_report(tmp_path):
    study = Study()
    table = interplay.genetics.read_bed(study.write(tmp_path, ".bed"))
    result = interplay.select(table, "phenotype", random_state=0)
    drawn = result.plot.manhattan()
    assert [label.get_text() for label in drawn.get_xticklabels()] == ["1", "2"]
    assert sum(len(line.get_xdata()) for line in drawn.lines) == 24 + 2
    assert result.variants is not None
    known = result.variants.log_p
    expected = chi2.isf(np.exp(np.median(known)), 1) / chi2.isf(0.5, 1)
    np.testing.assert_allclose(result.variants.inflation, expected, rtol=1e-6)
    assert result.plot.qq().get_title() == f"λ = {expected:.3f}"
    content = report_content(result)["variants"]
    assert content["chromosomes"][1][0] == "2"
    assert sum(content["relevant"]) == len(result.relevant)
    np.testing.assert_allclose(content["qq"]["observed"], -np.sort(known) / np.log(10), rtol=1e-4)
    result.to_html(tmp_path / "page.html")
    assert "drawManhattan" in (tmp_path / "page.html").read_text()
    assert shown_places(known, result.is_relevant, 10)[0] >= 0
    assert len(shown_places(known, result.is_relevant, 10)) == 10


def test_tables_without_variants_keep_their_columns():
    X = np.random.default_rng(0).integers(0, 3, (60, 4))
    found = interplay.select(X, X[:, 0] > 1, dimensions=1, random_state=0)
    assert found.table.columns[:3].to_list() == ["variable", "gain", "p_value"]
    with pytest.raises(ValueError, match="the table has no variants"):
        found.sumstats()


def test_summary_statistics(tmp_path, command):
    study = Study()
    file, out, pairs = study.write(tmp_path, ".bed"), tmp_path / "one.tsv", tmp_path / "pairs.tsv"
    done = command("run", file, "-k", 1, "--seed", 0, "--sumstats", out, "--out", tmp_path / "table.csv")
    assert done.code == 0, done.err
    found, table = pd.read_csv(out, sep="\t", na_values="#NA"), pd.read_csv(tmp_path / "table.csv")
    assert found.columns[:8].to_list() == [
        "chromosome", "base_pair_location", "effect_allele", "other_allele", "beta", "standard_error",
        "effect_allele_frequency", "p_value",
    ]  # fmt: skip
    np.testing.assert_allclose(found["p_value"], table["p_allele"], rtol=1e-4)
    np.testing.assert_allclose(found["p_value_search"], table["p_value"], rtol=1e-4)
    done = command("interactions", file, "--top", 3, "--seed", 0, "--sumstats", pairs)
    assert done.code == 0, done.err
    listed = pd.read_csv(pairs, sep="\t", na_values="#NA")
    assert {"chromosome_1", "effect_allele_2", "variant_id_2", "statistic", "p_value", "n"} <= set(listed.columns)
    assert len(listed) == 3
    plain = tmp_path / "plain.csv"
    pd.DataFrame({"a": np.arange(60) % 7 / 7, "y": np.arange(60) % 2}).to_csv(plain, index=False)
    refused = command("run", plain, "--target", "y", "--sumstats", out)
    assert "--sumstats is for files of genotypes" in refused.error_line


@pytest.mark.skipif(shutil.which("plink2") is None, reason="PLINK 2 is not installed")
def test_signs_and_sizes_are_those_of_plink_from_every_format(tmp_path):
    rng = np.random.default_rng(1)
    G = rng.binomial(2, rng.uniform(0.2, 0.5, 20), (N, 20)).astype(np.int8)
    number = G[:, :10] @ np.where(np.arange(10) % 2, 0.5, -0.5) + rng.normal(size=N)
    is_ill = rng.random(N) < 1 / (1 + np.exp(-G[:, :10] @ np.where(np.arange(10) % 2, 0.5, -0.5)))
    properties = {
        "fid": [f"F{i // 2}" for i in range(N)], "iid": [f"P{i}" for i in range(N)],
        "pheno": np.where(is_ill, "2", "1"), "sid": [f"rs{v}" for v in range(20)], "chromosome": ["1"] * 20,
        "bp_position": np.arange(1, 21), "allele_1": ["T"] * 20, "allele_2": ["C"] * 20,
    }  # fmt: skip
    to_bed(tmp_path / "s.bed", G, properties=properties)
    (tmp_path / "t.txt").write_text(
        "FID IID value\n" + "".join(f"F{i // 2} P{i} {value:.6f}\n" for i, value in enumerate(number))
    )

    def plink2(*arguments):
        command = ["plink2", "--bfile", str(tmp_path / "s"), *arguments, "--out", str(tmp_path / "s"), "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    for how in (["--make-pgen"], ["--export", "bgen-1.2"], ["--export", "vcf", "bgz"], ["--export", "bcf"]):
        plink2(*how)
    plink2("--glm", "allow-no-covars")
    plink2("--glm", "allow-no-covars", "--pheno", str(tmp_path / "t.txt"), "--1")
    of_cases = pd.read_csv(next(tmp_path.glob("s.PHENO1.glm.logistic*")), sep="\t").set_index("ID")
    of_number = pd.read_csv(tmp_path / "s.value.glm.linear", sep="\t").set_index("ID")
    from interplay.readers.data_file import read_data

    for ending in (".bed", ".pgen", ".bgen", ".vcf.gz", ".bcf"):
        more = {"sample_file": tmp_path / "s.psam"} if ending in (".vcf.gz", ".bcf") else {}
        X, y = read_data(tmp_path / f"s{ending}", **more)
        cases = interplay.select(X, y, dimensions=1, random_state=0).table.set_index("variable")
        X, y = read_data(tmp_path / f"s{ending}", target_file=tmp_path / "t.txt", target="value", **more)
        numbers = interplay.select(X, y, dimensions=1, random_state=0).table.set_index("variable")
        for found, theirs, beta in ((cases, of_cases, np.log(of_cases["OR"])), (numbers, of_number, of_number["BETA"])):
            theirs = theirs.loc[found.index]
            same = (found["a1"] == theirs["A1"]).to_numpy()
            expected = np.where(same, 1, -1) * beta.loc[found.index].to_numpy()
            np.testing.assert_allclose(found["beta"], expected, rtol=2e-4, atol=2e-5)
            error = theirs["SE"] if "SE" in theirs else theirs["LOG(OR)_SE"]
            np.testing.assert_allclose(found["se"], error, rtol=2e-4)
            np.testing.assert_allclose(found["p_allele"], theirs["P"], rtol=2e-3)

"""Which relabelings are allowed, all of them where they are few, and the p-values that follow: against brute force."""

from itertools import islice, permutations

import numpy as np
import pytest
from scipy.stats import chisquare, permutation_test

import interplay
import reference
from interplay.data.study.design import in_order, make_groups
from interplay.data.study.table import as_table
from interplay.infer.permutations import StepDown, exchangeability
from interplay.infer.permutations.exchangeability import check_reach, distinct_orders, multinomial
from interplay.infer.permutations.permutation_null import comparable_gains


def stream_of(number):
    return np.random.RandomState(number)


def all_allowed(codes, groups, strata):
    """Every order of the samples, tried: does it keep groups together and strata apart, as the rules say?"""
    codes, groups, strata = (np.asarray(a) for a in (codes, groups, strata))
    n = len(codes)
    constant = all(len(set(codes[groups == g].tolist())) == 1 for g in set(groups.tolist()))
    found = set()
    if constant:  # labels of whole groups, among those in the same set of strata
        members = sorted(set(groups.tolist()))
        sets = [frozenset(strata[groups == g].tolist()) for g in members]
        labels = [codes[groups == g][0] for g in members]
        for order in permutations(range(len(members))):
            if all(sets[i] == sets[j] for i, j in enumerate(order)):
                relabeled = np.empty(n, dtype=int)
                for i, j in enumerate(order):
                    relabeled[groups == members[i]] = labels[j]
                found.add(tuple(relabeled.tolist()))
        return found
    for order in permutations(range(n)):
        to_group = {}
        good = True
        for i, j in enumerate(order):
            good &= strata[i] == strata[j] and to_group.setdefault(groups[i], groups[j]) == groups[j]
        sizes_agree = all((groups == a).sum() == (groups == b).sum() for a, b in to_group.items())
        if good and sizes_agree:
            found.add(tuple(codes[list(order)].tolist()))
    return found


CASES = {
    "samples": ([0, 0, 1, 1, 1, 2], [0, 1, 2, 3, 4, 5], [0] * 6),
    "samples in strata": ([0, 1, 1, 0, 1, 1, 0], list(range(7)), [0, 0, 0, 1, 1, 1, 1]),
    "whole groups": ([0, 0, 0, 1, 1, 0, 1, 1], [0, 0, 0, 1, 1, 2, 3, 4], [0] * 8),
    "whole groups in strata": ([0, 0, 1, 1, 0, 1, 1], [0, 0, 1, 1, 2, 3, 4], [0, 0, 0, 0, 1, 1, 1]),
    "strata across groups": ([0, 0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 0, 1, 0]),
    "pairs of two classes": ([0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2], [0] * 6),
    "families": ([0, 1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2, 3], [0] * 7),
    "families in strata": ([0, 1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1, 0, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_relabelings_are_those_of_brute_force(name):
    codes, groups, strata = (np.array(a) for a in CASES[name])
    allowed = exchangeability(codes, groups=groups, strata=strata)
    expected = all_allowed(codes, groups, strata)
    assert allowed.n_relabelings == len(expected)
    found = [tuple(relabeled.tolist()) for relabeled in allowed.relabelings(10**6, stream_of)]
    assert len(found) == len(expected) - 1
    assert set(found) == expected - {tuple(codes.tolist())}
    drawn = {tuple(relabeled.tolist()) for relabeled in _drawn(allowed, 400)}
    assert drawn <= expected


def _drawn(allowed, n):
    """Draws, also where all could be gone through."""
    for number in range(n):
        relabeled = allowed.codes.copy()
        for block in allowed.blocks:
            relabeled[block.samples] = block.draw(stream_of(number))
        yield relabeled


@pytest.mark.parametrize("name", ["whole groups", "pairs of two classes", "families"])
def test_all_relabelings_are_equally_likely(name):
    codes, groups, strata = (np.array(a) for a in CASES[name])
    allowed = exchangeability(codes, groups=groups, strata=strata)
    counts: dict[bytes, int] = {}
    for relabeled in _drawn(allowed, 3000):
        counts[relabeled.tobytes()] = counts.get(relabeled.tobytes(), 0) + 1
    observed = list(counts.values()) + [0] * (int(allowed.n_relabelings) - len(counts))
    assert chisquare(observed).pvalue > 1e-3


def test_groups_of_one_sample_are_samples():
    codes = np.array([0, 1, 1, 0, 1])
    alone = exchangeability(codes, groups=np.arange(5))
    plain = exchangeability(codes)
    for a, b in zip(alone.relabelings(100, stream_of), plain.relabelings(100, stream_of), strict=True):
        assert (a == b).all()


def test_draws_do_not_depend_on_each_other():
    codes = np.repeat([0, 1], 20)
    allowed = exchangeability(codes)
    few, many = (list(allowed.relabelings(n, stream_of)) for n in (5, 50))
    assert all((a == b).all() for a, b in zip(few, many, strict=False))


@pytest.mark.parametrize(
    ("classes", "n", "p"),
    [((3, 3), 199, 2 / 20), ((4, 4), 199, 2 / 70), ((3, 4), 199, 1 / 35), ((5, 5), 199, 1 / 200),
     ((5, 5), 999, 2 / 252), ((2, 2, 2), 199, 6 / 90)],
)  # fmt: skip
def test_smallest_p_of_donors(classes, n, p):
    """And it is reached: the observed division of donors has the largest gain there can be."""
    labels = np.repeat(np.arange(len(classes)), classes)
    donors = np.repeat(np.arange(len(labels)), 3)
    allowed = exchangeability(labels[donors], groups=donors)
    assert allowed.smallest_p(n) == pytest.approx(p)
    if allowed.n_relabelings - 1 <= n:
        assert allowed.n_used(n) == allowed.n_relabelings - 1
        statistic = StepDown(np.array([_information(labels[donors], donors, labels)]))
        for relabeled in allowed.relabelings(n, stream_of):
            statistic.see(np.array([_information(relabeled, donors, labels)]))
        assert statistic.p_adjusted()[0] == pytest.approx(p)


def _information(codes, donors, labels):
    """How much a variable that is the label of each donor tells."""
    counts = np.zeros((labels.max() + 1, labels.max() + 1))
    np.add.at(counts, (labels[donors], codes), 1)
    p = counts / counts.sum()
    return float(np.nansum(p * np.log(np.where(p > 0, p, 1) / (p.sum(0) * p.sum(1)[:, None]))))


class TestReach:
    def check(self, labels, *, sizes=3, level=0.05, n_permutations=199, n_runs=1, strata=None):
        donors = np.repeat(np.arange(len(labels)), sizes)
        allowed = exchangeability(np.asarray(labels)[donors], groups=donors, strata=strata)
        check_reach(allowed, level=level, n_permutations=n_permutations, n_runs=n_runs)

    def test_three_against_three_donors_cannot_reach_005(self):
        reason = (
            r"^groups: 3 against 3 groups can be relabelled in 20 ways\. Therefore no p-value is below 0\.1, and "
            r"none can be below level=0\.05: more groups are needed"
        )
        with pytest.raises(ValueError, match=reason):
            self.check([0, 0, 0, 1, 1, 1])
        self.check([0, 0, 0, 1, 1, 1], level=0.11)

    def test_four_against_four_can(self):
        self.check([0] * 4 + [1] * 4)
        with pytest.raises(ValueError, match=r"level=0\.01"):
            self.check([0] * 4 + [1] * 4, level=0.01)

    def test_runs_take_their_share(self):
        with pytest.raises(ValueError, match="times 3 comparisons of classes"):
            self.check([0] * 4 + [1] * 4, n_runs=3)

    def test_too_few_permutations(self):
        with pytest.raises(ValueError, match=r"n_permutations=19 gives no p-value below 0\.05.*use at least 20$"):
            self.check([0, 1] * 8, n_permutations=19)
        self.check([0, 1] * 8, n_permutations=20)

    def test_nothing_to_exchange(self):
        codes = np.array([0, 1, 0, 0, 0])
        with pytest.raises(ValueError, match="leave out the groups of two classes"):
            check_reach(exchangeability(codes, groups=np.array([0, 0, 1, 1, 1]), strata=np.array([0, 1, 0, 0, 0])),
                        level=0.05, n_permutations=199)  # fmt: skip
        with pytest.raises(ValueError, match="permutations: no two samples of one stratum"):
            check_reach(exchangeability(codes, strata=codes), level=0.05, n_permutations=199)

    def test_warns_where_most_keep_their_labels(self):
        sizes = np.arange(5, 15)
        groups = np.repeat(np.arange(10), sizes)
        codes = (groups % 2).astype(np.int64)
        codes[:2] = [0, 1]
        codes[2:5] = [0, 1, 0]
        with pytest.warns(UserWarning, match=r"^groups: 95% of the samples keep their label"):
            check_reach(exchangeability(codes, groups=groups), level=0.11, n_permutations=199)


def test_step_down_is_that_of_the_book():
    rng = np.random.default_rng(1)
    for _ in range(20):
        observed = rng.normal(size=12) + np.repeat([2.0, 0.0], [3, 9])
        permuted = rng.normal(size=(39, 12))
        counts = StepDown(observed)
        for row in permuted:
            counts.see(row)
        assert counts.p_adjusted() == pytest.approx(
            reference.step_down_max_t(observed.tolist(), permuted.tolist()), abs=1e-12
        )
        alone = (1 + (permuted >= observed).sum(axis=0)) / 40
        assert counts.p_values() == pytest.approx(alone)
        assert (counts.p_values() <= counts.p_adjusted()).all()


def test_variables_without_a_statistic_are_not_tested():
    counts = StepDown(np.array([np.nan, 2.0, -np.inf]))
    counts.see(np.array([np.nan, 3.0, -np.inf]))
    counts.see(np.array([9.0, 1.0, 9.0]))
    assert np.array_equal(counts.p_adjusted(), [np.nan, 2 / 3, np.nan], equal_nan=True)
    assert counts.order.tolist() == [1]


def test_stops_only_where_nothing_can_be_significant():
    counts = StepDown(np.array([1.0, 0.0]))
    for _ in range(9):
        counts.see(np.array([2.0, 2.0]))
    assert not counts.is_decided(0.05, 199)  # too few to say how large p is
    for _ in range(10):
        counts.see(np.array([0.5, 0.5]))
    # 9 of 199 reached: (1 + 9)/200 is not below 0.05.
    assert counts.is_decided(0.05, 199)
    assert not counts.is_decided(0.0501, 199)
    assert (counts.p_adjusted() >= 0.05).all()


def test_comparable_gains_are_gains_or_chi2_tails():
    gain = np.array([[3.0], [8.0]])
    assert comparable_gains(gain, np.array([[2], [2]])).tolist() == [3.0, 8.0]
    mixed = comparable_gains(np.array([[3.0, -np.inf], [8.0, 3.0]]), np.array([[1, 4], [2, 1]]))
    from scipy.stats import chi2

    expected = [-chi2.logsf(6 * np.log(2), 1), max(-chi2.logsf(16 * np.log(2), 2), -chi2.logsf(6 * np.log(2), 1))]
    assert mixed == pytest.approx(expected)


def test_one_variable_has_the_p_value_of_scipy():
    """All 70 divisions of eight donors, with the gain itself as the statistic."""
    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1], 4)
    x = rng.normal(size=8) + labels
    codes = np.zeros(8, dtype=np.int64)
    codes[4:] = 1

    def gain(first, second, axis=-1):
        values = np.concatenate([first, second])
        classes = np.repeat([0, 1], [len(first), len(second)])
        found = interplay.max_information_gain(
            np.stack([values, values], axis=1), classes, dimensions=1, divisions=2, engine="cpu"
        )
        return float(found.gain[0])

    expected = permutation_test((x[:4], x[4:]), gain, permutation_type="independent", alternative="greater",
                                n_resamples=np.inf, vectorized=False)  # fmt: skip
    counts = StepDown(np.array([gain(x[:4], x[4:])]))
    for relabeled in exchangeability(codes).relabelings(199, stream_of):
        counts.see(np.array([gain(x[relabeled == 0], x[relabeled == 1])]))
    assert counts.n_seen == 69
    assert counts.p_adjusted()[0] == pytest.approx(expected.pvalue)


def test_very_many_groups_that_keep_their_labels():
    """Sizes 1 to 600, all different, of one class each but the last: only its samples change places."""
    sizes = np.arange(1, 601)
    groups = np.repeat(np.arange(600), sizes)
    codes = groups % 2
    codes[-600:] = 0
    codes[-1] = 1
    allowed = exchangeability(codes, groups=groups)
    assert allowed.n_relabelings == 600
    found = list(islice(allowed.relabelings(2000, stream_of), 3))
    assert len({relabeled.tobytes() for relabeled in found}) == 3
    assert all((relabeled[:-600] == codes[:-600]).all() for relabeled in found)


def test_counting_orders():
    assert multinomial([3, 2, 1]) == 60 == len(list(distinct_orders([0, 0, 0, 1, 1, 2])))
    assert multinomial([500_000, 1]) == 500_001
    assert multinomial([500_000, 500_000]) == np.inf


def test_p_values_are_those_of_multtest():
    """R's multtest 2.54, mt.maxT(x, y, test = "t.equalvar", side = "abs", B = 0): all 924 divisions of 6 and 6 samples.

    Of two levels and classes of equal sizes, the gain grows with |t|.
    """
    columns = ["000000111011", "000010100111", "100010100101", "010010001101", "100100110010", "100100011010",
               "001100101001", "111010000010"]  # fmt: skip
    X = np.array([[int(value) for value in column] for column in columns]).T
    raw, adjusted = [14, 224, 924, 924, 924, 924, 924, 224], [104, 794, 924, 924, 924, 924, 924, 794]
    found = interplay.select(
        X, np.repeat([0, 1], 6), dimensions=1, permutations=True, n_permutations=1000, level=0.999, random_state=0
    )
    assert len(found.null_fit.permuted_max) == 923
    assert found.p_value == pytest.approx(np.array(raw) / 924)
    assert found.p_adjusted == pytest.approx(np.array(adjusted) / 924)


class TestGroupsInOrder:
    """Labels of groups whose samples have an order: what may become of them is listed by hand."""

    def found(self, codes, groups, order, **given):
        allowed = exchangeability(np.array(codes), groups=np.array(groups), order=np.array(order), **given)
        every = {tuple(relabeled.tolist()) for relabeled in allowed.relabelings(10**6, stream_of)} | {tuple(codes)}
        assert allowed.n_relabelings == len(every)
        stream = np.random.RandomState(0)
        counts = dict.fromkeys(every, 0)
        for _ in range(1500):
            relabeled = np.array(codes)
            for block in allowed.blocks:
                relabeled[block.samples] = block.draw(stream)
            counts[tuple(relabeled.tolist())] += 1
        assert len(every) > 100 or chisquare(list(counts.values())).pvalue > 1e-3
        return allowed, every

    def test_before_and_after_swap(self):
        allowed, every = self.found([0, 0, 1, 0, 1], [0, 0, 0, 1, 1], range(5))
        assert allowed.kind == "in order"
        assert every == {(*a, *b) for a in [(0, 0, 1), (1, 1, 0)] for b in [(0, 1), (1, 0)]}

    def test_other_labels_are_read_backwards_and_groups_of_one_size_exchanged(self):
        _, every = self.found([0, 2, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1], range(6))
        assert every == {
            (*one, *other) for a in [(0, 2, 1), (1, 2, 0)] for one, other in [(a, (0, 1, 0)), ((0, 1, 0), a)]
        }

    def test_groups_at_other_times_are_not_exchanged(self):
        codes, groups = [0, 1, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 2, 2, 2]
        same = self.found(codes, groups, [1, 2, 3] * 3)[1]
        others = self.found(codes, groups, [1, 2, 3, 2, 3, 4, 1, 2, 3])[1]
        assert others < same

    def test_order_is_not_that_of_rows(self):
        _, every = self.found([1, 0, 0, 0], [0, 0, 0, 1], [3, 1, 2, 1])
        assert every == {(1, 0, 0, 0), (0, 1, 1, 0)}

    def test_few_long_groups_are_shifted(self):
        codes = np.random.default_rng(0).integers(0, 2, 90)
        allowed, every = self.found(codes.tolist(), np.repeat([0, 1], [44, 46]), np.arange(90))
        assert (allowed.kind, len(every)) == ("shifted", 4 * 44 * 46)
        assert (*np.roll(codes[:44], 3), *codes[44:][::-1]) in every

    def test_strata_are_flipped_together(self):
        _, every = self.found([0, 1, 1, 0, 0], [0] * 4 + [1], range(5), strata=np.array([0, 0, 1, 1, 0]))
        assert every == {(0, 1, 1, 0, 0), (1, 0, 0, 1, 0)}

    def test_renamed_classes_are_counted(self):
        allowed = exchangeability(np.tile([0, 0, 1, 1], 5), groups=np.repeat(np.arange(5), 4), order=np.arange(20))
        assert (allowed.n_relabelings, allowed.smallest_p(99)) == (32, 2 / 32)


class TestOrderIsSeen:
    def groups_of(self, X, y, groups):
        table = as_table(X)
        return in_order(make_groups(groups, n_samples=len(X)), table, np.asarray(y))

    def test_visits(self):
        rng = np.random.default_rng(0)
        groups, y = np.repeat(np.arange(12), 8), np.tile([0, 0, 0, 0, 1, 1, 1, 1], 12)
        walks = rng.normal(size=(12, 8, 30)).cumsum(axis=1).reshape(96, 30)
        assert self.groups_of(walks, y, groups).order is not None
        assert self.groups_of(walks, rng.permutation(y), groups).order is None
        assert self.groups_of(rng.normal(size=(96, 30)), y, groups).order is None
        assert self.groups_of(walks, groups % 2, groups).order is None

    def test_families(self):
        rng = np.random.default_rng(1)
        seen = [
            self.groups_of(
                np.repeat(rng.normal(size=(40, 20)), 4, axis=0) + rng.normal(size=(160, 20)),
                rng.integers(0, 2, 160),
                np.repeat(np.arange(40), 4),
            ).order
            is not None
            for _ in range(20)
        ]
        assert sum(seen) <= 3

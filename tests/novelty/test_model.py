from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.packing import packed

FEATURES = st.lists(st.integers(0, 99), min_size=1, max_size=40).map(packed)


@settings(max_examples=settings().max_examples // 10)
@given(st.lists(st.tuples(FEATURES, st.floats(0, 1)), max_size=30), FEATURES)
def test_expectation_is_a_share(examples, asked):
    """Whatever is learned, what is expected lies between 0 and 1."""
    model = OnlineModel(prior=0.5)
    for features, share in examples:
        model.learn(features, share)
    assert 0 <= model.expect(asked) <= 1


def test_shares_are_learned_as_graded():
    """What brings a third each time is expected to bring a third."""
    model = OnlineModel(prior=0.9)
    for _ in range(200):
        model.learn(packed((1, 2, 3)), 1 / 3)
    assert abs(model.expect(packed((1, 2, 3))) - 1 / 3) < 0.02


def test_old_evidence_decays():
    """A site that changes is followed, however long and however mixed it was otherwise before."""
    model = OnlineModel(prior=0.5)
    for number in range(20_000):
        model.learn(packed((1, 2)), float(number % 2))
    for _ in range(50):
        model.learn(packed((1, 2)), 0.0)
    assert model.expect(packed((1, 2))) < 0.1


def test_what_was_good_once_and_brings_nothing_comes_down_as_fast_where_little_is_expected():
    """It is halved in as many pages each time, though one says ever less of what is rare anyway."""
    model = OnlineModel(prior=0.2)
    for _ in range(100):
        model.learn(packed(range(40)), 0.3)
    halved = []
    for bound in (0.1, 0.05, 0.025, 0.0125):
        halved.append(0)
        while model.expect(packed(range(40))) > bound:
            model.learn(packed(range(40)), 0.0)
            halved[-1] += 1
    assert max(halved) <= 20


def test_what_is_learned_of_a_shared_feature_holds_for_others():
    """A kind that was never fetched starts from what its features brought elsewhere."""
    model = OnlineModel(prior=0.6)
    for number in range(10, 40):
        model.learn(packed((1, 2, 3, number)), 0.0)
    assert model.expect(packed((1, 2, 3, 99))) < 0.2 < model.expect(packed((4, 5, 6, 99)))


def test_what_is_known_is_counted_on_before_what_was_never_tried():
    """Of as much that is expected; what is known to be worse comes after it all the same."""
    model = OnlineModel(prior=0.2)
    known, worse, never = packed((1, 2)), packed((3, 4)), packed((5, 6))
    for _ in range(20):
        model.learn(known, 0.2)
        model.learn(worse, 0.05)
    counted = model.count_on([worse, never, known])
    assert counted == sorted(counted)
    assert counted[-1] < model.expect(known)


def test_mean_is_expected_and_not_what_the_last_few_examples_brought():
    """Three short pages of a kind that mostly has long ones are no reason to leave it."""
    model = OnlineModel(prior=0.2)
    for share in (0.5,) * 7 + (0.1,) * 3:
        model.learn(packed((1, 2, 3)), share)
    assert abs(model.expect(packed((1, 2, 3))) - 0.38) < 0.06


def test_what_is_learned_again_makes_nothing_surer():
    """One page, however often it is rehearsed, leaves as much room for the next as once."""
    model = OnlineModel(prior=0.5)
    model.learn(packed((1, 2)), 0.9)
    known = [*model.known]
    for _ in range(100):
        model.learn(packed((1, 2)), 0.9, again=True)
    assert [*model.known] == known
    before = model.expect(packed((1, 2)))
    model.learn(packed((1, 2)), 0.0)
    assert before - model.expect(packed((1, 2))) > 0.3


def test_kinds_that_have_most_features_in_common_are_distinguished():
    """One that is fetched often, and brings little, does not take with it one that brings much."""
    model = OnlineModel(prior=0.2)
    common = range(20)
    for number in range(48):
        model.learn(packed((*common, 101)), 0.1)
        if number % 8 == 0:
            model.learn(packed((*common, 102)), 0.4)
    assert model.expect(packed((*common, 102))) > 2 * model.expect(packed((*common, 101)))

from scrapy_urlcanon.novelty import rehearsal
from scrapy_urlcanon.novelty.features import Features, UrlFeatures
from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.packing import packed
from scrapy_urlcanon.novelty.rehearsal import Rehearsal

COMMON = tuple(range(10))
RARE, FREQUENT = (Features(packed([kind]), packed([kind, *COMMON])) for kind in (100, 101))


def test_rare_shape_is_not_forgotten_for_what_it_has_in_common_with_a_frequent_one():
    """It brought what was expected, so nothing was learned; then what is common lost its worth."""
    model = OnlineModel(prior=0.6)
    alone = OnlineModel(prior=0.6)
    learn = Rehearsal(model).learn
    learn(RARE, 0.6)
    alone.learn(RARE.all, 0.6)
    for _ in range(300):
        learn(FREQUENT, 0.0)
        alone.learn(FREQUENT.all, 0.0)
    assert alone.expect(RARE.all) < 0.1
    assert model.expect(RARE.all) > 0.5
    assert model.expect(FREQUENT.all) < 0.1


def test_more_is_learned_again_in_the_beginning(monkeypatch):
    """There each example moves far what is expected of all others; later one is enough."""
    monkeypatch.setattr(rehearsal, "_YOUNG", 20)
    model = OnlineModel(prior=0.6)
    learned = []
    monkeypatch.setattr(model, "learn", lambda features, *_, **__: learned.append(features[0]))
    teacher = Rehearsal(model)
    teacher.learn(RARE, 0.6)
    for _ in range(40):
        teacher.learn(FREQUENT, 0.0)
    assert len(learned) == 1 + 19 * (1 + 3) + 21 * (1 + 1)


def test_shape_that_changes_is_followed():
    """What it brought before is learned again a few times, and not for ever."""
    model = OnlineModel(prior=0.6)
    learn = Rehearsal(model).learn
    for share in (1.0, 0.0):
        for _ in range(50):
            learn(RARE, share)
    assert model.expect(RARE.all) < 0.1


def test_memory_does_not_grow(monkeypatch):
    """Of very many shapes those that were rehearsed longest ago are forgotten."""
    monkeypatch.setattr(rehearsal, "_SHAPES", 20)
    teacher = Rehearsal(OnlineModel(prior=0.6))
    for number in range(500):
        for _ in range(6):
            teacher.learn(Features(packed([number]), packed([number, *COMMON])), 0.5)
    assert len(teacher.examples) == 20
    assert max(map(len, teacher.examples.values())) <= 4


def test_kind_is_learned_from_its_first_pages():
    """When they began to wait, what tells their kind was rare; later ones profit, and no others."""
    features = UrlFeatures()
    urls = {
        kind: [f"http://a.example/{kind}.{name}.html" for name in "abcdefgh"]
        for kind in ("class", "method")
    }
    first, *_, last = map(features.of, urls["class"])
    *_, other = map(features.of, urls["method"])
    model = OnlineModel(prior=0.2)
    learn = Rehearsal(model).learn
    for _ in range(3):
        learn(first, 1.0, features.renewed(urls["class"][0], first))
    assert model.expect(last.all) > model.expect(other.all) + 0.05
    assert model.expect(first.all) > 0.5


def test_renewed_features_make_nothing_surer():
    """They are the same example: another one moves as far as if it had been learned once."""
    once, again = OnlineModel(prior=0.6), OnlineModel(prior=0.6)
    Rehearsal(once).learn(RARE, 1.0)
    Rehearsal(again).learn(RARE, 1.0, FREQUENT.all)
    assert again.known == once.known
    assert again.expect(FREQUENT.all) > once.expect(FREQUENT.all)


def test_what_is_learned_again_makes_nothing_surer():
    """It is one example, however often it is rehearsed beside others."""
    model = OnlineModel(prior=0.6)
    learn = Rehearsal(model).learn
    one, other = (Features(packed([kind]), packed([kind])) for kind in (1, 2))
    learn(one, 1.0)
    known, expected = model.known[1], model.expect(one.all)
    for _ in range(20):
        learn(other, 0.0)
    assert model.known[1] == known
    assert model.expect(one.all) > expected

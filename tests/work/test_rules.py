"""A file of rules is strict, and says where and how it is wrong."""

import textwrap

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.work import read_rules
from agenttrace.work.rules import REST, REST_WITHOUT_ROOT


@pytest.fixture
def rules_of(tmp_path):
    def write(text):
        path = tmp_path / "rules.yaml"
        path.write_text(textwrap.dedent(text))
        return read_rules(path)

    return write


def test_a_rule_has_all_that_the_file_says(rules_of):
    (rule,) = rules_of(
        """
        observe:
          - name: quality
            project: shop-*
            where: tag:checkout -status:error
            scorers:
              - Loop
              - Budget: {calls: 3}
              - {type: Loop, display_name: sound}
            sample: 0.25
            rest: 5
            rest_without_root: 60
            timeout: 10
        """
    )
    assert [scorer.name for scorer in rule.scorers][-1] == "sound"
    assert len(rule.scorers) == 3
    assert (rule.name, rule.projects, str(rule.where)) == (
        "quality",
        ("shop-*",),
        "tag:checkout -status:error",
    )
    assert (rule.sample, rule.rest, rule.rest_without_root, rule.timeout) == (0.25, 5, 60, 10)


def test_what_a_rule_leaves_out_has_defaults(rules_of):
    (rule,) = rules_of("observe: [{name: a, scorers: [Loop]}]")
    assert (rule.projects, rule.sample, rule.rest) == (("*",), 1, REST)
    assert rule.rest_without_root == REST_WITHOUT_ROOT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "wanted a mapping with the key observe"),
        ("observe: []", "there are no rules"),
        ("observe: [{scorers: [Loop]}]", "'name' is missing"),
        ("observe: [{name: a, scorers: []}]", "a rule needs scorers"),
        ("observe: [{name: a, scorers: [Lopp]}]", "did you mean"),
        ("observe: [{name: a, scorer: [Loop]}]", "unknown key 'scorer'; did you mean 'scorers'"),
        ("observed: [{name: a}]", "did you mean 'observe'"),
        ("observe: [{name: a, scorers: [Loop], sample: 2}]", "wanted a share from 0 to 1"),
        ("observe: [{name: a, scorers: [Loop], rest: -1}]", "wanted seconds"),
        ("observe: [{name: a, scorers: [Loop], rest: soon}]", "'soon'"),
        ("observe: [{name: a, scorers: [Loop], where: 'dur>fast'}]", "fast"),
        ("observe: [{name: a, scorers: [ToolOrder]}]", "expected_tools"),
        ("observe: [{name: a, scorers: [Loop]}, {name: a, scorers: [Loop]}]", "two rules"),
        ("observe: [{name: a, scorers: [{Budget: {calls: '{{ sample.x }}'}}]}]", "takes no template"),
        ("observe: [{name: a, scorers: ['nosuch:x']}]", "nosuch"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(rules_of, text, message):
    with pytest.raises(DatasetError) as caught:
        rules_of(text)
    assert message in str(caught.value)
    assert "rules.yaml" in str(caught.value)


def test_the_sample_is_decided_by_the_trace(rules_of):
    def rule(share):
        return rules_of(f"observe: [{{name: a, scorers: [Loop], sample: {share}}}]")[0]

    ids = [f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128):032x}" for number in range(2_000)]
    small, large = ({i for i in ids if rule_.asks_for("p", i)} for rule_ in (rule(0.25), rule(0.5)))
    assert small < large
    assert 400 < len(small) < 600
    assert {i for i in ids if rule(0).asks_for("p", i)} == set()


def test_the_digest_says_whether_scores_would_be_the_same(rules_of):
    def digest(text):
        return rules_of(f"observe: [{{name: a, {text}}}]")[0].digest

    plain = digest("scorers: [Loop]")
    assert plain == digest("scorers: [Loop], sample: 0.5, rest: 1")
    assert plain != digest("scorers: [Loop], where: 'tag:x'")
    assert plain != digest("scorers: [{Loop: {threshold: 0.25}}]")

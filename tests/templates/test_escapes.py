"""Templates see JSON data and nothing else: no payload reaches an attribute, a function or another file."""

# ruff: noqa: E501 - a case a line

import pytest

from agenttrace.templates import Template
from agenttrace.templates.template import TemplateTrouble

SAMPLE = {
    "text": "a text",
    "number": 3,
    "calls": ["search", "refund"],
    "tools": [{"name": "search"}, {"name": "refund"}],
    "nested": {"deep": {"er": [1, 2]}},
}
UNDERSCORES = (
    "__class__",
    "__mro__",
    "__init__",
    "__globals__",
    "__subclasses__",
    "__builtins__",
    "__dict__",
)
REACHED = (
    "<class",
    "<function",
    "object at 0x",
    "<built-in",
    "builtins",
    "<module",
    "<slot",
    "bound method",
    "root:",
)

PAYLOADS = [
    *(f"{{{{ sample.{name} }}}}" for name in UNDERSCORES),
    *(f"{{{{ sample['{name}'] }}}}" for name in UNDERSCORES),
    *(f"{{{{ sample.text.{name} }}}}" for name in UNDERSCORES[:3]),
    *(f"{{{{ ''['{name}'] }}}}" for name in UNDERSCORES[:3]),
    "{{ sample | attr('__class__') }}",
    "{{ '' | attr('__class__') | attr('__mro__') }}",
    "{{ sample.calls | map('attr', '__class__') | list }}",
    "{{ sample.calls | map(attribute='__class__') | list }}",
    "{{ sample.calls | map(attribute='__class__.__mro__') | list }}",
    "{{ sample.tools | map(attribute='__init__.__globals__') | list }}",
    "{{ sample.tools | selectattr('__class__') | list }}",
    "{{ sample.tools | sort(attribute='__class__') }}",
    "{{ sample.tools | groupby('__class__') }}",
    "{{ sample.tools | sum(attribute='__class__', start=0) }}",
    "{{ sample.tools | unique(attribute='__class__') | list }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ [].__class__.__base__.__subclasses__() }}",
    "{{ ().__class__.__bases__[0] }}",
    "{{ {}.__class__ }}",
    "{{ (1).__class__ }}",
    "{{ ''['__cl' ~ 'ass__'] }}",
    "{{ sample['__cl' + 'ass__'] }}",
    "{{ sample[['__class', '__'] | join] }}",
    "{{ ''['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ '{0.__class__}'.format(sample) }}",
    "{{ '{0.__class__.__init__.__globals__}' | format(sample) }}",
    "{{ '%s' | format(sample.__class__) }}",
    "{{ '{a.__class__}'.format_map({'a': 1}) }}",
    "{% set f = 'x'.format %}{{ f(1) }}",
    "{{ ('{0.__class__}'|string).format(1) }}",
    "{% set x = sample.text.join %}{{ x([1]) }}",
    "{{ sample.text.upper() }}",
    "{{ sample.items() }}",
    "{{ sample.update({'a': 1}) }}",
    "{{ sample.calls.append('x') }}",
    "{{ sample.calls.sort }}",
    "{{ self }}",
    "{{ self.__init__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ cycler(1, 2) }}",
    "{{ joiner.__init__.__globals__.os }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ namespace(a=1).__class__ }}",
    "{{ namespace['__init__'] }}",
    "{{ range.__class__ }}",
    "{{ range['__class__'] }}",
    "{{ dict.__mro__ }}",
    "{{ dict['__mro__'] }}",
    "{{ dict(a=1).__class__ }}",
    "{{ lipsum }}",
    "{{ lipsum.__globals__.os.popen('id').read() }}",
    "{{ config }}",
    "{{ request.application.__globals__ }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ url_for.__globals__ }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ __builtins__ }}",
    "{{ _ }}",
    "{{ open('/etc/passwd').read() }}",
    "{{ eval('1') }}",
    "{{ loop }}",
    "{% for x in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% for x in [1] %}{{ loop['__init__'] }}{% endfor %}",
    "{% for x in [1] %}{{ loop._iterable }}{% endfor %}",
    "{% for x in [1] %}{{ loop.cycle('a') }}{% endfor %}",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "{% for g in sample.tools | groupby('name') %}{{ g.__class__ }}{{ g._fields }}{% endfor %}",
    "{% for g in sample.tools | groupby('name') %}{{ g['__class__'] }}{{ g['_make'] }}{% endfor %}",
    "{% set ns = namespace() %}{% set ns.__class__ = 1 %}{{ ns }}",
    "{% macro m() %}{{ caller }}{% endmacro %}{{ m.__globals__ }}",
    "{% call sample() %}{% endcall %}",
    "{% with a = ''.__class__ %}{{ a }}{% endwith %}",
    "{% filter attr('__class__') %}x{% endfilter %}",
    "{{ sample | xmlattr }}",
    "{{ sample | pprint }}",
    "{{ sample.tools | tojson | attr('__class__') }}",
    "{{ (sample.tools | tojson).__html__ }}",
    "{{ sample.missing.__class__ }}",
    "{{ sample.missing._undefined_message }}",
    "{{ 'a' is sameas('a') }}{{ ''.__class__ is callable }}",
    "{{ sample is callable }}",
    "{{ sample.calls | map('map') | list }}",
    "{{ sample.nested.deep.er | map('string') | map('attr', '__doc__') | list }}",
    "{% autoescape true %}{{ ''.__class__ }}{% endautoescape %}",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_reaches_anything_but_its_data(payload):
    try:
        value = Template.parse(payload).render(sample=SAMPLE)
    except TemplateTrouble:
        return
    assert not any(sign in str(value) for sign in REACHED), value


def test_the_corpus_has_as_many_payloads_as_the_page_says():
    assert len(set(PAYLOADS)) >= 62


@pytest.mark.parametrize("payload", [one for one in PAYLOADS if ".__" in one and "map(" not in one])
def test_a_name_that_begins_with_an_underscore_is_refused_before_anything_is_rendered(payload):
    with pytest.raises(TemplateTrouble):
        Template.parse(payload)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% include 'other.j2' %}", "the tag 'include' is not allowed"),
        ("{% include ['a', 'b'] ignore missing %}", "the tag 'include' is not allowed"),
        ("{% import 'other.j2' as other %}", "the tag 'import' is not allowed"),
        ("{% from 'other.j2' import x %}", "the tag 'from … import' is not allowed"),
        ("{% extends 'base.j2' %}", "the tag 'extends' is not allowed"),
        ("{% block a %}{% endblock %}", "the tag 'block' is not allowed"),
        ("{% macro m() %}{% endmacro %}", "the tag 'macro' is not allowed"),
        ("{{ sample.text | uper }}", "there is no filter 'uper'; did you mean 'upper'?"),
        ("{{ sample.text | urlize }}", "there is no filter 'urlize'"),
        ("{{ sample.text is strin }}", "there is no test 'strin'; did you mean 'string'?"),
        ("{{ sampel.text }}", "there is no 'sampel'; a template sees sample, such as sample.sampel"),
        (
            "{{ sample.text.upper() }}",
            r"upper\(\) cannot be called: data has no methods; write the filter, \| upper",
        ),
        ("{{ lipsum(5) }}", r"lipsum\(\) cannot be called"),
        ("{% raise 'x' %}", "Encountered unknown tag 'raise'"),
        ("{{ sample.text", "unexpected end of template"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "nested too deeply|unexpected"),
        ("x" * 64_001 + "{{ sample }}", "it has 64,013 characters, at most 64,000 are read"),
    ],
)
def test_what_is_not_allowed_is_an_error_when_the_template_is_read(source, message):
    with pytest.raises(TemplateTrouble, match=message):
        Template.parse(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ sample.txt }}", "there is no 'txt'; did you mean 'text'?"),
        ("{{ sample.number.real }}", "there is no 'real', which int has none of"),
        ("{{ sample.calls[7] }}", "there is no '7'"),
        ("{{ sample.number + sample.text }}", "unsupported operand"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ sample.tools | map(attribute='name') }}", r"still to be made; end it with \| list"),
        ("a{{ sample.nothing }}", "there is no 'nothing'"),
    ],
)
def test_what_is_undefined_is_an_error_when_it_is_rendered(source, message):
    with pytest.raises(TemplateTrouble, match=message):
        Template.parse(source).render(sample=SAMPLE)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{ sample.calls }}", ["search", "refund"]),
        ("{{ sample.tools | map(attribute='name') | list }}", ["search", "refund"]),
        ("{{ sample.number + 1 }}", 4),
        ("{{ sample.number > 2 }}", True),
        ("{{ sample.nested }}", {"deep": {"er": [1, 2]}}),
        ("{{ none }}", None),
        ("n={{ sample.number }}", "n=3"),
        ('["{{ sample.calls[0] }}"]', '["search"]'),
        (
            "{% for c in sample.calls %}{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "search, refund",
        ),
        ("calls: {{ sample.calls }}", 'calls: ["search", "refund"]'),
        ("{{ sample.missing | default('x') }}", "x"),
        (
            "{% set n = namespace(k=0) %}{% for c in sample.calls %}{% set n.k = n.k + 1 %}{% endfor %}k{{ n.k }}",
            "k2",
        ),
        ("{% for key, value in sample.nested.deep | items %}{{ key }}={{ value }}{% endfor %}", "er=[1, 2]"),
        (
            "{% for group in sample.tools | groupby('name') %}{{ group.grouper }};{% endfor %}",
            "refund;search;",
        ),
        ("{{ '<b>' }}", "<b>"),
    ],
)
def test_one_expression_gives_its_value_and_anything_else_a_text(source, value):
    assert Template.parse(source).render(sample=SAMPLE) == value


def test_keys_of_data_go_before_the_names_of_methods():
    sample = {"items": [1], "keys": "k", "get": {"values": 2}}
    assert Template.parse("{{ [sample.items, sample.keys, sample.get.values] }}").render(sample=sample) == [
        [1],
        "k",
        2,
    ]


def test_a_template_cannot_change_its_sample():
    sample = {"calls": ["a"]}
    with pytest.raises(TemplateTrouble):
        Template.parse("{{ sample.calls.append('b') }}").render(sample=sample)
    with pytest.raises(TemplateTrouble):
        Template.parse("{% set sample.calls = 1 %}{{ sample }}").render(sample=sample)
    assert sample == {"calls": ["a"]}

import sys

import click
import pytest

from agenttrace.cli.loading import load_function


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    (tmp_path / "shop.py").write_text(
        "class Agent:\n"
        "    def run(self, prompt): return 'ran ' + prompt\n"
        "    @staticmethod\n"
        "    def still(): return 'still'\n"
        "agent = Agent()\n"
        "LIMIT = 3\n"
        "def answer(): return 42\n"
    )
    (tmp_path / "lacks_library.py").write_text("import not_installed_anywhere\n")
    yield
    sys.modules.pop("shop", None)


def test_a_function_of_a_module_in_the_working_directory():
    assert load_function("shop:answer")() == 42


def test_a_method_of_an_instance_and_a_static_method():
    assert load_function("shop:agent.run")("x") == "ran x"
    assert load_function("shop:Agent.still")() == "still"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shop", "wanted package.module:function"),
        ("shop.agent", "wanted package.module:function, with a colon between; did you mean 'shop:agent'"),
        ("shop:", "wanted package.module:function"),
        (":answer", "wanted package.module:function"),
        ("shopp:answer", "there is no module 'shopp'"),
        ("shop:anwser", "did you mean 'answer'"),
        ("shop:LIMIT", "'LIMIT' is an int, which cannot be called"),
        ("shop:Agent.run", "is a method of a class; name one of an instance"),
    ],
)
def test_what_names_no_function_says_why(text, said):
    with pytest.raises(click.BadParameter, match=said):
        load_function(text)


def test_a_module_that_lacks_a_library_says_which():
    with pytest.raises(
        click.BadParameter, match=r"'lacks_library' cannot be imported.*'not_installed_anywhere'"
    ):
        load_function("lacks_library:x")


@pytest.mark.parametrize("ending", ["raise SystemExit", "raise SystemExit(0)", "raise SystemExit('done')"])
def test_a_module_that_ends_the_process_is_no_run_that_passed(tmp_path, monkeypatch, ending):
    (tmp_path / "script.py").write_text(f"def agent(): pass\n{ending}\n")
    monkeypatch.delitem(sys.modules, "script", raising=False)
    with pytest.raises(click.BadParameter, match="'script' ends the process when it is imported"):
        load_function("script:agent")

"""Evaluations and datasets of one project, kept in one store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.protocols import Scorer, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.datasets.dataset import EvalDataset, row_of
from agenttrace.evaluation import assert_test, assert_test_async, run_evaluation, run_evaluation_async
from agenttrace.evaluation.requirement import Require
from agenttrace.evaluation.run import EvaluationOptions
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import Redact, redaction_of
from agenttrace.runs.baseline import Baseline
from agenttrace.scoring.redacted import redacted_example
from agenttrace.store import open_store

PROJECT = "default"


class Client:
    """Evaluations and datasets of one project, kept in one store; no account, no key, no network.

    `store` is a path, a `Store`, or None for ``AGENTTRACE_STORE`` or ``./.agenttrace/traces.db``. With
    ``store="https://host"`` and the `token` of its pages it is that of a service (``agenttrace serve``), and
    everything here does the same. Results go to the store and project of the `tracer` where one is given, so
    that they stand beside the traces.

    Raises:
        ConfigError: the store cannot be opened, or `token` is for none that is opened here.
    """

    def __init__(
        self,
        project_name: str = PROJECT,
        *,
        store: str | Path | Store | None = None,
        token: str | None = None,
    ) -> None:
        if not isinstance(project_name, str) or not project_name:
            raise ConfigError(f"project_name is a non-empty string, got {project_name!r}")
        self.project_name = project_name
        if store is None or isinstance(store, str | Path):
            self.store: Store = open_store(store, token=token)
        elif token is not None:
            raise ConfigError("token= is for a service's store by address; this store is open already")
        else:
            self.store = store
        self._warnings = SaidOnce()

    def run_evaluation(
        self,
        examples: Iterable[Example],
        scorers: Iterable[Scorer],
        **options: Unpack[EvaluationOptions],
    ) -> EvaluationReport:
        """Do as the function `run_evaluation` does, in this project and store."""
        return run_evaluation(examples, scorers, **self._complete(options))

    def assert_test(
        self,
        examples: Iterable[Example] | None = None,
        scorers: Iterable[Scorer] = (),
        *,
        test_file: str | Path | None = None,
        require: Require = None,
        baseline: Baseline | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> EvaluationReport:
        """Do as the function `assert_test` does, in this project and store."""
        __tracebackhide__ = True
        return assert_test(
            examples,
            scorers,
            test_file=test_file,
            require=require,
            baseline=baseline,
            **self._complete(options),
        )

    async def run_evaluation_async(
        self,
        examples: Iterable[Example],
        scorers: Iterable[Scorer],
        **options: Unpack[EvaluationOptions],
    ) -> EvaluationReport:
        """Do as the function `run_evaluation_async` does, in this project and store."""
        return await run_evaluation_async(examples, scorers, **self._complete(options))

    async def assert_test_async(
        self,
        examples: Iterable[Example] | None = None,
        scorers: Iterable[Scorer] = (),
        *,
        test_file: str | Path | None = None,
        require: Require = None,
        baseline: Baseline | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> EvaluationReport:
        """Do as the function `assert_test_async` does, in this project and store."""
        __tracebackhide__ = True
        return await assert_test_async(
            examples,
            scorers,
            test_file=test_file,
            require=require,
            baseline=baseline,
            **self._complete(options),
        )

    def _complete(self, options: EvaluationOptions) -> EvaluationOptions:
        """Return the options with this client's store and project where neither they nor a tracer set
        them.
        """
        if options.get("tracer") is not None:
            return options
        own: EvaluationOptions = {"store": self.store, "project_name": self.project_name}
        explicit = {name: value for name, value in options.items() if value is not None or name == "timeout"}
        return {**own, **explicit}  # type: ignore[typeddict-item]  # the keys are those of the options

    def push_dataset(
        self,
        alias: str,
        dataset: EvalDataset | Iterable[Example],
        project_name: str | None = None,
        *,
        redact: Redact = None,
    ) -> int:
        """Store a dataset under a name, and return its version, counted from 1.

        Pushing the same data again makes no new version. Examples keep their ids.

        Args:
            alias: The name.
            dataset: The examples.
            project_name: The project, by default the client's.
            redact: What is taken out of what is stored, as of a `Tracer`: by default what looks like a
                secret, which is logged. With ``"off"``, `pull_dataset` returns the data unchanged.

        Raises:
            ConfigError: `redact` is nothing of that.
            DatasetError: a value has no file form.
            StoreError: the name is empty, or the store cannot be written.
        """
        redaction = redaction_of(redact)
        data = dataset if isinstance(dataset, EvalDataset) else EvalDataset(dataset)
        content = {
            "platform_fields": redaction.fields(jsonable(data.platform_fields)),
            "examples": [redacted_example(row_of(one, place), redaction) for place, one in enumerate(data)],
        }
        if redaction.redacted:
            count = redaction.redacted
            text = f"{count} values of the dataset {alias!r} were redacted; "
            text += "push_dataset(redact='off') keeps them"
            self._warnings.warn(f"redacted {alias!r}", text)
        return self.store.save_dataset(alias, project_name or self.project_name, content)

    def pull_dataset(
        self, alias: str, project_name: str | None = None, *, version: int | None = None
    ) -> EvalDataset:
        """Return the newest version of a dataset, or the version given.

        Raises:
            StoreError: the project has no dataset of this name and version.
        """
        project = project_name or self.project_name
        content = self.store.load_dataset(alias, project, version)
        if content is None:
            which = "" if version is None else f" version {version}"
            raise StoreError(f"the project {project!r} has no dataset {alias!r}{which}; push it first")
        dataset = EvalDataset(Example.from_dict(row) for row in content["examples"])
        dataset.platform_fields = content["platform_fields"]
        return dataset

"""Copies what a store holds to another one: nothing twice, however often it is begun again."""

from agenttrace.store.copying.copied import Copied, CopiedKinds
from agenttrace.store.copying.stores import copy_store

__all__ = ["Copied", "CopiedKinds", "copy_store"]

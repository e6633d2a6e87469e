"""Raw counts that carry a mark, so that no code outside the mechanisms can look at them.

`Secret` arrays come out of a watched engine. Arithmetic, comparisons, indexing and numpy's
functions work on them and give secrets again; whatever would let one out raises `Tainted`:
turning one into a Python number or a truth (so any branch, loop bound or list index), asking
for the length of one whose length the data decides (`Hidden`: keys of occupied groups, what a
secret condition selects), and handing one to a sink. Sinks are the path ledger, the routing of
records, the public arguments of a mechanism, and the release. The mechanisms of
`hedgerow.privacy` unwrap their confidential arguments and answer in plain arrays.

Plain arrays would lose the mark when a secret is written into them or used as their index, so
the modules under watch get a numpy whose new arrays are `Carrier`s: public, but aware.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from hedgerow.model.engine import SparseCounts
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from support.exact_transcripts import DOORS, doors

WATCHED = (
    "hedgerow.model.groups",
    "hedgerow.model.baskets",
    "hedgerow.model.sequences",
    "hedgerow.trees.",
    "hedgerow.methods.",
    "hedgerow.disclosure.private.",
)


class Tainted(AssertionError):
    """A raw count was looked at outside of the mechanisms."""


class _Zone:
    """Whether code runs inside a mechanism, where raw values may be looked at."""

    open = False


@contextmanager
def _inside() -> Iterator[None]:
    before, _Zone.open = _Zone.open, True
    try:
        yield
    finally:
        _Zone.open = before


def _guard(what: str) -> None:
    if not _Zone.open:
        raise Tainted(f"a raw value was {what} outside of the mechanisms")


class Carrier(np.ndarray):
    """A public array that notices when something secret is put into it or picks from it."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        kind = kind_of([*inputs, *kwargs.values()])
        if out is not None:
            kwargs["out"] = tuple(bare(each) for each in out)
        result = getattr(ufunc, method)(*bare(inputs), **bare(kwargs))
        if method == "at":
            _mark(inputs[0], kind)
            return None
        if out is not None:
            for each in out:
                _mark(each, kind)
            return out[0]
        return wrapped(result, kind)

    def __array_function__(self, func, types, args, kwargs):
        return _called(func, args, kwargs)

    def __getitem__(self, key):
        kind = kind_of([self, key])
        if kind is not Carrier and _selects(key):
            kind = Hidden
        return wrapped(self.view(np.ndarray)[bare(key)], kind)

    def __setitem__(self, key, value):
        self.view(np.ndarray)[bare(key)] = bare(value)
        _mark(self, kind_of([key, value]))

    def sort(self, *args, **kwargs):
        self.view(np.ndarray).sort(*args, **kwargs)


class Secret(Carrier):
    """An array of raw values, of a public length."""

    def __bool__(self):
        _guard("used as a truth")
        return bool(self.view(np.ndarray))

    def __int__(self):
        _guard("turned into a whole number")
        return int(self.view(np.ndarray))

    def __float__(self):
        _guard("turned into a number")
        return float(self.view(np.ndarray))

    def __index__(self):
        _guard("used as an index")
        return int(self.view(np.ndarray))

    def item(self, *args):
        _guard("taken out of its array")
        return self.view(np.ndarray).item(*args)

    def tolist(self):
        _guard("turned into a list")
        return self.view(np.ndarray).tolist()

    def __repr__(self):
        return "Secret()"

    __str__ = __repr__


class Hidden(Secret):
    """An array of raw values whose very length is raw."""

    def __len__(self):
        _guard("counted")
        return len(self.view(np.ndarray))

    @property
    def size(self):
        _guard("counted")
        return self.view(np.ndarray).size

    @property
    def shape(self):
        _guard("measured")
        return self.view(np.ndarray).shape

    def __iter__(self):
        _guard("gone through")
        return iter(self.view(np.ndarray))


SELECTING = {np.flatnonzero, np.nonzero, np.unique, np.argwhere, np.extract, np.compress}
"""What they return is as long as the values decide."""


def _selects(key) -> bool:
    """Whether an index picks as many entries as its own values say."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(
        isinstance(part, Hidden)
        or (isinstance(part, Secret) and part.view(np.ndarray).dtype == np.bool_)
        for part in parts
    )


def kind_of(values) -> type:
    """Return the most secret kind of anything in nested values."""
    kind: type = Carrier
    for value in values:
        if isinstance(value, Hidden):
            return Hidden
        if isinstance(value, Secret):
            kind = Secret
        elif isinstance(value, list | tuple):
            inner = kind_of(value)
            if inner is Hidden:
                return Hidden
            kind = inner if inner is Secret else kind
    return kind


def bare(value):
    """Return nested values with plain arrays in place of marked ones."""
    if isinstance(value, Carrier):
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        return type(value)(bare(each) for each in value)
    if isinstance(value, Mapping):
        return {name: bare(each) for name, each in value.items()}
    return value


def wrapped(value, kind: type):
    """Return results with the mark, numbers as arrays without an axis where they are secret."""
    if isinstance(value, np.ndarray):
        return value.view(kind)
    if isinstance(value, np.generic) and kind is not Carrier:
        return np.asarray(value).view(Secret)
    if isinstance(value, tuple | list):
        return type(value)(wrapped(each, kind) for each in value)
    return value


def _called(function, args, kwargs):
    """Return what one of numpy's functions gives, as secret as what it was given."""
    kind = kind_of([*args, *kwargs.values()])
    if kind is not Carrier and function in SELECTING:
        kind = Hidden
    return wrapped(function(*bare(args), **bare(kwargs)), kind)


def _mark(target, kind: type) -> None:
    """Make an array that something secret was written into secret; its length stays public."""
    if kind is Carrier or _Zone.open:
        return
    if not isinstance(target, Carrier):
        raise Tainted("a raw value was written into an array that cannot carry the mark")
    if not isinstance(target, Secret):
        target.__class__ = Secret


FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(np.concatenate))


class _Numpy(types.ModuleType):
    """numpy, but new arrays are carriers."""

    def __getattr__(self, name):
        found = getattr(np, name)
        if not isinstance(found, FUNCTIONS):
            return found

        @functools.wraps(found)
        def carrying(*args, **kwargs):
            return _called(found, args, kwargs)

        return carrying


# Doors, sinks and the engine.


def _public(*values) -> None:
    if not _Zone.open and kind_of(values) is not Carrier:
        raise Tainted("a raw value was given where a public one belongs")


CONFIDENTIAL = {"counts", "scores", "keys", "blocks"}


def _door(original: Callable) -> Callable:
    @functools.wraps(original)
    def door(*args, **kwargs):
        for name, value in kwargs.items():
            if name == "spending":
                _public(value.nodes)
            elif name not in CONFIDENTIAL:
                _public(value)
        for block in args[0] if original.__name__ == "noisy_sparse_blocks" else ():
            _public(block.n_groups, block.threshold)
        with _inside():
            answer = original(*(_plain(each) for each in args), **bare(kwargs))
        return public_of(answer)

    return door


def _plain(value):
    if isinstance(value, list) and value and isinstance(value[0], mechanisms.CellBlock):
        return [
            dataclasses.replace(block, keys=bare(block.keys), counts=bare(block.counts))
            for block in value
        ]
    return bare(value)


def public_of(value):
    """Return nested results of a mechanism as public carriers."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray).view(Carrier)
    if isinstance(value, tuple | list):
        return type(value)(public_of(each) for each in value)
    return value


class WatchedLedger(PathLedger):
    """A path ledger that takes public numbers only."""

    def branch(self, parents, counts):
        _public(parents, counts)
        return super().branch(bare(parents), bare(counts)).view(Carrier)

    def spend(self, share, *, on, nodes=0):
        _public(share, nodes)
        return super().spend(share, on=on, nodes=bare(nodes))

    def spend_rest(self, *, on, nodes=0):
        _public(nodes)
        return super().spend_rest(on=on, nodes=bare(nodes))

    def left(self, nodes=0):
        _public(nodes)
        return super().left(bare(nodes))


class Watched:
    """An engine, a level of placed records or a walk, whose sums are secret."""

    def __init__(self, held):
        self._held = held

    def __getattr__(self, name):
        found = getattr(self._held, name)
        if not callable(found) or name == "taxonomy":
            return found

        def asked(*args, **kwargs):
            _public(*_leaves(args), *_leaves(kwargs))
            with _inside():
                answer = found(*(_unwrapped(each) for each in args), **bare(kwargs))
            return secret_of(answer, name)

        return asked


def secret_of(answer, name):
    if isinstance(answer, SparseCounts):
        return SparseCounts(keys=answer.keys.view(Hidden), counts=answer.counts.view(Hidden))
    if isinstance(answer, np.ndarray):
        return answer.view(Secret)
    if isinstance(answer, dict):
        return {key: secret_of(value, name) for key, value in answer.items()}
    if isinstance(answer, Iterator):
        return ((key, secret_of(value, name)) for key, value in answer)
    if isinstance(answer, int):
        return np.asarray(answer).view(Secret)
    return answer if answer is None else Watched(answer)


def _leaves(value):
    """Yield the arrays and numbers in nested values and dataclasses."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = list(vars(value).values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _unwrapped(value):
    """Return a kernel, a question or an order with plain arrays."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {name: _unwrapped(each) for name, each in vars(value).items()}
        return dataclasses.replace(value, **fields)
    return bare(value)


def check_public(released) -> None:
    """Raise if anything in a release carries the mark."""
    for value in _leaves(released):
        if isinstance(value, Secret):
            raise Tainted("a raw value is in the release")


def _zone(owner, name: str, still_secret=None) -> tuple[object, str, Callable]:
    """Return a function that may see raw values; what leaves it is public, or marked again."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def zone(*args, **kwargs):
        with _inside():
            answer = original(*args, **kwargs)
        return _published(answer) if still_secret is None else still_secret(answer)

    return owner, name, zone


def _published(answer):
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        fields = {name: public_of(bare(each)) for name, each in vars(answer).items()}
        return dataclasses.replace(answer, **fields)
    return public_of(answer)


def _forget(modules) -> None:
    """Empty the caches of modules: what they keep must not go in or out of the watch."""
    for module in modules:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@contextmanager
def watched(zones=()) -> Iterator[None]:
    """Watch the modules of methods: numpy, the doors, and zones that belong to a mechanism."""
    numpy = _Numpy("numpy")
    modules = [m for n, m in sys.modules.items() if n.startswith(WATCHED) and hasattr(m, "np")]
    changed = [(module, "np", numpy) for module in modules]
    changed += [_zone(*zone) for zone in zones]
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in changed]
    _forget(modules)
    for owner, name, new in changed:
        setattr(owner, name, new)
    try:
        with doors({name: _door(getattr(mechanisms, name)) for name in DOORS}):
            yield
    finally:
        for owner, name, old in originals:
            setattr(owner, name, old)
        _forget(modules)

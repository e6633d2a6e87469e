"""The confidential data opened: read, encoded, and held by the engine that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hedgerow.count.settings import DEFAULT_MEMORY, EngineSettings
from hedgerow.model.engine import BasketEngine, Engine
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.progress import Progress


def open_engine(
    schema: Schema,
    data: Any,
    *,
    query: str | None,
    base: Path,
    settings: EngineSettings,
    report: Progress,
) -> Engine:
    """Return an engine that holds the confidential table as codes; close it after use."""
    if settings.kind == "spark":
        from hedgerow.count.spark.table import open_spark_table

        return open_spark_table(schema, data, query=query, base=base, settings=settings)
    from hedgerow.read.open import open_table

    source = open_table(data, query=query, base=base)
    if settings.kind == "memory":
        from hedgerow.count.memory.table import MemoryEngine
        from hedgerow.encode.table import encode_table

        table = encode_table(source, schema, progress=lambda share: report("reading", share))
        return MemoryEngine(table=table)
    from hedgerow.count.stream.scratch import Scratch
    from hedgerow.count.stream.table import StreamEngine

    scratch = Scratch(settings.scratch)
    try:
        memory = settings.memory or DEFAULT_MEMORY
        return StreamEngine.read(source, schema, scratch=scratch, memory=memory, report=report)
    except BaseException:
        scratch.close()
        raise


def open_basket_engine(
    universe: Universe,
    data: Any,
    *,
    query: str | None,
    base: Path,
    settings: EngineSettings,
    report: Progress,
) -> BasketEngine:
    """Return an engine that holds the confidential baskets as codes; close it after use."""
    if settings.kind == "spark":
        from hedgerow.count.spark.baskets import open_spark_baskets

        return open_spark_baskets(universe, data, query=query, base=base, settings=settings)
    from hedgerow.read.items import open_items

    source = open_items(data, universe.place, query=query, base=base)
    if settings.kind == "memory":
        from hedgerow.count.memory.baskets import BasketMemory
        from hedgerow.encode.baskets import encode_baskets

        baskets = encode_baskets(source, universe, progress=lambda share: report("reading", share))
        return BasketMemory(baskets=baskets)
    from hedgerow.count.stream.baskets import BasketStream
    from hedgerow.count.stream.scratch import Scratch

    scratch = Scratch(settings.scratch)
    try:
        memory = settings.memory or DEFAULT_MEMORY
        return BasketStream.read(source, universe, scratch=scratch, memory=memory, report=report)
    except BaseException:
        scratch.close()
        raise

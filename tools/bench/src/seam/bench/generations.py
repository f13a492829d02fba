"""Publishing a generation of 300 plugins and 1,000 tools, and a reload that touches one plugin."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence

import anyio

from seam.bench.report import Row, Subject, compared, median, run_subjects


def measure(smoke: bool) -> Sequence[Row]:
    """Median of several full publishes, and of reloads that touch one plugin."""
    plugins, tools, rounds = (30, 100, 1) if smoke else (300, 1000, 5)
    rows: list[Row] = []
    for backend in ("asyncio", "trio"):
        full, one = anyio.run(_rounds, plugins, tools, rounds, backend=backend)
        rows.append(
            Row(
                f"publish {plugins} plugins, {tools} tools, per plugin ({backend})",
                full / plugins * 1e6,
                "us",
            )
        )
        rows.append(
            compared(
                f"reload that touches one plugin ({backend})",
                one * 1e3,
                "ms",
                "full publish",
                full * 1e3,
                at_most=0.05,
            )
        )
    return rows


async def _rounds(plugins: int, tools: int, rounds: int) -> tuple[float, float]:
    from pydantic import BaseModel

    from seam.host._blueprint import Blueprint
    from seam.host._control import GenerationControl
    from seam.host._generation import Generation
    from seam.host._prepare import PreparedCandidate, Preparer
    from seam.host._slots import RowPlugin
    from seam.kernel import Context, Kernel, NoConfig, Plugin
    from seam.tools_def import Agent, effects, tool
    from seam.tools_runtime import runtime

    def offering(number: int, version: int) -> RowPlugin:
        async def set_up(ctx: Context, config: BaseModel) -> AsyncIterator[None]:
            for index in range(number, tools, plugins):

                @tool(name=f"tool_{index}", effects=effects())
                async def work(a: int, b: str = "") -> int:
                    """Do nothing."""
                    return a

                ctx.contribute(work)
            yield

        plugin = Plugin[BaseModel](
            name=f"plugin{number}",
            requires=(),
            optional=(),
            provides=(),
            config=NoConfig,
            set_up=set_up,
            module=__name__,
            doc="",
        )
        return RowPlugin(table=f"consume.p{number}", plugin=plugin, config={}, distribution=str(version))

    async def note(topic: str, text: str, data: dict[str, object]) -> None:
        return

    agents = (Agent(name="default", workspace="/"),)
    base = RowPlugin(table="implement.tools", plugin=runtime, config={}, distribution="1")  # pyright: ignore[reportArgumentType]

    async def publish(control: GenerationControl, preparer: Preparer, versions: Sequence[int]) -> float:
        listing = tuple(offering(number, version) for number, version in enumerate(versions))
        blueprint = Blueprint(agents=agents, base=(base, *listing))

        async def prepare(published: Generation | None, number: int) -> PreparedCandidate:
            return await preparer(blueprint, published, number)

        started = time.perf_counter()
        await control.replace(prepare)
        return time.perf_counter() - started

    full: list[float] = []
    single: list[float] = []
    for _ in range(rounds):
        async with Kernel() as kernel, anyio.create_task_group() as tasks:
            control = GenerationControl(note, drain=1)
            control.run_in(tasks)
            preparer = Preparer(kernel.root, {}, timeout=60)
            full.append(await publish(control, preparer, [0] * plugins))
            single.append(await publish(control, preparer, [1] + [0] * (plugins - 1)))
            await control.stop(budget=5)
    return median(full), median(single)


SUBJECT = Subject("generations", "publish and reload", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))

"""The first step: what would this command do, decided by the executor and told in the shared vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seam.exec_def import ExecRequest, ExecSpec, OutputWindow, ShellExecutor
from seam.exec_tool._config import ShellToolConfig
from seam.exec_tool._parameters import ShellParameters
from seam.sandbox_def import ModeForbidden, Widening, WideningRefused
from seam.tools_def import Action, CallContext, CallRefusal, Resolution, Widen
from seam.tools_def import Run as RunAction

WideningState = Literal["granted", "already satisfied"]


@dataclass(frozen=True)
class ShellPlan:
    """What `run` needs: the executor's spec, and how to run it."""

    spec: ExecSpec
    background: bool
    title: str
    widening: WideningState | None


def resolve_shell(
    executor: ShellExecutor, config: ShellToolConfig, parameters: ShellParameters, context: CallContext
) -> Resolution:
    """Decide everything; nothing has happened afterwards.

    Raises:
        CallRefusal: wider permissions were asked for without saying why.
        ExecError: the executor refuses the request; the class says why.
    """
    wish, state = _widening(executor, parameters)
    spec = _decide(
        executor,
        ExecRequest(
            command=parameters.command,
            workspace=context.agent.workspace,
            workdir=parameters.workdir,
            timeout=parameters.timeout,
            # a job is read by one cursor, so it has one stream
            streams="merged" if parameters.background or config.on_timeout == "hand_over" else None,
            output=OutputWindow(head=config.head_bytes, tail=config.tail_bytes, spill=config.spill_bytes),
            widening=wish,
        ),
    )
    return Resolution.trusted(
        # as in the spec's canonical form, which differs for standard input only, and this tool gives none
        subject={
            "background": parameters.background,
            "spec": spec.model_dump(mode="json", exclude={"output"}),
        },
        actions=_actions(spec, wish),
        deadline=config.start_deadline if parameters.background else spec.limits.return_by,
        summary=_summary(parameters, spec, wish),
        plan=ShellPlan(spec, parameters.background, parameters.description or parameters.command, state),
    )


def _decide(executor: ShellExecutor, request: ExecRequest) -> ExecSpec:
    try:
        return executor.resolve(request)
    except (WideningRefused, ModeForbidden) as refusal:
        # what the sandbox's policy forbids is a refusal, not a failure
        raise CallRefusal("sandbox_policy", refusal.message, code=refusal.code) from refusal


def _widening(
    executor: ShellExecutor, parameters: ShellParameters
) -> tuple[Widening | None, WideningState | None]:
    if parameters.permissions is None:
        return None, None
    if not executor.facts.confines:
        return None, "already satisfied"
    if not (parameters.justification or "").strip():
        raise CallRefusal(
            "exec-tool", "asking for wider permissions needs a justification; say why this call needs them"
        )
    return Widening(mode=parameters.permissions, why=parameters.justification or ""), "granted"


def _actions(spec: ExecSpec, wish: Widening | None) -> tuple[Action, ...]:
    run = RunAction.trusted(dialect=spec.dialect, text=spec.command, argv=spec.argv, workdir=spec.workdir)
    if wish is None:
        return (run,)
    return (run, Widen(mode=wish.mode, why=wish.why))


def _summary(parameters: ShellParameters, spec: ExecSpec, wish: Widening | None) -> str:
    lines = [parameters.description] if parameters.description else []
    lines.append(f"{spec.dialect} in {spec.workdir}:")
    lines += [f"  {line}" for line in spec.command.splitlines()]
    if parameters.background:
        lines.append("in the background, until it is stopped")
    lines.append(f"sandbox: {spec.isolation.mode}")
    if wish is not None:
        lines.append(f"asks for {wish.mode}: {wish.why}")
    return "\n".join(lines)

"""What a model reads of a result: a head line, the output, and notes that say what to do next. Bounded as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from seam.exec_def import ExecResult, StreamOutput

CUT = "\n[... {left} characters left out ...]\n"


def render(result: ExecResult, *, job: str | None, limit: int) -> str:
    """The text of a result, at most `limit` characters: the notes are kept whole, the output gives way."""
    head = _headline(result, job)
    notes = "\n".join(_notes(result))
    body = "\n".join(part for part in _streams(result) if part)
    room = max(limit - len(head) - len(notes) - 2, 0)
    return bounded("\n".join(part for part in (head, bounded(body, room), notes) if part), limit)


def bounded(text: str, limit: int) -> str:
    """The text, or its head and tail with a statement of what is missing between them."""
    if len(text) <= limit:
        return text
    mark = CUT.format(left=len(text) - limit + len(CUT))
    room = max(limit - len(mark), 0)
    head = room // 3
    return (text[:head] + mark + text[len(text) - (room - head) :])[:limit]


def _headline(result: ExecResult, job: str | None) -> str:
    seconds = f"{result.times.run:.1f} s"
    if result.handed_over:
        return f"Still running after {seconds}; it goes on as job {job}. What it wrote so far:"
    match result.cause:
        case "exited":
            return f"Exit code {result.exit_code} ({seconds})"
        case "signalled":
            return f"Ended by signal {result.signal} ({seconds}); no limit of this call ended it."
        case "timed_out":
            return f"Timed out after {result.limits.timeout:g} s and was ended, with all its processes{_late_exit(result)}."
        case "idle":
            return f"Ended after {result.limits.idle_timeout:g} s without output{_late_exit(result)}."
        case "aborted" if result.ended_by == "cancellation":
            return f"Cancelled after {seconds}; what it wrote by then:"
        case "aborted":
            return f"Aborted after {seconds}{_late_exit(result)}."
        case "lost":
            return f"Lost: {result.lost_reason or 'the world where it ran cannot be reached'}. Whether it finished is unknown."


def _late_exit(result: ExecResult) -> str:
    # a command that traps the polite signal still has an exit code of its own, a fact that explains its last output
    return f" (it then exited with {result.exit_code})" if result.exit_code is not None else ""


def _streams(result: ExecResult) -> Iterator[str]:
    if result.stderr is None:
        yield _body(result.stdout)
        return
    yield _body(result.stdout)
    errors = _body(result.stderr)
    if errors:
        yield f"[stderr]\n{errors}"


def _body(stream: StreamOutput) -> str:
    return stream.text.removesuffix("\n")


def _notes(result: ExecResult) -> Iterator[str]:
    if not result.stdout.total and not (result.stderr and result.stderr.total):
        yield "[no output]"
    for stream in (result.stdout, result.stderr):
        if stream is not None:
            yield from _stream_notes(stream)
    if result.limits.asked_timeout is not None:
        yield f"[the timeout of {result.limits.asked_timeout:g} s was lowered to the maximum of {result.limits.timeout:g} s]"
    yield from _process_notes(result)
    yield from _denial_notes(result)
    yield from (f"[{failure.hook} failed: {failure.error}]" for failure in result.hook_failures)


def _stream_notes(stream: StreamOutput) -> Iterator[str]:
    if "spill_limit" in stream.losses or "spill_failed" in stream.losses:
        kept = (
            f"its first {stream.spill_size} bytes are in {stream.spill_path}"
            if stream.spill_path
            else "no file holds it"
        )
        yield f"[the output of {stream.total} bytes is not complete on disk either: {kept}]"
    if stream.decode_losses:
        yield f"[{stream.decode_losses} bytes or sequences were not UTF-8 and are shown as \ufffd]"
    if stream.masked:
        yield f"[{stream.masked} secret values were masked]"


def _process_notes(result: ExecResult) -> Iterator[str]:
    for fate, sentence in (
        (
            "ended",
            "still running when the command was over, and ended; to keep a process running, use background=true",
        ),
        ("kept", "still running, kept until this session ends"),
        ("escaped", "still running, out of reach; it could not be ended"),
    ):
        found = [
            f"{survivor.name} (pid {survivor.pid})" for survivor in result.survivors if survivor.fate == fate
        ]
        if found:
            yield f"[{', '.join(found)}: {sentence}]"
    if not result.drain.clean and not result.handed_over:
        holders = (
            ", ".join(f"{process.name} (pid {process.pid})" for process in result.drain.held_by)
            or "an unknown process"
        )
        yield f"[output was not read to its end: {holders} kept it open]"


def _denial_notes(result: ExecResult) -> Iterator[str]:
    denials = result.sandbox.denials
    for denial in denials:
        sure = "denied" if denial.certainty == "confirmed" else "probably denied"
        yield f"[the sandbox ({result.sandbox.mode}) {sure} {denial.operation} {denial.target}: {denial.rule}]"
    if denials:
        yield "[to ask for wider access for one call, call again with permissions and a justification]"

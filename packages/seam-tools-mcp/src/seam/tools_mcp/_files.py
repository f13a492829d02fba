"""Reading the files that outcomes point at, bounded."""

from __future__ import annotations

import base64
from pathlib import Path

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from seam.tools_def import Resource


async def read_file(
    uri: str, item: Resource, limit: int
) -> types.TextResourceContents | types.BlobResourceContents:
    """The beginning of the file, as text where it is text; a cut is said in `_meta`."""
    try:
        data, size = await anyio.to_thread.run_sync(_read, Path(item.path), limit)
    except OSError as error:
        raise MCPError(
            types.INVALID_PARAMS,
            f"{item.path} cannot be read any more ({error.strerror}); its job or session may be over",
        ) from error
    meta = {"seam/size": size, "seam/cut": size > len(data)}
    if item.media_type.startswith("text/"):
        text = data.decode("utf-8", "replace")
        return types.TextResourceContents(uri=uri, mime_type=item.media_type, text=text, _meta=meta)
    return types.BlobResourceContents(
        uri=uri, mime_type=item.media_type, blob=base64.b64encode(data).decode("ascii"), _meta=meta
    )


def _read(path: Path, limit: int) -> tuple[bytes, int]:
    with path.open("rb") as file:
        data = file.read(limit)
        return data, file.seek(0, 2)

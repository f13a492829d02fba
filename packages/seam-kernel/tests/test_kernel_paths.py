"""Which fields of a configuration are paths that start at the deployment."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from seam.kernel import DeploymentPath, WatchedPath, deployment_paths


class Config(BaseModel):
    journal: DeploymentPath
    folder: DeploymentPath | None = None
    skills: WatchedPath = Path("skills")
    renamed: DeploymentPath = Field(default=Path("x"), alias="re-named")
    plain: Path = Path("y")
    number: int | None = None


def test_paths_are_found_also_where_they_are_optional_or_renamed() -> None:
    found = {name: mark.watched for name, mark in deployment_paths(Config).items()}
    assert found == {"journal": False, "folder": False, "skills": True, "re-named": False}

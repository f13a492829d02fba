"""Jobs: what goes on after the call that started it has returned. Key `jobs`."""

from seam.jobs_def._errors import (
    JobEnded,
    JobError,
    NotDurable,
    NotWritable,
    RegistryClosed,
    TooManyJobs,
    UnknownJob,
)
from seam.jobs_def._registry import JobProducer, JobRegistry, Revive, job_ended
from seam.jobs_def._values import JobEnd, JobInfo, JobNotice, JobOutput, JobOwner, JobState

__all__ = [
    "JobEnd",
    "JobEnded",
    "JobError",
    "JobInfo",
    "JobNotice",
    "JobOutput",
    "JobOwner",
    "JobProducer",
    "JobRegistry",
    "JobState",
    "NotDurable",
    "NotWritable",
    "RegistryClosed",
    "Revive",
    "TooManyJobs",
    "UnknownJob",
    "job_ended",
]

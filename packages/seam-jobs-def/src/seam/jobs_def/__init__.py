"""Jobs: what goes on after the call that started it has returned. Key `jobs`."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
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
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "_errors": "JobEnded JobError NotDurable NotWritable RegistryClosed TooManyJobs UnknownJob",
            "_registry": "JobProducer JobRegistry Revive job_ended",
            "_values": "JobEnd JobInfo JobNotice JobOutput JobOwner JobState",
        },
    )

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

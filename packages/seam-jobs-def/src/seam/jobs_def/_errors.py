"""Errors of jobs."""

from __future__ import annotations

from seam.kernel import SeamError


class JobError(SeamError):
    """Root of the errors of seam-jobs-def."""

    code = "JOB_ERROR"
    retryable = "no"


class UnknownJob(JobError):
    """No job of this id belongs to the owner; another session's jobs do not exist for it. Facts: `id`."""

    code = "UNKNOWN_JOB"


class JobEnded(JobError):
    """The job is over; nothing can be sent to it. Facts: `id`."""

    code = "JOB_ENDED"


class NotWritable(JobError):
    """The producer takes no input. Facts: `id`."""

    code = "JOB_NOT_WRITABLE"


class TooManyJobs(JobError):
    """The owner has as many running jobs as the registry permits. Facts: `limit`."""

    code = "TOO_MANY_JOBS"


class RegistryClosed(JobError):
    """The registry is being disposed, or the owner was ended. Facts: `owner`."""

    code = "JOB_REGISTRY_CLOSED"


class NotDurable(JobError):
    """The producer cannot outlive the host, or the registry keeps no records. Facts: `reason`."""

    code = "JOB_NOT_DURABLE"

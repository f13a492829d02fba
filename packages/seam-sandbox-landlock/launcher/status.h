/* What seam-confine tells: facts on the status descriptor, and that it cannot go on. */
#ifndef SEAM_STATUS_H
#define SEAM_STATUS_H

#include "system.h"

static int status_fd = -1;

static void say(const char *text, word size)
{
    if (status_fd >= 0) call3(__NR_write, status_fd, text, size); /* a reader that is gone has nobody to be told */
}

static void report(const char *what, const char *step, int value)
{
    char line[160], *at = put(line, what);
    if (step) at = put(put(at, " "), step);
    at = put(put_number(put(at, " "), (unsigned)value), "\n");
    say(line, (word)(at - line));
}

/* `error` is what the kernel answered: a number below zero. */
static _Noreturn void fail(const char *step, long error)
{
    report("failed", step, (int)-error);
    leave(125);
}

static long sure(const char *step, long answer)
{
    if (answer < 0) fail(step, answer);
    return answer;
}

static void *memory(word size)
{
    void *found = room(size);
    if (!found) fail("memory", -ENOMEM);
    return found;
}

#endif

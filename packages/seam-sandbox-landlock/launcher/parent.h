/* Signals, and what the parent of a command does: it reaps, tells how the command ended and who is left. */
#ifndef SEAM_PARENT_H
#define SEAM_PARENT_H

#include <linux/fcntl.h>

#include "status.h"

/* as the kernel has them (dirent.h, signal.h) */
struct entry { u64 inode; long long offset; unsigned short size; unsigned char type; char name[]; };
struct action { word handler, flags, restorer, mask; };
enum { BY_DEFAULT = 0, IGNORED = 1, SIGNALS = 64 };

static void set_signal(int which, word handler)
{
    struct action action = { .handler = handler };
    call4(__NR_rt_sigaction, which, &action, 0, 8); /* SIGKILL and SIGSTOP cannot be set, and need not */
}

static void reset_signals(void)
{
    word none = 0;
    call4(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &none, 0, 8);
    for (int which = 1; which <= SIGNALS; which++) set_signal(which, BY_DEFAULT);
}

static void ignore_polite_signals(void)
{
    static const char polite[] = { 1 /* HUP */, 2 /* INT */, 3 /* QUIT */, 15 /* TERM */ };
    for (word at = 0; at < sizeof polite; at++) set_signal(polite[at], IGNORED);
}

/* Name a process, if it is alive. */
static void report_survivor(int pid)
{
    char path[40], text[300], line[360];
    put(put_number(put(path, "/proc/"), (unsigned)pid), "/stat");
    long fd = call4(__NR_openat, HERE, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return;
    long n = call3(__NR_read, fd, text, sizeof text - 1);
    call1(__NR_close, fd);
    if (n <= 0) return;
    text[n] = 0;
    char *name = find(text, '('), *end = find_last(text, ')');
    if (!name || !end || end[2] == 'Z') return;
    *end = 0;
    for (char *c = ++name; *c; c++)
        if (*c == '\n') *c = '?';
    char *at = put(put(put(put_number(put(line, "survivor "), (unsigned)pid), " "), name), "\n");
    say(line, (word)(at - line));
}

/* Name the processes that are alive beside this one; they end with it, as it is the first of its namespace. */
static void report_survivors(void)
{
    char entries[4096] __attribute__((aligned(8)));
    long folder = call4(__NR_openat, HERE, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n;
    if (folder < 0) return;
    while ((n = call3(__NR_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            struct entry *entry = (struct entry *)(entries + at);
            int pid = (int)number(entry->name, 10, 0);
            if (pid > 1) report_survivor(pid);
            at += entry->size;
        }
    call1(__NR_close, folder);
}

/* Parent of the command: reap everything, tell how the command ended and who is left, exit like it. */
static _Noreturn void stay(long child, int survivors)
{
    int how;
    for (int fd = 0; fd < 3; fd++) call1(__NR_close, fd);
    for (;;) {
        long gone = call4(__NR_wait4, -1, &how, 0, 0);
        if (gone == -EINTR) continue;
        if (gone < 0) leave(125);
        if (gone == child) break;
    }
    if (survivors) report_survivors();
    int by = how & 0x7f, code = how >> 8 & 0xff;
    if (by) report("signal", 0, by);
    else report("exit", 0, code);
    leave(by ? 128 + by : code);
}

#endif

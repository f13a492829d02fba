/* seam-launcher: starts commands for one host process and owns their trees.
 *
 * One server per host, one supervisor per command. The server forks a spare supervisor before it is needed; a spare
 * takes the next order off the socket, starts the command with vfork, and stays its parent and child subreaper:
 * whatever the command leaves behind (setsid, double fork, a killed parent) is handed to it by the kernel, so no
 * descendant can leave, and a pid that it signals cannot have been reused. It talks to the host over a control socket
 * of its own, with the records of `struct event` and `struct request`. When the host is gone, however it died, each
 * supervisor kills its tree (unless it is detached). Should somebody kill a supervisor, its tree falls to the server,
 * which is a subreaper as well, and kills it.
 *
 * Arguments: SOCKET HOST, the descriptor of the order socket (SOCK_SEQPACKET) and the process id of the host.
 *
 * No libc: the start of a static one costs more than everything this program does, and every page that a supervisor
 * does not have is one that a fork need not copy. Linux only; system calls by number for x86_64 and aarch64.
 */

#include <asm/ioctls.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/wait.h>

typedef unsigned long word;

/* ---- system calls ------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long call(long n, word a, word b, word c, word d, word e, word f)
{
    long result;
    register word r10 __asm__("r10") = d;
    register word r8 __asm__("r8") = e;
    register word r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
}
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call enter\n");
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long call(long n, word a, word b, word c, word d, word e, word f)
{
    register long x8 __asm__("x8") = n;
    register word x0 __asm__("x0") = a;
    register word x1 __asm__("x1") = b;
    register word x2 __asm__("x2") = c;
    register word x3 __asm__("x3") = d;
    register word x4 __asm__("x4") = e;
    register word x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
    return (long)x0;
}
__asm__(".globl _start\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n b enter\n");
#else
#error "no system call convention for this machine; the Python spawn server is used instead"
#endif

#define call0(n) call(n, 0, 0, 0, 0, 0, 0)
#define call1(n, a) call(n, (word)(a), 0, 0, 0, 0, 0)
#define call2(n, a, b) call(n, (word)(a), (word)(b), 0, 0, 0, 0)
#define call3(n, a, b, c) call(n, (word)(a), (word)(b), (word)(c), 0, 0, 0)
#define call4(n, a, b, c, d) call(n, (word)(a), (word)(b), (word)(c), (word)(d), 0, 0)
#define call5(n, a, b, c, d, e) call(n, (word)(a), (word)(b), (word)(c), (word)(d), (word)(e), 0)

#define HERE (-100) /* AT_FDCWD */
#define READ_ONLY 0
#define WRITE_ONLY 1

struct timespec64 { long long seconds, nanoseconds; };
struct usage { struct { long seconds, microseconds; } user, system; long peak_kib, rest[13]; };
struct action { word handler, flags, restorer, mask; };
struct entry { unsigned long long inode; long long offset; unsigned short size; unsigned char type; char name[]; };

/* The compiler may call these for structures. */
void *memset(void *to, int value, word size)
{
#if defined(__x86_64__)
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
#else
    for (volatile char *p = to; size--; p++) *p = (char)value;
#endif
    return to;
}
void *memcpy(void *to, const void *from, word size)
{
    volatile char *p = to;
    for (const char *q = from; size--; p++, q++) *p = *q;
    return to;
}

/* ---- what is said between host and launcher ------------------------------------------------------------------- */

enum { EVENT_STARTED = 1, EVENT_FAILED = 2, EVENT_EXITED = 3, EVENT_GONE = 4, EVENT_LISTED = 5 };
enum { STAGE_PROCESS = 1, STAGE_DESCRIPTORS = 2, STAGE_DIRECTORY = 3, STAGE_EXECUTE = 4, STAGE_CGROUP = 5, STAGE_TERMINAL = 6 };
enum { REQUEST_TERMINATE = 1, REQUEST_SIGNAL = 2, REQUEST_LIST = 3 };
enum { FACT_LEFT = 1 /* descendants are left */, FACT_ESCALATED = 2 /* SIGKILL was needed */, FACT_UNKNOWN = 4 /* no status */ };
enum {
    FLAG_TERMINAL = 1, /* descriptor 0 is a terminal and becomes the controlling one */
    FLAG_DETACHED = 2, /* the tree outlives the host; SIGTERM ends it with GRACE, SIGQUIT kills it at once */
    FLAG_STORED = 4,   /* the texts are in a file: the last descriptor */
    FLAG_END = 8,      /* a detached leader's survivors are ended, with GRACE, when no host is there to decide */
};

/* An order: this head, PAIRS numbers (what further descriptors become in the command), then texts with a NUL after
 * each: cgroup to create and run in (or empty), working directory, program, ARGC arguments, ENVC environment entries.
 * Descriptors with it: control socket, standard input, output, error, LOG (a file that receives the events too; the
 * control socket again when there is none), then PAIRS further ones. */
struct order { int flags, grace_ms, argc, envc, pairs, size; };

struct event {
    int kind;
    int pid;        /* STARTED: the leader; FAILED: the stage; LISTED: how many there are */
    int status;     /* STARTED: the supervisor; EXITED: wait status; FAILED: errno */
    int facts;      /* EXITED and GONE: of the FACT_ bits */
    long long user_us, system_us, peak_kib;
};
struct request { int kind, value; };
struct listed { int pid; char name[16]; };

#define LIST_MAX 64
#define DESCRIPTORS_MAX 253 /* SCM_MAX_FD */

/* ---- state of a supervisor: one command ----------------------------------------------------------------------- */

static int control, record;          /* control socket; log, or -1 */
static int flags;
static int leader, leader_reaped;
static int left_behind;              /* EXITED said that descendants are left */
static int terminating, escalated;   /* TERM was sent; KILL was sent */
static long long deadline_ms;        /* when TERM becomes KILL */
static const char *cgroup = "";
static volatile int failed_stage, failed_errno; /* written by the vfork child, read by its parent */
static struct { long long user_us, system_us, peak_kib; } used; /* by what was collected of the tree */

/* ---- small things --------------------------------------------------------------------------------------------- */

static int number(const char *text)
{
    int sign = *text == '-' ? -1 : 1, value = 0;
    for (text += *text == '-'; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
    return sign * value;
}

static char *put_text(char *to, const char *from)
{
    while ((*to = *from++)) to++;
    return to;
}

static long long now_ms(void)
{
    struct timespec64 now;
    call2(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, &now);
    return now.seconds * 1000 + now.nanoseconds / 1000000;
}

static _Noreturn void leave(int status)
{
    if (*cgroup) call3(__NR_unlinkat, HERE, cgroup, 0x200 /* AT_REMOVEDIR */);
    call1(__NR_exit_group, status);
    __builtin_unreachable();
}

static void tell(const void *data, word size)
{
    if (record >= 0) call3(__NR_write, record, data, size);
    /* MSG_NOSIGNAL; a host that is gone is noticed by poll, not here */
    if (control >= 0) call5(__NR_sendto, control, data, size, 0x4000, 0);
}

static void tell_event(int kind, int pid, int status, int facts)
{
    struct event event = {kind, pid, status, facts, used.user_us, used.system_us, used.peak_kib};
    tell(&event, sizeof event);
}

/* ---- the tree ------------------------------------------------------------------------------------------------- */

#define TABLE_MAX 65536
static struct { int pid, parent; char ours, dead; char name[16]; } table[TABLE_MAX];
static int table_size;

static void read_entry(int folder, const char *name)
{
    char path[32], text[512], *p, *end, *open = 0, *close = 0;
    put_text(put_text(path, name), "/stat");
    int file = (int)call4(__NR_openat, folder, path, READ_ONLY, 0);
    if (file < 0) return;
    long size = call3(__NR_read, file, text, sizeof text - 1);
    call1(__NR_close, file);
    if (size <= 0 || table_size == TABLE_MAX) return;
    end = text + size;
    *end = 0;
    for (p = text; p < end; p++) { /* the name may hold parentheses: first '(' to last ')' */
        if (*p == '(' && !open) open = p;
        if (*p == ')') close = p;
    }
    if (!open || !close || close + 4 >= end) return;
    table[table_size].pid = number(name);
    table[table_size].dead = close[2] == 'Z' || close[2] == 'X';
    table[table_size].parent = number(close + 4);
    table[table_size].ours = 0;
    int n = 0;
    for (p = open + 1; p < close && n < 15; p++) table[table_size].name[n++] = *p;
    table[table_size].name[n] = 0;
    table_size++;
}

/* Fill the table with every process and mark the descendants of this one; their number, zombies not counted. */
static int scan(void)
{
    char buffer[8192];
    int self = (int)call0(__NR_getpid), count = 0, changed = 1;
    int folder = (int)call4(__NR_openat, HERE, "/proc", READ_ONLY | O_DIRECTORY, 0);
    table_size = 0;
    if (folder < 0) return 0;
    for (;;) {
        long size = call3(__NR_getdents64, folder, buffer, sizeof buffer);
        if (size <= 0) break;
        for (long at = 0; at < size;) {
            struct entry *entry = (struct entry *)(buffer + at);
            if (entry->name[0] >= '1' && entry->name[0] <= '9') read_entry(folder, entry->name);
            at += entry->size;
        }
    }
    call1(__NR_close, folder);
    while (changed) { /* parents are not always listed before their children: repeat until nothing is new */
        changed = 0;
        for (int i = 0; i < table_size; i++) {
            if (table[i].ours) continue;
            int ours = table[i].parent == self;
            for (int j = 0; j < table_size && !ours; j++) ours = table[j].ours && table[j].pid == table[i].parent;
            if (!ours) continue;
            table[i].ours = 1;
            changed = 1;
            count += !table[i].dead;
        }
    }
    return count;
}

static int signal_tree(int signal)
{
    int count = scan();
    for (int i = 0; i < table_size; i++) {
        if (!table[i].ours || table[i].dead) continue;
        call2(__NR_kill, table[i].pid, signal);
        if (signal == SIGTERM) call2(__NR_kill, table[i].pid, SIGCONT); /* a stopped process acts on nothing else */
    }
    return count;
}

static void kill_tree(void)
{
    if (*cgroup) {
        char path[4200];
        put_text(put_text(path, cgroup), "/cgroup.kill");
        int file = (int)call4(__NR_openat, HERE, path, WRITE_ONLY, 0);
        if (file >= 0) {
            call3(__NR_write, file, "1", 1);
            call1(__NR_close, file);
        }
    }
    if (!leader_reaped) call2(__NR_kill, -leader, SIGKILL);
    signal_tree(SIGKILL);
}

static void list_tree(void)
{
    static struct { struct event head; struct listed list[LIST_MAX]; } answer;
    int count = 0;
    scan();
    for (int i = 0; i < table_size && count < LIST_MAX; i++) {
        if (!table[i].ours || table[i].dead) continue;
        answer.list[count].pid = table[i].pid;
        memcpy(answer.list[count].name, table[i].name, 16);
        count++;
    }
    answer.head.kind = EVENT_LISTED;
    answer.head.pid = count;
    tell(&answer, sizeof answer.head + (word)count * sizeof answer.list[0]);
}

/* Collect every child that has ended; true while children are left. */
static int reap(void)
{
    int status, left = 1, leader_status = 0, leader_ended = 0;
    struct usage usage;
    for (;;) {
        long pid = call4(__NR_wait4, -1, &status, WNOHANG, &usage);
        if (pid == 0) break;
        if (pid == -ECHILD) { left = 0; break; }
        /* the sum over the children, each with what it waited for itself: this process serves one command after another */
        used.user_us += usage.user.seconds * 1000000LL + usage.user.microseconds;
        used.system_us += usage.system.seconds * 1000000LL + usage.system.microseconds;
        if (usage.peak_kib > used.peak_kib) used.peak_kib = usage.peak_kib;
        if (pid == leader && !leader_reaped) {
            leader_reaped = leader_ended = 1;
            leader_status = status;
        }
    }
    if (leader_ended) {
        left_behind = left;
        tell_event(EVENT_EXITED, leader, leader_status, (left ? FACT_LEFT : 0) | (escalated ? FACT_ESCALATED : 0));
    }
    return left;
}

/* ---- the start ------------------------------------------------------------------------------------------------ */

struct plan { char **argv, **envp; const char *cwd, *file; const int *given, *targets; int count; };

static _Noreturn void fail(int stage, long result)
{
    failed_stage = stage;
    failed_errno = (int)-result;
    call1(__NR_exit, 127);
    __builtin_unreachable();
}

/* In the vfork child: the parent sleeps and shares its memory until the command is executed. */
static _Noreturn void become(const struct plan *plan)
{
    word nothing = 0;
    long result;
    int beyond = 3, moved[DESCRIPTORS_MAX]; /* of this frame: the parent closes what it was given */
    call0(__NR_setsid);
    if (!(flags & FLAG_DETACHED)) call2(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL); /* should somebody kill the supervisor */
    for (int i = 0; i < plan->count; i++)
        if (plan->targets[i] >= beyond) beyond = plan->targets[i] + 1;
    for (int i = 0; i < plan->count; i++) { /* first out of the way of every target, then into place */
        result = call3(__NR_fcntl, plan->given[i], F_DUPFD_CLOEXEC, beyond);
        if (result < 0) fail(STAGE_DESCRIPTORS, result);
        moved[i] = (int)result;
    }
    for (int i = 0; i < plan->count; i++)
        if ((result = call3(__NR_dup3, moved[i], plan->targets[i], 0)) < 0) fail(STAGE_DESCRIPTORS, result);
    if (flags & FLAG_TERMINAL && (result = call3(__NR_ioctl, 0, TIOCSCTTY, 0)) < 0) fail(STAGE_TERMINAL, result);
    if ((result = call1(__NR_chdir, plan->cwd)) < 0) fail(STAGE_DIRECTORY, result);
    call4(__NR_rt_sigprocmask, SIG_SETMASK, &nothing, 0, sizeof nothing);
    fail(STAGE_EXECUTE, call3(__NR_execve, plan->file, plan->argv, plan->envp));
}

static int start(const struct plan *plan)
{
    struct clone_args how = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};
    int folder = -1;
    if (*cgroup) {
        long made = call3(__NR_mkdirat, HERE, cgroup, 0755);
        folder = (int)call4(__NR_openat, HERE, cgroup, READ_ONLY | O_DIRECTORY | O_CLOEXEC, 0);
        if (made < 0 || folder < 0) {
            failed_stage = STAGE_CGROUP;
            return (int)(made < 0 ? made : folder);
        }
        how.flags |= CLONE_INTO_CGROUP;
        how.cgroup = (word)folder;
    }
    /* clone3 only where it is needed: sandboxes answer it with ENOSYS */
    long pid = *cgroup ? call2(__NR_clone3, &how, sizeof how)
                       : call5(__NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) become(plan);
    if (folder >= 0) call1(__NR_close, folder);
    if (pid < 0) {
        failed_stage = STAGE_PROCESS;
        return (int)pid;
    }
    leader = (int)pid;
    return failed_stage ? -failed_errno : 0;
}

/* ---- spares --------------------------------------------------------------------------------------------------- */

/* A supervisor whose tree has ended is a spare again if it has a seat, which spares the next command its fork, its page
 * faults and the server's attention. Without one (all taken: a burst) it is a spare once, and ends with its tree. */
#define SEATS 8
#define STANDING SEATS
static volatile char *idle; /* shared by all: which seat's holder waits for an order; the last: whether a seatless one does */
static int seat, socket, taken, keep; /* of a supervisor: its seat, what it waits at, where it tells the server; whether it stays */

static int any_idle(void)
{
    __sync_synchronize(); /* a taker marks itself, then looks: of two at once, one sees that nobody is left */
    for (int i = 0; i <= STANDING; i++)
        if (idle[i]) return 1;
    return 0;
}

/* This command is the last of this supervisor. */
static void retire(void)
{
    keep = 0;
    call1(__NR_close, socket);
    call1(__NR_close, taken);
}

/* ---- the watch ------------------------------------------------------------------------------------------------ */

static void terminate(int grace_ms)
{
    long long deadline = now_ms() + grace_ms;
    if (terminating && deadline >= deadline_ms) return;
    deadline_ms = deadline;
    if (grace_ms > 0 && !terminating) {
        if (!leader_reaped) { /* most trees are one group: spare the others the scan */
            call2(__NR_kill, -leader, SIGTERM);
            call2(__NR_kill, -leader, SIGCONT);
        }
        struct timespec64 moment = {0, 5000000};
        word child = 1UL << (SIGCHLD - 1);
        call4(__NR_rt_sigtimedwait, &child, 0, &moment, sizeof child);
        if (reap()) signal_tree(SIGTERM);
    }
    terminating = 1;
}

static void serve(struct request *request)
{
    if (request->kind == REQUEST_TERMINATE) terminate(request->value);
    if (request->kind == REQUEST_SIGNAL && !leader_reaped) call2(__NR_kill, -leader, request->value);
    if (request->kind == REQUEST_LIST) list_tree();
}

/* Until nothing of the tree is left. */
static void watch(int host, int signals, int grace_ms)
{
    struct pollfd watched[4] = {{signals, POLLIN, 0}, {control, POLLIN, 0}, {host, POLLIN, 0}, {keep ? taken : -1, 0, 0}};
    struct request request;
    char waste[128 * 8];
    int pause_ms = 1;
    while (reap()) {
        struct timespec64 limit, *until = 0;
        if (control < 0 && leader_reaped && flags & FLAG_END) terminate(grace_ms);
        if (terminating) {
            long long wait = deadline_ms - now_ms();
            if (wait <= 0) { /* again and again: what is forked between two looks is found by the next */
                escalated = 1;
                kill_tree();
                wait = pause_ms;
                if (pause_ms < 64) pause_ms *= 2;
            }
            limit.seconds = wait / 1000;
            limit.nanoseconds = wait % 1000 * 1000000;
            until = &limit;
        }
        call5(__NR_ppoll, watched, 4, until, 0, 8);
        if (watched[0].revents) {
            /* signalfd records: 128 bytes each, the signal's number first */
            long size = call3(__NR_read, signals, waste, sizeof waste);
            for (long at = 0; at < size; at += 128) {
                int signal = *(int *)(waste + at);
                if (signal != SIGCHLD && flags & FLAG_DETACHED) terminate(signal == SIGTERM ? grace_ms : 0);
            }
        }
        if (watched[1].revents & POLLIN && call3(__NR_read, control, &request, sizeof request) == sizeof request)
            serve(&request);
        else if (watched[1].revents) {
            call1(__NR_close, control);
            control = watched[1].fd = -1;
            if (!(flags & FLAG_DETACHED)) terminate(0);
        }
        if (watched[2].revents) {
            watched[2].fd = -1;
            terminate(0);
        }
        if (watched[3].revents) { /* the server is gone: the host must hear of it at its next order */
            watched[3].fd = -1;
            retire();
        }
    }
    if (!leader_reaped) tell_event(EVENT_EXITED, leader, 0, FACT_UNKNOWN); /* somebody made the kernel reap for us: unknown */
    if (left_behind || terminating) tell_event(EVENT_GONE, leader, 0, escalated ? FACT_ESCALATED : 0);
}

/* ---- orders --------------------------------------------------------------------------------------------------- */

struct message { void *name; unsigned name_size; struct { void *data; word size; } *parts; word count; void *extra; word extra_size; int flags; };
struct extra { word size; int level, type, descriptors[DESCRIPTORS_MAX]; };

static char arena[1 << 18] __attribute__((aligned(16))); /* orders up to here arrive in the message itself */

/* Take one order off the socket; the number of its descriptors, 0 when the host has closed the socket. */
static int receive(int from, struct extra *extra)
{
    struct { void *data; word size; } part = {arena, sizeof arena};
    struct message message = {0, 0, (void *)&part, 1, extra, sizeof *extra, 0};
    long size = call3(__NR_recvmsg, from, &message, 0x40000000 /* MSG_CMSG_CLOEXEC */);
    if (size < (long)sizeof(struct order) || message.extra_size < sizeof(word) + 2 * sizeof(int)) return 0;
    return (int)((extra->size - sizeof(word) - 2 * sizeof(int)) / sizeof(int));
}

static void *map(word size)
{
    long at = call(__NR_mmap, 0, size, 3 /* read, write */, 0x22 /* private, anonymous */, (word)-1, 0);
    return at < 0 && at > -4096 ? 0 : (void *)at;
}

static char **split(char **texts, int count, char **pointers)
{
    for (int i = 0; i < count; i++) {
        *pointers++ = *texts;
        while (**texts) (*texts)++;
        (*texts)++;
    }
    *pointers++ = 0;
    return pointers;
}

/* Take one order and see it through. */
static void supervise(int server, int host, int signals)
{
    struct extra extra;
    struct order *order = (struct order *)arena;
    int count = receive(socket, &extra), *given = extra.descriptors;
    if (!count) call1(__NR_exit_group, 0);
    int self = (int)call0(__NR_getpid), note[2] = {self, order->flags};
    idle[seat] = 0;
    if (!any_idle() || order->flags & FLAG_DETACHED) call3(__NR_write, taken, note, sizeof note);

    control = given[0];
    record = order->flags & FLAG_DETACHED ? given[4] : -1;
    flags = order->flags;
    struct plan plan = {.targets = (int *)(order + 1), .given = given + 5, .count = order->pairs};
    char *texts = (char *)(order + 1) + sizeof(int) * (word)order->pairs;
    if (count < 5 + order->pairs + !!(flags & FLAG_STORED)) { /* MSG_CTRUNC: this process may not have as many */
        tell_event(EVENT_FAILED, STAGE_DESCRIPTORS, EMFILE, 0);
        call1(__NR_exit_group, 1);
    }
    if (flags & FLAG_STORED) {
        texts = map((word)order->size + 16 + sizeof(char *) * ((word)order->argc + (word)order->envc + 2));
        if (!texts) {
            tell_event(EVENT_FAILED, STAGE_PROCESS, ENOMEM, 0);
            call1(__NR_exit_group, 1);
        }
        for (long at = 0, got = 1; at < order->size && got > 0; at += got)
            got = call4(__NR_pread64, given[count - 1], texts + at, order->size - at, at);
    }
    char **pointers = (char **)(((word)texts + (word)order->size + 15) / 16 * 16); /* behind the texts */
    plan.argv = pointers;
    char *strings[3];
    for (int i = 0; i < 3; i++) {
        strings[i] = texts;
        while (*texts) texts++;
        texts++;
    }
    cgroup = strings[0];
    plan.cwd = strings[1];
    plan.file = strings[2];
    plan.envp = split(&texts, order->argc, plan.argv);
    char **behind = split(&texts, order->envc, plan.envp);
    for (int i = 0; i < 3; i++) call3(__NR_dup3, given[i + 1], i, 0);

    int result = start(&plan);
    if (result < 0) {
        tell_event(EVENT_FAILED, failed_stage, -result, 0);
        if (leader) call4(__NR_wait4, leader, 0, 0, 0);
        leave(1);
    }
    tell_event(EVENT_STARTED, leader, self, 0);
    /* let go of them, but leave the numbers taken: the descriptors of the next order must not get them */
    for (int i = 0; i < 3; i++) call3(__NR_dup3, signals, i, O_CLOEXEC);
    for (int i = 1; i < count; i++)
        if (i != 4 || record < 0) call1(__NR_close, given[i]);
    keep = seat < SEATS && !flags && !*cgroup && call0(__NR_getppid) == server;
    if (!keep) retire();
    if (flags & FLAG_DETACHED) call0(__NR_setsid);
    watch(flags & FLAG_DETACHED ? -1 : host, signals, order->grace_ms);
    if (!keep) leave(0);

    memset(arena, 0, (word)((char *)behind - arena)); /* nobody's environment is kept */
    if (control >= 0) call1(__NR_close, control);
    leader = leader_reaped = left_behind = terminating = escalated = 0;
    used.user_us = used.system_us = used.peak_kib = 0;
    idle[seat] = 1;
}

/* ---- the server ----------------------------------------------------------------------------------------------- */

#define SUPERVISORS_MAX 65536
static struct { int pid, seat, detached; } supervisors[SUPERVISORS_MAX];
static int supervisor_count;

static int find_supervisor(int pid)
{
    for (int i = 0; i < supervisor_count; i++)
        if (supervisors[i].pid == pid) return i;
    return -1;
}

/* A child of the server that it did not make was the child of a supervisor that is dead: kill it; true if there was one. */
static int kill_orphans(void)
{
    int self = (int)call0(__NR_getpid), found = 0;
    scan();
    for (int i = 0; i < table_size; i++) {
        if (table[i].parent != self || table[i].dead || find_supervisor(table[i].pid) >= 0) continue;
        call2(__NR_kill, table[i].pid, SIGKILL);
        found = 1;
    }
    return found;
}

/* No process could be made: answer the order that waits, so that its caller hears why. */
static void refuse(long result)
{
    struct extra extra;
    int count = receive(socket, &extra);
    if (!count) return;
    control = extra.descriptors[0];
    record = -1;
    tell_event(EVENT_FAILED, STAGE_PROCESS, (int)-result, 0);
    for (int i = 0; i < count; i++) call1(__NR_close, extra.descriptors[i]);
}

/* A seat that nobody holds, else the one for those who stay once. */
static int free_seat(void)
{
    int free = 0;
    for (int i = 0; i < supervisor_count && free < SEATS; i++)
        if (supervisors[i].seat == free) {
            free++;
            i = -1; /* look for this one from the beginning */
        }
    return free;
}

static void forget(int at)
{
    if (supervisors[at].seat >= 0) idle[supervisors[at].seat] = 0;
    supervisors[at] = supervisors[--supervisor_count];
}

static _Noreturn void run(int host_pid)
{
    int notes[2], open = 1, orphans = 0, priority = 0, ordinary, host, signals, status, note[2];
    int self = (int)call0(__NR_getpid);
    word all = ~0UL, wanted = 1UL << (SIGCHLD - 1) | 1UL << (SIGTERM - 1) | 1UL << (SIGQUIT - 1);
    struct action standard = {0, 0, 0, 0};
    char waste[128 * 8];
    long pid;

    call4(__NR_rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all);
    for (int signal = 1; signal <= 64; signal++) call4(__NR_rt_sigaction, signal, &standard, 0, 8);
    call2(__NR_setpgid, 0, 0); /* whoever kills the host's group must not take us along */
    call2(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1);
    call1(__NR_chdir, "/");
    /* Making the next spare can wait: as a batch process the server does not push the spare it was called by off its
     * processor. The spares themselves, and so the commands, are ordinary. */
    ordinary = call1(__NR_sched_getscheduler, 0) == 0;
    if (ordinary) call3(__NR_sched_setscheduler, 0, 3 /* SCHED_BATCH */, &priority);
    host = (int)call2(__NR_pidfd_open, host_pid, 0); /* -1 on an old kernel: the sockets alone tell */
    if (call0(__NR_getppid) != host_pid) leave(1);
    signals = (int)call4(__NR_signalfd4, -1, &wanted, sizeof wanted, O_CLOEXEC | O_NONBLOCK);
    call2(__NR_pipe2, notes, O_CLOEXEC);
    taken = notes[1];
    idle = (volatile char *)call(__NR_mmap, 0, SEATS + 1, 3, 0x21 /* shared, anonymous */, (word)-1, 0);
    if ((long)idle < 0 && (long)idle > -4096) leave(1);
    if (call3(__NR_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0) /* before Linux 5.11 */
        for (int i = 3; i < 65536; i++) call3(__NR_fcntl, i, F_SETFD, 1 /* FD_CLOEXEC */);

    struct pollfd watched[4] = {{signals, POLLIN, 0}, {notes[0], POLLIN, 0}, {socket, 0, 0}, {host, POLLIN, 0}};
    for (;;) {
        int spare = any_idle();
        if (open && !spare) {
            seat = free_seat();
            idle[seat] = 1;
            pid = call5(__NR_clone, SIGCHLD, 0, 0, 0, 0);
            if (pid == 0) {
                if (ordinary) call3(__NR_sched_setscheduler, 0, 0 /* SCHED_OTHER */, &priority);
                call2(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1);
                call1(__NR_close, notes[0]);
                for (;;) supervise(self, host, signals);
            }
            if (pid > 0 && supervisor_count < SUPERVISORS_MAX) {
                for (int i = 0; i < supervisor_count; i++) /* one seatless spare at a time: the last one has taken its order */
                    if (supervisors[i].seat == STANDING) supervisors[i].seat = -1;
                supervisors[supervisor_count].detached = 0;
                supervisors[supervisor_count].seat = seat;
                supervisors[supervisor_count++].pid = (int)pid;
                spare = 1;
            } else {
                idle[seat] = 0;
                if (watched[2].revents & POLLIN) refuse(pid);
            }
        }
        watched[2].events = spare ? 0 : POLLIN;
        call5(__NR_ppoll, watched, 4, 0, 0, 8);
        if (watched[1].revents && call3(__NR_read, notes[0], note, sizeof note) == sizeof note) {
            int at = find_supervisor(note[0]);
            if (at >= 0 && note[1] & FLAG_DETACHED) {
                supervisors[at].detached = 1;
                supervisors[at].seat = -1;
            }
        }
        if (watched[0].revents) {
            call3(__NR_read, signals, waste, sizeof waste);
            while ((pid = call4(__NR_wait4, -1, &status, WNOHANG, 0)) > 0) {
                int at = find_supervisor((int)pid);
                if (at >= 0) forget(at);
                if (at < 0 || status & 0x7f) orphans = 1;
            }
        }
        if (orphans) orphans = kill_orphans();
        if (watched[2].revents & (POLLHUP | POLLERR) || watched[3].revents) {
            open = 0;
            watched[2].fd = watched[3].fd = -1;
        }
        if (!open) { /* the supervisors notice the same and end their trees; detached ones stay */
            int left = 0;
            for (int i = 0; i < supervisor_count; i++) left += !supervisors[i].detached;
            if (!left) leave(0);
        }
    }
}

__attribute__((used)) _Noreturn void enter(word *stack)
{
    char **argv = (char **)(stack + 1);
    if (stack[0] != 3) leave(2);
    socket = number(argv[1]);
    run(number(argv[2]));
}

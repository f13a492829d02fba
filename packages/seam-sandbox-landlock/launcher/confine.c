/* seam-confine: applies what one message says to itself, then becomes the command.
 *
 * usage: seam-confine FD -- command [argument...]
 *
 * FD holds the message: fields ended by NUL, applied in the order written, after "seam-confine 1":
 *   status=FD            where facts go: "ready\n", "exit N\n", "signal N\n", "survivor PID NAME\n",
 *                        "failed STEP ERRNO\n"
 *   close=               the sandbox's own descriptors (64 and up) are not the command's
 *   limit=RES:VALUE      setrlimit(2), soft and hard, never above what is inherited
 *   join=FILE            write "0" to FILE (a cgroup.procs)
 *   mkdir=PATH           make a private folder
 *   cwd=PATH             working directory of the command
 *   listen=PORT:PATH     listen on 127.0.0.1:PORT, hand the socket to whoever listens on PATH
 *   ruleset=FS:NET:SCOPE new Landlock ruleset of these handled rights (hexadecimal)
 *   path=RIGHTS:PATH     allow RIGHTS below PATH; a path that is gone is left out
 *   port=RIGHTS:PORT     allow RIGHTS on a TCP port
 *   restrict=            enforce the ruleset
 *   caps=                drop every capability for good
 *   reap=[survivors]     stay as parent (pid 1 of a namespace), report the end of the command, and who is left
 *   runner=              what is started is a runner, not the command: it must not end by a polite signal that the
 *                        command may want to handle
 *   env=NAME=VALUE       environment of the command; nothing else is in it
 *   filter=SIZE          SIZE bytes of a seccomp program follow, the last thing in the message
 *
 * Exit codes of its own: 125 when it could not do what the message says; the status says which step.
 */
#include "parent.h"
#include "status.h"
#include "steps.h"
#include "system.h"

static char *read_message(int fd, word *size)
{
    word space = 1 << 16, have = 0;
    char *text = memory(space);
    for (;;) {
        long n = call3(__NR_read, fd, text + have, space - have - 1);
        if (n == -EINTR) continue;
        if (sure("message", n) == 0) break;
        have += (word)n;
        if (have == space - 1) {
            if (!(text = larger(text, space, space * 2))) fail("memory", -ENOMEM);
            space *= 2;
        }
    }
    text[have] = 0;
    *size = have;
    call1(__NR_close, fd);
    return text;
}

static _Noreturn void become(char **argv, char **env, const char *path)
{
    const char *name = argv[0];
    if (find(argv[0], '/')) fail("exec", call3(__NR_execve, name, argv, env));
    long error = -ENOENT;
    char whole[4096];
    for (const char *place = path ? path : "/usr/bin:/bin"; *place;) {
        const char *end = place;
        while (*end && *end != ':') end++;
        word size = (word)(end - place);
        /* what is relative would be looked for in a folder that the command can write */
        if (*place == '/' && size + length(name) + 2 <= sizeof whole) {
            memcpy(whole, place, size);
            put(put(whole + size, "/"), name);
            long refused = call3(__NR_execve, whole, argv, env);
            if (refused != -ENOENT && refused != -ENOTDIR) error = refused;
        }
        place = *end ? end + 1 : end;
    }
    fail("exec", error);
}

/* What is done at the end, after every field was applied. */
struct plan { int ruleset, reap, survivors, runner; char **env; word count; const char *path, *filter; word filter_size; };

/* Apply one field; `next` is what follows it. Answers whether it was the last one. */
static int apply(struct plan *plan, char *field, char *value, char *next, char *end)
{
    if (same(field, "status")) status_fd = (int)number(value, 10, 0);
    else if (same(field, "close")) sure("close", call3(__NR_close_range, PRIVATE_DESCRIPTORS, ~0U, CLOSE_RANGE_CLOEXEC));
    else if (same(field, "limit")) set_limit(value);
    else if (same(field, "join")) join_group(value);
    else if (same(field, "mkdir")) make_folder(value);
    else if (same(field, "cwd")) sure("cwd", call1(__NR_chdir, value));
    else if (same(field, "listen")) hand_over_listener(value);
    else if (same(field, "ruleset")) plan->ruleset = new_ruleset(value);
    else if (same(field, "path")) allow_path(plan->ruleset, value);
    else if (same(field, "port")) allow_port(plan->ruleset, value);
    else if (same(field, "restrict")) restrict_self(plan->ruleset);
    else if (same(field, "caps")) drop_capabilities();
    else if (same(field, "reap")) plan->reap = 1, plan->survivors = same(value, "survivors");
    else if (same(field, "runner")) plan->runner = 1;
    else if (same(field, "env")) {
        plan->env[plan->count++] = value;
        if (begins(value, "PATH=")) plan->path = value + 5;
    }
    else if (same(field, "filter")) {
        plan->filter = next;
        plan->filter_size = (word)number(value, 10, 0);
        if (plan->filter_size > (word)(end - next)) fail("filter", -EINVAL);
        return 1;
    }
    else fail("message", -EINVAL);
    return 0;
}

static _Noreturn void run(int fd, char **argv)
{
    word size, fields = 1;
    char *message = read_message(fd, &size), *end = message + size;
    if (!same(message, "seam-confine 1")) leave(125);
    for (char *at = message; at < end; at++) fields += !*at;
    struct plan plan = { .ruleset = -1, .env = memory((fields + 1) * sizeof(char *)) };
    for (char *field = message + length(message) + 1, *next; field < end; field = next) {
        char *value = find(field, '=');
        next = field + length(field) + 1;
        if (!value) fail("message", -EINVAL);
        *value++ = 0;
        if (apply(&plan, field, value, next, end)) break;
    }
    no_new_privileges();
    if (plan.filter_size) install_filter(plan.filter, plan.filter_size);
    if (plan.reap) {
        long child = sure("fork", call5(__NR_clone, 17 /* SIGCHLD */, 0, 0, 0, 0));
        if (child) stay(child, plan.survivors);
    }
    reset_signals();
    if (plan.runner) ignore_polite_signals();
    report("ready", 0, 0);
    become(argv, plan.env, plan.path);
}

__attribute__((used)) _Noreturn void enter(word *stack)
{
    word argc = stack[0];
    char **argv = (char **)(stack + 1);
    if (argc < 4 || !same(argv[2], "--")) leave(125);
    run((int)number(argv[1], 10, 0), argv + 3);
}

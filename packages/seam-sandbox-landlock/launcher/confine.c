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
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

/* rights that a rule on something that is no folder may have (landlock.h): execute, write, read, truncate, ioctl */
#define FILE_RIGHTS ((1u << 0) | (1u << 1) | (1u << 2) | (1u << 14) | (1u << 15))

/* descriptors from here on belong to the sandbox and are closed when the command begins */
#define PRIVATE_DESCRIPTORS 64
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

struct ruleset_attr { uint64_t fs, net, scoped; };
struct path_attr { uint64_t rights; int32_t parent; } __attribute__((packed));
struct port_attr { uint64_t rights, port; };

static int status_fd = -1;

static void report(const char *what, const char *step, long number)
{
    char line[160];
    int n = step ? snprintf(line, sizeof line, "%s %s %ld\n", what, step, number)
                 : snprintf(line, sizeof line, "%s %ld\n", what, number);
    if (status_fd >= 0 && write(status_fd, line, (size_t)n) < 0) {
        /* the reader is gone: nobody is there to be told */
    }
}

static void fail(const char *step)
{
    report("failed", step, errno);
    _exit(125);
}

static char *read_message(int fd, size_t *size)
{
    size_t room = 1 << 16, have = 0;
    char *text = malloc(room + 1);
    if (!text) fail("memory");
    for (;;) {
        ssize_t n = read(fd, text + have, room - have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail("message");
        if (n == 0) break;
        have += (size_t)n;
        if (have == room) {
            room *= 2;
            text = realloc(text, room + 1);
            if (!text) fail("memory");
        }
    }
    text[have] = 0;
    *size = have;
    close(fd);
    return text;
}

static void set_limit(char *value)
{
    char *rest;
    int resource = (int)strtol(value, &rest, 10);
    rlim_t wanted = strtoull(rest + 1, NULL, 10);
    struct rlimit limit;
    if (getrlimit(resource, &limit)) fail("limit");
    if (limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max) limit.rlim_max = wanted;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(resource, &limit)) fail("limit");
}

static void join_group(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) fail("join");
    close(fd);
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0700) && errno != EEXIST) fail("mkdir");
}

static void hand_over_listener(char *value)
{
    char *path;
    struct sockaddr_in inside = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un outside = { .sun_family = AF_UNIX };
    inside.sin_port = htons((uint16_t)strtol(value, &path, 10));
    if (strlen(path + 1) >= sizeof outside.sun_path) { errno = ENAMETOOLONG; fail("listen"); }
    strcpy(outside.sun_path, path + 1);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) fail("listen");
    if (bind(listener, (struct sockaddr *)&inside, sizeof inside) || listen(listener, 64)) fail("listen");
    int out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0 || connect(out, (struct sockaddr *)&outside, sizeof outside)) fail("proxy");
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
    char byte = 'L';
    struct iovec io = { &byte, 1 };
    struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &listener, sizeof(int));
    if (sendmsg(out, &message, MSG_NOSIGNAL) != 1) fail("proxy");
    close(out);
    close(listener);
}

static int new_ruleset(char *value)
{
    char *rest;
    struct ruleset_attr attr = { 0 };
    attr.fs = strtoull(value, &rest, 16);
    attr.net = strtoull(rest + 1, &rest, 16);
    attr.scoped = strtoull(rest + 1, NULL, 16);
    /* older kernels take the shorter struct only; what is zero need not be sent */
    size_t size = attr.scoped ? 24 : attr.net ? 16 : 8;
    int fd = (int)syscall(__NR_landlock_create_ruleset, &attr, size, 0);
    if (fd < 0) fail("ruleset");
    return fd;
}

static void allow_path(int ruleset, char *value)
{
    char *path;
    struct path_attr attr;
    attr.rights = strtoull(value, &path, 16);
    attr.parent = open(path + 1, O_PATH | O_CLOEXEC);
    if (attr.parent < 0) {
        if (errno == ENOENT || errno == EACCES || errno == ENOTDIR || errno == ELOOP) return;
        fail("path");
    }
    long done = syscall(__NR_landlock_add_rule, ruleset, 1, &attr, 0);
    if (done && errno == EINVAL) {
        /* rights of a folder on something that is none */
        attr.rights &= FILE_RIGHTS;
        done = attr.rights ? syscall(__NR_landlock_add_rule, ruleset, 1, &attr, 0) : 0;
    }
    if (done) fail("path");
    /* left open: it is closed when the command begins, all at once */
}

static void allow_port(int ruleset, char *value)
{
    char *port;
    struct port_attr attr;
    attr.rights = strtoull(value, &port, 16);
    attr.port = strtoull(port + 1, NULL, 10);
    if (syscall(__NR_landlock_add_rule, ruleset, 2, &attr, 0)) fail("port");
}

static void no_new_privileges(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("privileges");
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0 } };
    for (int cap = 0; cap < 64; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EINVAL && errno != EPERM) fail("capabilities");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none)) fail("capabilities");
}

static void ignore_signals(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < 65; number++) signal(number, SIG_DFL);
}

/* Name the processes that are alive beside this one; they end with it, as it is the first of its namespace. */
static void report_survivors(void)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[300], text[300], line[400];
        int fd, number = atoi(entry->d_name);
        if (number < 2) continue;
        snprintf(path, sizeof path, "/proc/%d/stat", number);
        if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) continue;
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        if (n <= 0) continue;
        text[n] = 0;
        char *name = strchr(text, '('), *end = strrchr(text, ')');
        if (!name || !end || end[2] == 'Z') continue;
        *end = 0;
        for (char *c = ++name; *c; c++)
            if (*c == '\n') *c = '?';
        n = snprintf(line, sizeof line, "survivor %d %s\n", number, name);
        if (write(status_fd, line, (size_t)n) < 0) break;
    }
    if (folder) closedir(folder);
}

/* Parent of the command: reap everything, tell how the command ended and who is left, exit like it. */
static void stay(pid_t child, int survivors)
{
    int how;
    for (int fd = 0; fd < 3; fd++) close(fd);
    for (;;) {
        pid_t gone = waitpid(-1, &how, 0);
        if (gone < 0 && errno == EINTR) continue;
        if (gone < 0) _exit(125);
        if (gone == child) break;
    }
    if (survivors) report_survivors();
    if (WIFSIGNALED(how)) report("signal", NULL, WTERMSIG(how));
    else report("exit", NULL, WEXITSTATUS(how));
    _exit(WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how));
}

static void become(char **argv, char **env, const char *path)
{
    const char *name = argv[0];
    if (strchr(name, '/')) {
        execve(name, argv, env);
        fail("exec");
    }
    int error = ENOENT;
    char *places = strdup(path ? path : "/usr/bin:/bin");
    for (char *place = strtok(places, ":"); place; place = strtok(NULL, ":")) {
        char whole[4096];
        if (*place != '/' || (size_t)snprintf(whole, sizeof whole, "%s/%s", place, name) >= sizeof whole) continue;
        execve(whole, argv, env);
        if (errno != ENOENT && errno != ENOTDIR) error = errno;
    }
    errno = error;
    fail("exec");
}

int main(int argc, char **argv)
{
    size_t size, count = 0, room = 64;
    int ruleset = -1, reap = 0, survivors = 0, runner = 0;
    const char *path = NULL;
    char **env = malloc(room * sizeof *env);
    if (argc < 4 || strcmp(argv[2], "--") || !env) return 125;
    char *message = read_message(atoi(argv[1]), &size), *end = message + size;
    if (strcmp(message, "seam-confine 1")) return 125;
    struct sock_fprog filter = { 0 };
    for (char *field = message + strlen(message) + 1, *next; field < end; field = next) {
        char *value = strchr(field, '=');
        next = field + strlen(field) + 1;
        if (!value) { errno = EINVAL; fail("message"); }
        *value++ = 0;
        if (!strcmp(field, "status")) status_fd = atoi(value);
        else if (!strcmp(field, "close")) {
            if (syscall(SYS_close_range, PRIVATE_DESCRIPTORS, ~0U, CLOSE_RANGE_CLOEXEC)) fail("close");
        }
        else if (!strcmp(field, "limit")) set_limit(value);
        else if (!strcmp(field, "join")) join_group(value);
        else if (!strcmp(field, "mkdir")) make_folder(value);
        else if (!strcmp(field, "cwd")) { if (chdir(value)) fail("cwd"); }
        else if (!strcmp(field, "listen")) hand_over_listener(value);
        else if (!strcmp(field, "ruleset")) ruleset = new_ruleset(value);
        else if (!strcmp(field, "path")) allow_path(ruleset, value);
        else if (!strcmp(field, "port")) allow_port(ruleset, value);
        else if (!strcmp(field, "restrict")) {
            no_new_privileges();
            if (syscall(__NR_landlock_restrict_self, ruleset, 0)) fail("restrict");
            close(ruleset);
        }
        else if (!strcmp(field, "caps")) drop_capabilities();
        else if (!strcmp(field, "reap")) { reap = 1; survivors = !strcmp(value, "survivors"); }
        else if (!strcmp(field, "runner")) runner = 1;
        else if (!strcmp(field, "env")) {
            if (count + 2 > room && !(env = realloc(env, (room *= 2) * sizeof *env))) fail("memory");
            env[count++] = value;
            if (!strncmp(value, "PATH=", 5)) path = value + 5;
        }
        else if (!strcmp(field, "filter")) {
            filter.filter = (struct sock_filter *)next;
            filter.len = (unsigned short)(strtoul(value, NULL, 10) / sizeof *filter.filter);
            if ((char *)(filter.filter + filter.len) > end) { errno = EINVAL; fail("filter"); }
            break;
        }
        else { errno = EINVAL; fail("message"); }
    }
    env[count] = NULL;
    no_new_privileges();
    if (filter.len) {
        /* the bytes follow text of any length: move them to where a program may be aligned */
        struct sock_filter *aligned = malloc(filter.len * sizeof *aligned);
        if (!aligned) fail("memory");
        memcpy(aligned, filter.filter, filter.len * sizeof *aligned);
        filter.filter = aligned;
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)) fail("filter");
    }
    if (reap) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child > 0) stay(child, survivors);
    }
    reset_signals();
    if (runner) ignore_signals();
    report("ready", NULL, 0);
    become(argv + 3, env, path);
}

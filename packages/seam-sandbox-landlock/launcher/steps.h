/* The steps that a message can ask for, each applied to the process itself. */
#ifndef SEAM_STEPS_H
#define SEAM_STEPS_H

#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/in.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/un.h>

#include "status.h"

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif
#ifndef __NR_close_range
#define __NR_close_range 436
#endif

/* rights that a rule on something that is no folder may have (landlock.h): execute, write, read, truncate, ioctl */
#define FILE_RIGHTS ((1u << 0) | (1u << 1) | (1u << 2) | (1u << 14) | (1u << 15))

/* descriptors from here on belong to the sandbox and are closed when the command begins */
#define PRIVATE_DESCRIPTORS 64
#define CLOSE_RANGE_CLOEXEC (1u << 2)

struct ruleset_attr { u64 fs, net, scoped; };
struct path_attr { u64 rights; int parent; } __attribute__((packed));
struct port_attr { u64 rights, port; };

/* as the kernel has them (resource.h, socket.h, which a C library would bring) */
struct limit { u64 now, most; };
struct piece { void *data; word size; };
struct parcel { void *name; int name_size; struct piece *pieces; word count; void *control; word control_size; int flags; };
struct passed { word size; int level, type, descriptor; };
enum { INET = 2, UNIX = 1, STREAM = 1, SOCKET_LEVEL = 1, REUSE_ADDRESS = 2, RIGHTS = 1, NO_SIGNAL = 0x4000 };

static void set_limit(char *value)
{
    char *rest;
    int resource = (int)number(value, 10, &rest);
    u64 wanted = number(rest + 1, 10, 0);
    struct limit limit;
    sure("limit", call4(__NR_prlimit64, 0, resource, 0, &limit));
    if (wanted < limit.most) limit.most = wanted; /* without a limit it is the largest number */
    limit.now = limit.most;
    sure("limit", call4(__NR_prlimit64, 0, resource, &limit, 0));
}

static void join_group(const char *path)
{
    long fd = sure("join", call4(__NR_openat, HERE, path, O_WRONLY | O_CLOEXEC, 0));
    sure("join", call3(__NR_write, fd, "0", 1));
    call1(__NR_close, fd);
}

static void make_folder(const char *path)
{
    long done = call3(__NR_mkdirat, HERE, path, 0700);
    if (done != -EEXIST) sure("mkdir", done);
}

static void hand_over_listener(char *value)
{
    char *path;
    word port = (word)number(value, 10, &path);
    unsigned char octets[2] = { (unsigned char)(port >> 8), (unsigned char)port }, home[4] = { 127, 0, 0, 1 };
    struct sockaddr_in inside = { .sin_family = INET };
    struct sockaddr_un outside = { .sun_family = UNIX };
    memcpy(&inside.sin_port, octets, 2);
    memcpy(&inside.sin_addr, home, 4);
    if (length(++path) >= sizeof outside.sun_path) fail("listen", -ENAMETOOLONG);
    put(outside.sun_path, path);
    int one = 1, listener = (int)sure("listen", call3(__NR_socket, INET, STREAM | O_CLOEXEC, 0));
    sure("listen", call5(__NR_setsockopt, listener, SOCKET_LEVEL, REUSE_ADDRESS, &one, sizeof one));
    sure("listen", call3(__NR_bind, listener, &inside, sizeof inside));
    sure("listen", call2(__NR_listen, listener, 64));
    int out = (int)sure("proxy", call3(__NR_socket, UNIX, STREAM | O_CLOEXEC, 0));
    sure("proxy", call3(__NR_connect, out, &outside, sizeof outside));
    char byte = 'L';
    struct piece piece = { &byte, 1 };
    struct passed passed = { 20, SOCKET_LEVEL, RIGHTS, listener };
    struct parcel parcel = { .pieces = &piece, .count = 1, .control = &passed, .control_size = sizeof passed };
    sure("proxy", call3(__NR_sendmsg, out, &parcel, NO_SIGNAL));
    call1(__NR_close, out);
    call1(__NR_close, listener);
}

static int new_ruleset(char *value)
{
    char *rest;
    struct ruleset_attr attr;
    attr.fs = number(value, 16, &rest);
    attr.net = number(rest + 1, 16, &rest);
    attr.scoped = number(rest + 1, 16, 0);
    /* older kernels take the shorter struct only; what is zero need not be sent */
    word size = attr.scoped ? 24 : attr.net ? 16 : 8;
    return (int)sure("ruleset", call3(__NR_landlock_create_ruleset, &attr, size, 0));
}

static void allow_path(int ruleset, char *value)
{
    char *path;
    struct path_attr attr;
    attr.rights = number(value, 16, &path);
    long parent = call4(__NR_openat, HERE, path + 1, O_PATH | O_CLOEXEC, 0);
    if (parent == -ENOENT || parent == -EACCES || parent == -ENOTDIR || parent == -ELOOP) return;
    attr.parent = (int)sure("path", parent);
    long done = call4(__NR_landlock_add_rule, ruleset, 1, &attr, 0);
    if (done == -EINVAL) {
        /* rights of a folder on something that is none */
        attr.rights &= FILE_RIGHTS;
        done = attr.rights ? call4(__NR_landlock_add_rule, ruleset, 1, &attr, 0) : 0;
    }
    sure("path", done);
    /* left open: it is closed when the command begins, all at once */
}

static void allow_port(int ruleset, char *value)
{
    char *port;
    struct port_attr attr;
    attr.rights = number(value, 16, &port);
    attr.port = number(port + 1, 10, 0);
    sure("port", call4(__NR_landlock_add_rule, ruleset, 2, &attr, 0));
}

static void no_new_privileges(void)
{
    sure("privileges", call5(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void restrict_self(int ruleset)
{
    no_new_privileges();
    sure("restrict", call2(__NR_landlock_restrict_self, ruleset, 0));
    call1(__NR_close, ruleset);
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    for (int cap = 0; cap < 64; cap++) {
        long done = call5(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
        if (done == -EINVAL) break; /* the kernel knows no more */
        if (done != -EPERM) sure("capabilities", done);
    }
    call5(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* older kernels have none */
    sure("capabilities", call2(__NR_capset, &header, none));
}

static void install_filter(const char *program, word size)
{
    /* the bytes follow text of any length: move them to where a program may be aligned */
    struct sock_fprog filter = { .len = (unsigned short)(size / sizeof(struct sock_filter)), .filter = memory(size) };
    memcpy(filter.filter, program, size);
    sure("filter", call5(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0));
}

#endif

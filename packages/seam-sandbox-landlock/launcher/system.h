/* What a program without a C library needs: system calls by number (x86_64, aarch64), text, memory.
 *
 * No libc: under a hypervisor the start of a static one takes several times as long as everything seam-confine does,
 * because it asks the processor about itself and each such question leaves the virtual machine.
 */
#ifndef SEAM_SYSTEM_H
#define SEAM_SYSTEM_H

#include <asm/unistd.h>
#include <linux/errno.h>

typedef unsigned long word;
typedef unsigned long long u64;

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
#error "no system call convention for this machine; the Python launcher is used instead"
#endif

/* Each answers what the kernel does: the result, or an error number below zero. */
#define call1(n, a) call(n, (word)(a), 0, 0, 0, 0, 0)
#define call2(n, a, b) call(n, (word)(a), (word)(b), 0, 0, 0, 0)
#define call3(n, a, b, c) call(n, (word)(a), (word)(b), (word)(c), 0, 0, 0)
#define call4(n, a, b, c, d) call(n, (word)(a), (word)(b), (word)(c), (word)(d), 0, 0)
#define call5(n, a, b, c, d, e) call(n, (word)(a), (word)(b), (word)(c), (word)(d), (word)(e), 0)
#define call6(n, a, b, c, d, e, f) call(n, (word)(a), (word)(b), (word)(c), (word)(d), (word)(e), (word)(f))

#define HERE (-100) /* AT_FDCWD */

static _Noreturn void leave(int code)
{
    call1(__NR_exit_group, code);
    __builtin_unreachable();
}

/* ---- memory and text; the compiler may call the first two for structures ---- */

void *memset(void *to, int value, word size)
{
    for (volatile char *p = to; size--; p++) *p = (char)value;
    return to;
}

void *memcpy(void *to, const void *from, word size)
{
#if defined(__x86_64__)
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
#else
    const char *q = from;
    for (volatile char *p = to; size--; p++, q++) *p = *q;
#endif
    return to;
}

/* Fresh memory, zero, never given back; NULL when there is none. */
static void *room(word size)
{
    long at = call6(__NR_mmap, 0, size, 3 /* read, write */, 0x22 /* private, anonymous */, -1, 0);
    return at < 0 && at > -4096 ? 0 : (void *)at;
}

/* A larger place for what `room` gave; NULL when there is none. */
static void *larger(void *from, word size, word wanted)
{
    long at = call4(__NR_mremap, from, size, wanted, 1 /* may move */);
    return at < 0 && at > -4096 ? 0 : (void *)at;
}

static word length(const char *text)
{
    const char *at = text;
    while (*at) at++;
    return (word)(at - text);
}

static int same(const char *one, const char *other)
{
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static int begins(const char *text, const char *with)
{
    while (*with) if (*text++ != *with++) return 0;
    return 1;
}

static char *find(char *text, char wanted)
{
    for (; *text; text++) if (*text == wanted) return text;
    return 0;
}

static char *find_last(char *text, char wanted)
{
    char *found = 0;
    for (; *text; text++) if (*text == wanted) found = text;
    return found;
}

/* A number without a sign; `rest`, if not NULL, is what follows it. */
static u64 number(const char *text, int base, char **rest)
{
    u64 value = 0;
    for (;; text++) {
        int digit = *text >= '0' && *text <= '9' ? *text - '0' : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10 : 99;
        if (digit >= base) break;
        value = value * (unsigned)base + (unsigned)digit;
    }
    if (rest) *rest = (char *)text;
    return value;
}

/* Append; both answer where the text ends now. */
static char *put(char *to, const char *text)
{
    while ((*to = *text++)) to++;
    return to;
}

static char *put_number(char *to, unsigned long value)
{
    char digits[24], *at = digits + sizeof digits;
    *--at = 0;
    do *--at = (char)('0' + value % 10); while (value /= 10);
    return put(to, at);
}

#endif

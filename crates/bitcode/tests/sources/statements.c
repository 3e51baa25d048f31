// Every kind of statement that clang lowers differently.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char name[16];
    union {
        long number;
        double real;
        const char *text;
    } value;
    unsigned flag : 3;
    unsigned rest : 29;
};

enum color { RED, GREEN, BLUE };

typedef int (*callback)(struct node *, void *);

static int counter;
const char *const colors[] = {"red", "green", "blue"};
struct node first = {.next = 0, .name = "first", .value = {.real = 2.5}};
struct node *head = &first;
char *inside = first.name + 3;
long difference = (long)&first;
__thread int per_thread = 7;
extern int elsewhere;
int weak_one(void) __attribute__((weak));
int other_name(void) __attribute__((alias("real_name")));
static int (*table[])(void) = {weak_one, other_name};
long double wide = 1.25L;
__int128 huge = ((__int128)1 << 100) + 5;
_Complex double imaginary = 1.0 + 2.0 * 1.0i;
int *const null_pointer = 0;
short numbers[5] = {1, -2, 3};
float reals[3] = {1.5f, 2.5f};

int real_name(void) { return counter++; }

static int *resolve_fast(void) { return &counter; }
static void *pick(void) { return (void *)resolve_fast; }
int *fast(void) __attribute__((ifunc("pick")));

__attribute__((noreturn)) void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    exit(1);
}

int sum(int count, ...) {
    va_list list;
    int total = 0;
    va_start(list, count);
    while (count-- > 0)
        total += va_arg(list, int);
    va_end(list);
    return total;
}

struct node *make(const char *name, int size) {
    struct node *n = malloc(sizeof *n);
    if (!n)
        die("out of memory: %s", name);
    memset(n, 0, sizeof *n);
    strncpy(n->name, name, sizeof n->name - 1);
    n->flag = size & 7;
    n->next = head;
    head = n;
    return n;
}

int classify(int c) {
    switch (c) {
    case 'a':
    case 'e':
        return RED;
    case '0' ... '9':
        return GREEN;
    case 1000000:
        c++;
        break;
    default:
        goto out;
    }
    for (int i = 0; i < c; i++) {
        if (i == 3)
            continue;
        if (i > 7)
            break;
        c ^= i << 2;
    }
out:
    return c > 10 ? BLUE : c && (c & 1) || !c;
}

int computed(int op) {
    static void *targets[] = {&&one, &&two, &&three};
    goto *targets[op % 3];
one:
    return 1;
two:
    return 2;
three:
    return 3;
}

int with_asm(int x) {
    int y;
    __asm__ volatile("mov %1, %0" : "=r"(y) : "r"(x) : "memory");
    return y;
}

int asm_goto(int x) {
    __asm__ goto("test %0, %0; jz %l1" : : "r"(x) : "cc" : zero);
    return 1;
zero:
    return 0;
}

int atomics(_Atomic int *p, int *q) {
    atomic_fetch_add(p, 1);
    atomic_fetch_or_explicit(p, 4, memory_order_relaxed);
    int expected = 5;
    if (atomic_compare_exchange_strong(p, &expected, 9))
        atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit(p, 3, memory_order_release);
    __sync_val_compare_and_swap(q, 1, 2);
    return atomic_load(p) + atomic_exchange(p, 8);
}

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

v4 vectors(v4 a, v4 b, int i) {
    v4 c = a + b * 2;
    c[i] = a[1];
    v4 mask = a > b;
    f4 f = __builtin_convertvector(c, f4);
    c = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    return (mask & c) + __builtin_convertvector(f, v4);
}

double floats(float x, double y, int n, unsigned long u) {
    double r = -x * y / 3.0 + n - (double)u;
    if (x != x || y < 1.0)
        r = __builtin_fmod(r, 2.0);
    return r + (long double)x;
}

long integers(long a, unsigned b, short c, char d) {
    return a / 3 + b / 5u + c % 7 + b % 9u + (a >> 2) + (b >> 3) + ~d + (a | c) + (long)(short)a;
}

int vla(int n) {
    int data[n];
    for (int i = 0; i < n; i++)
        data[i] = i;
    return data[n / 2];
}

struct pair { long a, b, c; };
struct small { int x; float y; };

struct pair by_value(struct pair p, struct small s) {
    p.a += s.x;
    return p;
}

struct small small_by_value(struct small s) {
    s.y = (float)s.x;
    return s;
}

static jmp_buf environment;

int jumps(callback f, struct node *n) {
    if (setjmp(environment))
        return -1;
    struct pair p = {1, 2, 3};
    struct small s = {4, 5.0f};
    p = by_value(p, s);
    s = small_by_value(s);
    return f(n, &p) + table[s.x & 1]();
}

int main(int argc, char **argv) {
    struct node *n = make(argv[0], argc);
    printf("%s %d %ld\n", n->name, sum(3, 1, 2, 3), (long)(inside - first.name));
    free(n);
    return classify(argc) + computed(argc) + elsewhere + per_thread + *fast();
}

/*
 * For machines without clang: mutates a corpus by a seeded generator for some seconds, and keeps what reaches code
 * that was not reached before. The compiler calls __sanitizer_cov_trace_pc at every branch of the fuzzed code.
 *
 *   fuzz SECONDS CORPUS_DIRECTORY [SEED]
 *   fuzz prune CORPUS_DIRECTORY            removes what reaches nothing that those before it do not
 *   fuzz FILE                              once, to see a crash again
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX 512u
#define CORPUS_MAX 4096u
#define MAP_SIZE 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_cov_trace_pc(void);
void __sanitizer_set_death_callback(void (*callback)(void));

struct input {
    size_t size;
    uint8_t bytes[INPUT_MAX];
};

static struct input corpus[CORPUS_MAX];
static size_t corpus_used;
static struct input now;
static uint8_t hit[MAP_SIZE];
static uint8_t known[MAP_SIZE];
static uintptr_t last_branch;
static uint64_t random_state;

/* Edges, not places: the way from one branch to the next. */
void __sanitizer_cov_trace_pc(void)
{
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    uintptr_t edge = (here ^ (last_branch << 1)) * 0x9E3779B97F4A7C15u >> 48;

    last_branch = here;
    if (hit[edge % MAP_SIZE] < UINT8_MAX) {
        hit[edge % MAP_SIZE]++;
    }
}

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % limit);
}

static void save_crash(void)
{
    FILE *file = fopen("crash.input", "wb");

    if (file != NULL) {
        fwrite(now.bytes, 1, now.size, file);
        fclose(file);
        fprintf(stderr, "the input is in crash.input\n");
    }
}

static void on_abort(int number)
{
    (void)number;
    save_crash();
    _exit(1);
}

/* How often a branch was reached, in eight steps: a loop that runs twice is news, one that runs 101 times is not. */
static uint8_t step_of(uint8_t hits)
{
    static const uint8_t ends[] = {1, 2, 3, 7, 15, 31, 127, 255};
    uint8_t step = 0;

    while (hits > ends[step]) {
        step++;
    }
    return (uint8_t)(1u << step);
}

static int is_new(void)
{
    int new = 0;

    memset(hit, 0, sizeof hit);
    last_branch = 0;
    (void)LLVMFuzzerTestOneInput(now.bytes, now.size);
    for (size_t i = 0; i < MAP_SIZE; i++) {
        if (hit[i] != 0 && (known[i] & step_of(hit[i])) == 0) {
            known[i] = (uint8_t)(known[i] | step_of(hit[i]));
            new = 1;
        }
    }
    return new;
}

static void mutate(void)
{
    static const uint8_t telling[] = {0, 1, 2, 5, 7, 8, 32, 33, 38, 127, 128, 232, 240, 255};
    uint32_t changes = 1 + random_below(6);

    while (changes-- != 0) {
        uint32_t at = now.size == 0 ? 0 : random_below((uint32_t)now.size);

        switch (random_below(6)) {
        case 0: now.bytes[at] = (uint8_t)(now.bytes[at] ^ (1u << random_below(8))); break;
        case 1: now.bytes[at] = (uint8_t)random_below(256); break;
        case 2: now.bytes[at] = telling[random_below(sizeof telling)]; break;
        case 3: /* a byte more */
            if (now.size < INPUT_MAX) {
                memmove(now.bytes + at + 1, now.bytes + at, now.size - at);
                now.bytes[at] = telling[random_below(sizeof telling)];
                now.size++;
            }
            break;
        case 4: /* a byte less */
            if (now.size > 1) {
                memmove(now.bytes + at, now.bytes + at + 1, now.size - at - 1);
                now.size--;
            }
            break;
        default: { /* a piece of another one */
            const struct input *other = &corpus[random_below((uint32_t)corpus_used)];
            size_t room = INPUT_MAX - at;
            size_t length = other->size < room ? other->size : room;

            memcpy(now.bytes + at, other->bytes, length);
            now.size = at + length > now.size ? at + length : now.size;
        }
        }
    }
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file != NULL) {
        now.size = fread(now.bytes, 1, INPUT_MAX, file);
        fclose(file);
    }
}

static void keep(const char *directory, int save)
{
    if (corpus_used == CORPUS_MAX) {
        return;
    }
    corpus[corpus_used++] = now;
    if (save) {
        char path[512];
        uint64_t name = 14695981039346656037u;
        FILE *file;

        for (size_t i = 0; i < now.size; i++) {
            name = (name ^ now.bytes[i]) * 1099511628211u;
        }
        snprintf(path, sizeof path, "%s/%016llx", directory, (unsigned long long)name);
        file = fopen(path, "wb");
        if (file != NULL) {
            fwrite(now.bytes, 1, now.size, file);
            fclose(file);
        }
    }
}

static void load_corpus(const char *directory, int prune)
{
    struct dirent **names;
    int found = scandir(directory, &names, NULL, alphasort);

    for (int i = 0; i < found; i++) {
        char path[512];
        struct stat status;

        snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
        if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            load(path);
            if (!is_new() && prune) {
                unlink(path);
            } else {
                keep(directory, 0);
            }
        }
        free(names[i]);
    }
    if (found >= 0) {
        free(names);
    }
    if (corpus_used == 0) {
        now.size = 1;
        now.bytes[0] = 0;
        keep(directory, 0);
    }
}

int main(int argc, char **argv)
{
    unsigned long runs = 0;
    size_t before;
    time_t end;
    int prune;

    signal(SIGABRT, on_abort);
    __sanitizer_set_death_callback(save_crash);
    if (argc == 2) {
        load(argv[1]);
        (void)LLVMFuzzerTestOneInput(now.bytes, now.size);
        return 0;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: %s SECONDS CORPUS_DIRECTORY [SEED] | prune CORPUS_DIRECTORY | FILE\n", argv[0]);
        return 2;
    }
    random_state = argc > 3 ? strtoull(argv[3], NULL, 10) | 1u : 20261130u;
    prune = strcmp(argv[1], "prune") == 0;
    load_corpus(argv[2], prune);
    before = corpus_used;
    if (prune) {
        printf("%zu inputs left\n", before);
        return 0;
    }
    end = time(NULL) + atol(argv[1]);
    while (time(NULL) < end) {
        now = corpus[random_below((uint32_t)corpus_used)];
        mutate();
        if (is_new()) {
            keep(argv[2], 1);
        }
        runs++;
    }
    printf("%s: %lu runs, %zu inputs before, %zu new, clean\n", argv[0], runs, before, corpus_used - before);
    return 0;
}

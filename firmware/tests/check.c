#include "check.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf failed;

void check(bool holds, const char *what, const char *file, int line)
{
    if (!holds) {
        printf("%s:%d: not so: %s\n", file, line, what);
        longjmp(failed, 1);
    }
}

void check_equal(long is, long wanted, const char *what, const char *file, int line)
{
    if (is != wanted) {
        printf("%s:%d: %s is %ld; %ld is right\n", file, line, what, is, wanted);
        longjmp(failed, 1);
    }
}

static bool passes(const struct test *test)
{
    if (setjmp(failed) != 0) {
        return false;
    }
    test->run();
    return true;
}

/* Runs all tests, or those whose name holds the argument. */
int main(int argc, char **argv)
{
    static const struct test *const tables[] = {
        wire_tests, level_tests, input_tests, memory_tests, command_tests, board_tests,
    };
    int passed = 0;
    int bad = 0;

    for (size_t table = 0; table < sizeof tables / sizeof tables[0]; table++) {
        for (const struct test *test = tables[table]; test->name != NULL; test++) {
            if (argc > 1 && strstr(test->name, argv[1]) == NULL) {
                continue;
            }
            if (passes(test)) {
                passed++;
            } else {
                printf("FAILED %s\n", test->name);
                bad++;
            }
        }
    }
    printf("%d passed, %d failed\n", passed, bad);
    return bad == 0 && passed > 0 ? 0 : 1;
}

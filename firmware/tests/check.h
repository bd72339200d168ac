/* A test harness of one page: a test is a function in a table, a check that fails ends it. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

struct test {
    const char *name;
    void (*run)(void);
};

#define TEST(function) {#function, function}

/* Each file of tests ends with its own table; a name of NULL ends the table. */
extern const struct test wire_tests[];
extern const struct test level_tests[];
extern const struct test input_tests[];
extern const struct test memory_tests[];
extern const struct test command_tests[];
extern const struct test board_tests[];

void check(bool holds, const char *what, const char *file, int line);
void check_equal(long is, long wanted, const char *what, const char *file, int line);

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define EQUAL(is, wanted) check_equal((long)(is), (long)(wanted), #is, __FILE__, __LINE__)

#endif

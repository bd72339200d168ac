/*
 *   emulator IMAGE --tty LINK --control SOCKET [--eeprom FILE] [--reset-on-open] [--bootloader MS]
 *            [--with-parent] [--fast | --held]
 *
 * --reset-on-open resets the chip whenever somebody opens LINK where nobody had it open, as a Nano's DTR line does;
 * --bootloader has the chip wait after each reset, its pins inputs; --with-parent ends with the program that began it.
 *
 * Prints "ready" when LINK (the serial port) and SOCKET are there; the library prints other lines before. On SOCKET,
 * a line is a command and is answered by a line, "ok" where nothing else is said:
 *
 *   state           JSON: resets, bytes, and each output's duty over the last whole 16 ms
 *   reset           by the reset pin, as opening a Nano's port does         power       power goes and comes
 *   unplug, plug [LINK]   the cable, with the power it brings; also back under another name
 *   freeze, thaw    the chip stands still, the port stays                   hang        an endless loop in the chip
 *   corrupt N       spoils the next N bytes to the host                     drop N      loses the next N bytes to the chip
 *   noise P SEED    turns a bit in P of a million bytes, both ways; 0 ends it
 *   input N 0|1     closes input N to ground, or opens it
 *   measure         begins anew what is told of turns of the main loop and of interrupts
 *   run MS          with --held: lets MS milliseconds of the chip's time pass, then answers
 *   save            writes the EEPROM's file, as the end of the program does          quit
 *
 * Time goes with the clock on the wall; with --fast as quickly as it can; with --held only by "run".
 */
#define _GNU_SOURCE
#include "emulator.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define MILLISECOND 1000000ull /* in nanoseconds */
#define BEHIND_MOST (50u * MILLISECOND)

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000u * MILLISECOND + (uint64_t)time.tv_nsec;
}

static void wait_until(uint64_t due)
{
    struct timespec time = {.tv_sec = (time_t)(due / (1000u * MILLISECOND)),
                            .tv_nsec = (long)(due % (1000u * MILLISECOND))};

    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void usage(void)
{
    fprintf(stderr, "usage: emulator IMAGE --tty LINK --control SOCKET [--eeprom FILE] [--reset-on-open]\n"
                    "                [--bootloader MS] [--with-parent] [--fast | --held]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct orders orders = {0};
    const char *image = NULL;
    const char *eeprom = NULL;
    const char *control = NULL;
    bool fast = false;
    uint64_t due;

    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (strcmp(argv[i], "--tty") == 0 && more) {
            orders.link = argv[++i];
        } else if (strcmp(argv[i], "--control") == 0 && more) {
            control = argv[++i];
        } else if (strcmp(argv[i], "--eeprom") == 0 && more) {
            eeprom = argv[++i];
        } else if (strcmp(argv[i], "--bootloader") == 0 && more) {
            orders.bootloader_ms = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--reset-on-open") == 0) {
            orders.resets_on_open = true;
        } else if (strcmp(argv[i], "--with-parent") == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
        } else if (strcmp(argv[i], "--fast") == 0) {
            fast = true;
        } else if (strcmp(argv[i], "--held") == 0) {
            orders.held = true;
        } else if (argv[i][0] != '-' && image == NULL) {
            image = argv[i];
        } else {
            usage();
        }
    }
    if (image == NULL || orders.link == NULL || control == NULL) {
        usage();
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);

    chip_load(image, eeprom);
    control_open(control);
    port_plug(orders.link);
    chip_reset(RESET_POWER, 0);
    printf("ready\n");
    fflush(stdout);

    due = now();
    while (!stopped && !orders.quit) {
        control_serve(&orders);
        due += MILLISECOND;
        /* Also where time is held: what was sent before "run" is then there, however late the kernel hands it on. */
        if (!orders.frozen && port_plugged() && port_receive() && orders.resets_on_open) {
            chip_reset(RESET_EXTERNAL, orders.bootloader_ms);
        }
        if (orders.frozen || !port_plugged() || (orders.held && orders.run_ms == 0)) {
            wait_until(due);
            continue;
        }
        chip_run_millisecond();
        if (orders.held) {
            orders.run_ms--;
            due = now();
        } else if (fast || now() > due + BEHIND_MOST) {
            due = now(); /* what the machine could not give is not caught up with */
        } else {
            wait_until(due);
        }
    }
    chip_save_eeprom();
    port_unplug();
    control_close();
    return 0;
}

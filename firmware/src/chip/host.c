/*
 * The same board as a program on a PC.
 *
 *   board [--pty LINK] [--eeprom FILE] [--trace]
 *
 * Without --pty it speaks on standard input and output, and ends when its input does. With it, it prints "ready" and
 * LINK is the port. --trace prints each change of an output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../board.h"
#include "../logic/channels.h"
#include "hal.h"

static int in = STDIN_FILENO;
static int out = STDOUT_FILENO;
static const char *link_path;
static const char *eeprom_path;
static bool trace;
static volatile sig_atomic_t stopped;
static uint8_t eeprom[HAL_EEPROM_SIZE];
static uint64_t counted_ms;

static uint64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void hal_start(void)
{
    counted_ms = now_us() / 1000u;
}

void hal_outputs_on(void)
{
}

/* A program always begins as a board does that gets its power. */
uint8_t hal_reset_cause(void)
{
    return RESET_CAUSE_POWER_ON;
}

void hal_watchdog_feed(void)
{
}

uint8_t hal_milliseconds(void)
{
    uint64_t passed = now_us() / 1000u - counted_ms;

    passed = passed > 100u ? 100u : passed;
    counted_ms += passed;
    return (uint8_t)passed;
}

uint16_t hal_microseconds(void)
{
    return (uint16_t)now_us();
}

uint16_t hal_pwm_all(uint8_t channel)
{
    return channel < 2u ? 8192u : 256u;
}

uint16_t hal_pwm_least(uint8_t channel)
{
    return channel < 2u ? 8u : 1u;
}

void hal_pwm_set(uint8_t channel, uint16_t counts)
{
    if (trace) {
        fprintf(stderr, "channel %u %u of %u\n", channel, counts, hal_pwm_all(channel));
    }
}

void hal_relay_set(uint8_t relay, bool on)
{
    if (trace) {
        fprintf(stderr, "relay %u %s\n", relay, on ? "on" : "off");
    }
}

uint8_t hal_inputs(void)
{
    return 0;
}

bool hal_serial_read(uint8_t *byte)
{
    ssize_t got = read(in, byte, 1);

    if (got == 0 && link_path == NULL) {
        stopped = 1;
    }
    return got == 1;
}

uint8_t hal_serial_lost(void)
{
    return 0;
}

uint8_t hal_serial_room(void)
{
    struct pollfd writable = {.fd = out, .events = POLLOUT};

    return poll(&writable, 1, 0) == 1 && (writable.revents & POLLOUT) != 0 ? UINT8_MAX : 0;
}

void hal_serial_write(uint8_t byte)
{
    /* A byte that finds nobody is lost, as on a wire. */
    if (write(out, &byte, 1) < 0 && errno != EAGAIN && errno != EIO) {
        stopped = 1;
    }
}

bool hal_eeprom_ready(void)
{
    return true;
}

uint8_t hal_eeprom_read(uint16_t at)
{
    return eeprom[at];
}

void hal_eeprom_write(uint16_t at, uint8_t byte)
{
    eeprom[at] = byte;
}

void hal_sleep(void)
{
    struct pollfd readable = {.fd = in, .events = POLLIN};

    /* A pty that nobody has open is always "readable". */
    if (poll(&readable, 1, 1) == 1 && (readable.revents & POLLIN) == 0) {
        usleep(1000);
    }
}

static void load_eeprom(void)
{
    FILE *file = eeprom_path == NULL ? NULL : fopen(eeprom_path, "rb");

    memset(eeprom, 0xFF, sizeof eeprom);
    if (file != NULL) {
        if (fread(eeprom, 1, sizeof eeprom, file) != sizeof eeprom) {
            fprintf(stderr, "%s is no EEPROM of %u bytes: begun anew\n", eeprom_path, HAL_EEPROM_SIZE);
            memset(eeprom, 0xFF, sizeof eeprom);
        }
        fclose(file);
    }
}

static void save_eeprom(void)
{
    FILE *file = eeprom_path == NULL ? NULL : fopen(eeprom_path, "wb");

    if (file != NULL) {
        fwrite(eeprom, 1, sizeof eeprom, file);
        fclose(file);
    }
}

static void open_pty(void)
{
    char name[64];
    struct termios raw;
    int slave;

    if (openpty(&in, &slave, name, NULL, NULL) != 0) {
        perror("openpty");
        exit(1);
    }
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    out = in;
    unlink(link_path);
    if (symlink(name, link_path) != 0) {
        perror(link_path);
        exit(1);
    }
    puts("ready");
    fflush(stdout);
}

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--pty") == 0 && i + 1 < argc) {
            link_path = argv[++i];
        } else if (strcmp(argv[i], "--eeprom") == 0 && i + 1 < argc) {
            eeprom_path = argv[++i];
        } else if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
        } else {
            fprintf(stderr, "usage: %s [--pty LINK] [--eeprom FILE] [--trace]\n", argv[0]);
            return 2;
        }
    }
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    load_eeprom();
    if (link_path != NULL) {
        open_pty();
    }
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    board_start();
    while (!stopped) {
        board_turn();
    }
    if (link_path != NULL) {
        unlink(link_path);
    }
    save_eeprom();
    return 0;
}

#define _GNU_SOURCE
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#define RECEIVE_LEAST 256u /* room at the chip without which nothing is read */

static int master = -1;
static char link_path[4096];
static bool open_before;
static unsigned corrupt, drop;
static unsigned noise_per_million;
static uint64_t random_state = 1;
static unsigned long lost;
static unsigned long taken, given; /* bytes of the host, and to it: what a pty has on the way is neither */
static unsigned long turned;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % limit);
}

static uint8_t with_noise(uint8_t byte)
{
    if (noise_per_million != 0 && random_below(1000000u) < noise_per_million) {
        turned++;
        return (uint8_t)(byte ^ (1u << random_below(8)));
    }
    return byte;
}

void port_plug(const char *link)
{
    char name[64];
    struct termios raw;
    int slave;

    if (master >= 0) {
        return;
    }
    if (openpty(&master, &slave, name, NULL, NULL) != 0) {
        perror("openpty");
        exit(1);
    }
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    /* Nobody but the host holds the other end, so that its opening and closing are seen. */
    close(slave);
    open_before = false;
    fcntl(master, F_SETFL, O_NONBLOCK);
    (void)snprintf(link_path, sizeof link_path, "%s", link);
    unlink(link_path);
    if (symlink(name, link_path) != 0) {
        perror(link_path);
        exit(1);
    }
}

void port_unplug(void)
{
    if (master >= 0) {
        unlink(link_path);
        close(master);
        master = -1;
    }
    chip_forget_received();
}

bool port_plugged(void)
{
    return master >= 0;
}

static bool is_open(void)
{
    struct pollfd other = {.fd = master, .events = 0};

    return master >= 0 && poll(&other, 1, 0) >= 0 && (other.revents & POLLHUP) == 0;
}

void port_send(uint8_t byte)
{
    byte = with_noise(byte);
    if (corrupt != 0) {
        corrupt--;
        byte ^= 0x55;
    }
    if (!open_before || write(master, &byte, 1) != 1) {
        lost++;
    } else {
        given++;
    }
}

bool port_receive(void)
{
    bool open_now = is_open();
    bool opened = open_now && !open_before;
    uint8_t bytes[RECEIVE_LEAST];
    ssize_t got;

    open_before = open_now;
    if (!open_now || chip_receive_room() < RECEIVE_LEAST) {
        return opened;
    }
    got = read(master, bytes, sizeof bytes);
    taken += got > 0 ? (unsigned long)got : 0;
    for (ssize_t i = 0; i < got; i++) {
        if (drop != 0) {
            drop--;
            continue;
        }
        bytes[i] = with_noise(bytes[i]);
        chip_receive(&bytes[i], 1);
    }
    return opened;
}

void port_corrupt(unsigned bytes)
{
    corrupt = bytes;
}

void port_drop(unsigned bytes)
{
    drop = bytes;
}

void port_noise(unsigned per_million, uint64_t seed)
{
    noise_per_million = per_million;
    random_state = seed != 0 ? seed : 1;
}

void port_tell(char *to, size_t size)
{
    (void)snprintf(to, size,
                   "\"plugged\": %s, \"open\": %s, \"lost\": %lu, \"turned\": %lu, \"taken\": %lu, \"given\": %lu, "
                   "\"full\": %s",
                   master >= 0 ? "true" : "false", open_before ? "true" : "false", lost, turned, taken, given,
                   chip_receive_room() < RECEIVE_LEAST ? "true" : "false");
}

#define _GNU_SOURCE
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REPLY_MAX 4096u

static char socket_path[sizeof((struct sockaddr_un *)0)->sun_path];
static int listener = -1;
static int client = -1;
static char line[512];
static size_t line_used;
static bool run_to_answer; /* "run" is answered when it is done */

void control_open(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof socket_path) {
        fprintf(stderr, "%s is too long for a socket\n", path);
        exit(1);
    }
    strcpy(socket_path, path);
    strcpy(address.sun_path, path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0) {
        perror(path);
        exit(1);
    }
    fcntl(listener, F_SETFL, O_NONBLOCK);
}

void control_close(void)
{
    if (client >= 0) {
        close(client);
    }
    close(listener);
    unlink(socket_path);
}

static void reply(const char *text)
{
    if (client >= 0 && (write(client, text, strlen(text)) < 0 || write(client, "\n", 1) < 0)) {
        close(client);
        client = -1;
    }
}

static void tell(const struct orders *orders)
{
    char chip[REPLY_MAX];
    char port[256];
    char all[REPLY_MAX + 512];

    chip_tell(chip, sizeof chip);
    port_tell(port, sizeof port);
    (void)snprintf(all, sizeof all, "{%s, %s, \"frozen\": %s}", chip, port, orders->frozen ? "true" : "false");
    reply(all);
}

static void obey(struct orders *orders, const char *command)
{
    unsigned number;
    unsigned value;
    uint64_t seed;
    char path[256];

    if (strcmp(command, "state") == 0) {
        tell(orders);
        return;
    }
    if (sscanf(command, "run %u", &number) == 1) {
        orders->run_ms += number;
        run_to_answer = true;
        return;
    }
    if (strcmp(command, "reset") == 0) {
        chip_reset(RESET_EXTERNAL, orders->bootloader_ms);
    } else if (strcmp(command, "power") == 0) {
        chip_reset(RESET_POWER, orders->bootloader_ms);
    } else if (strcmp(command, "unplug") == 0) {
        port_unplug();
    } else if (strcmp(command, "plug") == 0) {
        port_plug(orders->link);
        chip_reset(RESET_POWER, orders->bootloader_ms);
    } else if (sscanf(command, "plug %255s", path) == 1) {
        port_plug(path);
        chip_reset(RESET_POWER, orders->bootloader_ms);
    } else if (strcmp(command, "freeze") == 0) {
        orders->frozen = true;
    } else if (strcmp(command, "thaw") == 0) {
        orders->frozen = false;
    } else if (strcmp(command, "hang") == 0) {
        reply(chip_hang() ? "ok" : "error the image has no endless loop");
        return;
    } else if (sscanf(command, "corrupt %u", &number) == 1) {
        port_corrupt(number);
    } else if (sscanf(command, "drop %u", &number) == 1) {
        port_drop(number);
    } else if (sscanf(command, "noise %u %" SCNu64, &number, &seed) == 2) {
        port_noise(number, seed);
    } else if (sscanf(command, "input %u %u", &number, &value) == 2) {
        reply(chip_press(number, value != 0) ? "ok" : "error no such input");
        return;
    } else if (strcmp(command, "measure") == 0) {
        chip_measure();
    } else if (strcmp(command, "save") == 0) {
        chip_save_eeprom();
    } else if (strcmp(command, "quit") == 0) {
        orders->quit = true;
    } else {
        reply("error no such command");
        return;
    }
    reply("ok");
}

void control_serve(struct orders *orders)
{
    ssize_t got;
    char *end;

    if (run_to_answer && orders->run_ms == 0) {
        run_to_answer = false;
        reply("ok");
    }
    if (client < 0) {
        client = accept(listener, NULL, NULL);
        if (client < 0) {
            return;
        }
        fcntl(client, F_SETFL, O_NONBLOCK);
        line_used = 0;
    }
    got = read(client, line + line_used, sizeof line - 1 - line_used);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        close(client);
        client = -1;
        run_to_answer = false;
        return;
    }
    line_used += got > 0 ? (size_t)got : 0;
    line[line_used] = '\0';
    while ((end = strchr(line, '\n')) != NULL) {
        *end = '\0';
        obey(orders, line);
        line_used -= (size_t)(end + 1 - line);
        memmove(line, end + 1, line_used + 1);
    }
}

/* GPIO chips and hardware PWMs that are not there, for programs that are not changed: LD_PRELOAD this.
 *
 * FAKE_BOARD names a folder, made and watched by fakeboard.py, in which
 *   gpio/gpiochipN/label, lines       are a chip; it is seen as /dev/gpiochipN, with the kernel's uAPI v2
 *   gpio/gpiochipN/K/name             is what line K is called
 *   gpio/gpiochipN/K/level            is what the pin is at, 0 or 1: we write outputs, others write inputs
 *   gpio/gpiochipN/K/direction        is "in" or "out"; outlives a request, as on most chips
 *   gpio/gpiochipN/K/consumer         names a program that has it, for the kernel's own sake
 *   gpio/gpiochipN/K/wire             is the number of the input that this output is wired to
 *   gpio/gpiochipN/K/wired-from       is the opposite
 *   gpio/gpiochipN/K/stuck            holds the pin: levels are not written while it is there
 *   gpio/gpiochipN/K/request          is "pid flags debounce-in-us path-of-the-fifo" while we have it
 *   pwm/pwmchipN/...                  is seen as /sys/class/pwm/pwmchipN
 *   fail/OPERATION, fail/OPERATION-K  hold the number of an error; operations are open, request, set, get, export,
 *                                     export-open
 *   log                               has a line for all that happened to outputs, in order
 *
 * A request's descriptor is a FIFO opened for both directions: whoever changes an input writes the kernel's
 * struct gpio_v2_line_event into it, so no thread is needed here.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { CHIPS = 8, REQUESTS = 64, FILES = 32, TEXT = 512 };

#define DEVICE "/dev/gpiochip"
#define SYSFS "/sys/class/pwm"
#define MAJOR 254u

struct request {
    int fd; /* -1: free */
    unsigned chip;
    unsigned count;
    uint32_t lines[GPIO_V2_LINES_MAX];
    struct gpio_v2_line_config config;
};

struct pwm_file { /* an open file of a PWM that the kernel would look at when it is written to */
    int fd;
    char folder[TEXT];
    char name[32];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int chip_fds[CHIPS] = {-1, -1, -1, -1, -1, -1, -1, -1};
static struct request requests[REQUESTS];
static struct pwm_file pwm_files[FILES];

__attribute__((constructor)) static void set_up(void)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        requests[i].fd = -1;
    }
    for (unsigned i = 0; i < FILES; i++) {
        pwm_files[i].fd = -1;
    }
}

/* The functions that stand behind ours. */
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
typedef int (*open_function)(const char *, int, ...);
typedef int (*stat_function)(const char *, struct stat *);
typedef int (*xstat_function)(int, const char *, struct stat *);
typedef int (*access_function)(const char *, int);
typedef int (*ioctl_function)(int, unsigned long, ...);
typedef int (*close_function)(int);
typedef ssize_t (*write_function)(int, const void *, size_t);
typedef ssize_t (*readlink_function)(const char *, char *, size_t);
typedef char *(*realpath_function)(const char *, char *);
typedef DIR *(*opendir_function)(const char *);

static const char *board(void)
{
    return getenv("FAKE_BOARD");
}

static int open_really(const char *path, int flags, mode_t mode)
{
    return NEXT(open_function, "open")(path, flags, mode);
}

static int close_really(int fd)
{
    return NEXT(close_function, "close")(fd);
}

/* -- Files of the board ---------------------------------------------------------------------------------------- */

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open_really(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, size - 1);
    close_really(fd);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return got >= 0;
}

static void write_text(const char *path, const char *text)
{
    /* Whole or not at all for who reads it: written beside it, then moved. */
    char beside[TEXT + 32];
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    int fd = open_really(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return;
    }
    ssize_t put = NEXT(write_function, "write")(fd, text, strlen(text));
    close_really(fd);
    if (put >= 0) {
        rename(beside, path);
    }
}

static void line_file(char *path, unsigned chip, uint32_t line, const char *file)
{
    snprintf(path, TEXT, "%s/gpio/gpiochip%u/%u/%s", board(), chip, line, file);
}

static bool read_line_file(unsigned chip, uint32_t line, const char *file, char *text, size_t size)
{
    char path[TEXT];
    line_file(path, chip, line, file);
    return read_text(path, text, size);
}

static void write_line_file(unsigned chip, uint32_t line, const char *file, const char *text)
{
    char path[TEXT];
    line_file(path, chip, line, file);
    write_text(path, text);
}

static void log_line(const char *format, ...)
{
    char path[TEXT], text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/log", board());
    int fd = open_really(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0) {
        ssize_t put = NEXT(write_function, "write")(fd, text, strlen(text));
        (void)put;
        close_really(fd);
    }
}

/* Whether an operation is to fail; errno is set then. A line of -1 is none. */
static bool fails(const char *operation, int line)
{
    char path[TEXT], text[16];
    snprintf(path, sizeof path, "%s/fail/%s", board(), operation);
    bool wanted = read_text(path, text, sizeof text);
    if (!wanted && line >= 0) {
        snprintf(path, sizeof path, "%s/fail/%s-%d", board(), operation, line);
        wanted = read_text(path, text, sizeof text);
    }
    if (wanted) {
        errno = (int)strtol(text, NULL, 10);
    }
    return wanted;
}

static unsigned lines_of(unsigned chip)
{
    char path[TEXT], text[16];
    snprintf(path, sizeof path, "%s/gpio/gpiochip%u/lines", board(), chip);
    return read_text(path, text, sizeof text) ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* -- Levels of pins, and what a request makes of them ------------------------------------------------------------ */

static bool pin_level(unsigned chip, uint32_t line)
{
    char text[8];
    return read_line_file(chip, line, "level", text, sizeof text) && text[0] == '1';
}

static bool pin_is_output(unsigned chip, uint32_t line)
{
    char text[8];
    return read_line_file(chip, line, "direction", text, sizeof text) && !strcmp(text, "out");
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Brings the other end of a wire to a level, and tells whoever listens there. */
static void carry(unsigned chip, uint32_t line, bool level)
{
    static uint32_t sequence;
    char text[2 * TEXT], fifo[TEXT];
    long pid;
    unsigned long long flags;
    if (!read_line_file(chip, line, "wire", text, sizeof text)) {
        return;
    }
    uint32_t end = (uint32_t)strtoul(text, NULL, 10);
    if (pin_level(chip, end) == level) {
        return;
    }
    write_line_file(chip, end, "level", level ? "1\n" : "0\n");
    if (!read_line_file(chip, end, "request", text, sizeof text) ||
        sscanf(text, "%ld %llu %*s %*u %511s", &pid, &flags, fifo) != 3) {
        return;
    }
    bool active = level ^ ((flags & GPIO_V2_LINE_FLAG_ACTIVE_LOW) != 0);
    if (!(flags & (active ? GPIO_V2_LINE_FLAG_EDGE_RISING : GPIO_V2_LINE_FLAG_EDGE_FALLING))) {
        return;
    }
    sequence++;
    struct gpio_v2_line_event event = {
        .timestamp_ns = now_ns(),
        .id = active ? GPIO_V2_LINE_EVENT_RISING_EDGE : GPIO_V2_LINE_EVENT_FALLING_EDGE,
        .offset = end,
        .seqno = sequence,
        .line_seqno = sequence,
    };
    int fd = open_really(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd >= 0) {
        ssize_t put = NEXT(write_function, "write")(fd, &event, sizeof event);
        (void)put;
        close_really(fd);
    }
}

static void drive_pin(unsigned chip, uint32_t line, bool level, const char *why)
{
    char text[8];
    bool stuck = read_line_file(chip, line, "stuck", text, sizeof text);
    bool was_output = pin_is_output(chip, line), was = pin_level(chip, line);
    if (!stuck) {
        write_line_file(chip, line, "level", level ? "1\n" : "0\n");
        write_line_file(chip, line, "direction", "out\n");
        carry(chip, line, level);
    }
    const char *edge = stuck || was == level ? "same" : "edge";
    log_line("%s gpiochip%u %u %d %s%s\n", why, chip, line, level, edge, was_output ? "" : " from-input");
}

/* The flags of a line: its own if the request gives it some, else those of all. */
static uint64_t flags_of(const struct gpio_v2_line_config *config, unsigned index)
{
    for (unsigned i = 0; i < config->num_attrs && i < GPIO_V2_LINE_NUM_ATTRS_MAX; i++) {
        if (config->attrs[i].attr.id == GPIO_V2_LINE_ATTR_ID_FLAGS && (config->attrs[i].mask >> index & 1)) {
            return config->attrs[i].attr.flags;
        }
    }
    return config->flags;
}

static bool first_value_of(const struct gpio_v2_line_config *config, unsigned index)
{
    for (unsigned i = 0; i < config->num_attrs && i < GPIO_V2_LINE_NUM_ATTRS_MAX; i++) {
        if (config->attrs[i].attr.id == GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES && (config->attrs[i].mask >> index & 1)) {
            return config->attrs[i].attr.values >> index & 1;
        }
    }
    return false;
}

static uint32_t debounce_of(const struct gpio_v2_line_config *config, unsigned index)
{
    for (unsigned i = 0; i < config->num_attrs && i < GPIO_V2_LINE_NUM_ATTRS_MAX; i++) {
        if (config->attrs[i].attr.id == GPIO_V2_LINE_ATTR_ID_DEBOUNCE && (config->attrs[i].mask >> index & 1)) {
            return config->attrs[i].attr.debounce_period_us;
        }
    }
    return 0;
}

static bool is_active_low(const struct gpio_v2_line_config *config, unsigned index)
{
    return flags_of(config, index) & GPIO_V2_LINE_FLAG_ACTIVE_LOW;
}

/* The rules of the kernel's gpio_v2_line_config_validate() that a mistake of ours could break. */
static bool is_valid(const struct gpio_v2_line_config *config, unsigned count)
{
    const uint64_t edges = GPIO_V2_LINE_FLAG_EDGE_RISING | GPIO_V2_LINE_FLAG_EDGE_FALLING;
    const uint64_t bias =
        GPIO_V2_LINE_FLAG_BIAS_PULL_UP | GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN | GPIO_V2_LINE_FLAG_BIAS_DISABLED;
    for (unsigned i = 0; i < count; i++) {
        uint64_t flags = flags_of(config, i);
        bool input = flags & GPIO_V2_LINE_FLAG_INPUT, output = flags & GPIO_V2_LINE_FLAG_OUTPUT;
        if ((input && output) || ((flags & edges) && !input) || ((flags & bias) && !input && !output)) {
            return false;
        }
        if (debounce_of(config, i) && !input) {
            return false;
        }
    }
    return config->num_attrs <= GPIO_V2_LINE_NUM_ATTRS_MAX;
}

/* Its resistor brings an input to a level where the output that is wired to it, if any, does not drive it. */
static void pull(unsigned chip, uint32_t line, uint64_t flags)
{
    char text[16];
    const uint64_t both = GPIO_V2_LINE_FLAG_BIAS_PULL_UP | GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN;
    if (!(flags & both) || !read_line_file(chip, line, "wired-from", text, sizeof text) ||
        pin_is_output(chip, (uint32_t)strtoul(text, NULL, 10))) {
        return;
    }
    write_line_file(chip, line, "level", flags & GPIO_V2_LINE_FLAG_BIAS_PULL_UP ? "1\n" : "0\n");
}

static void apply(const struct request *request, const char *why)
{
    for (unsigned i = 0; i < request->count; i++) {
        uint64_t flags = flags_of(&request->config, i);
        if (flags & GPIO_V2_LINE_FLAG_OUTPUT) {
            bool value = first_value_of(&request->config, i);
            drive_pin(request->chip, request->lines[i], value ^ is_active_low(&request->config, i), why);
        } else if (flags & GPIO_V2_LINE_FLAG_INPUT) {
            write_line_file(request->chip, request->lines[i], "direction", "in\n");
            pull(request->chip, request->lines[i], flags);
        }
    }
}

/* -- Who has a line --------------------------------------------------------------------------------------------- */

/* The program that has a line; a request of one that was killed is none. */
static bool consumer_of(unsigned chip, uint32_t line, char *consumer, uint64_t *flags)
{
    char text[TEXT];
    *flags = 0;
    if (read_line_file(chip, line, "consumer", consumer, GPIO_MAX_NAME_SIZE)) {
        return true;
    }
    long pid = 0;
    unsigned long long given = 0;
    char path[TEXT];
    if (!read_line_file(chip, line, "request", text, sizeof text) ||
        sscanf(text, "%ld %llu %31s", &pid, &given, consumer) != 3) {
        return false;
    }
    if (kill((pid_t)pid, 0) != 0) {
        line_file(path, chip, line, "request");
        unlink(path);
        return false;
    }
    *flags = given;
    return true;
}

static int line_info(unsigned chip, struct gpio_v2_line_info *info)
{
    uint32_t line = info->offset;
    if (line >= lines_of(chip)) {
        errno = EINVAL;
        return -1;
    }
    memset(info, 0, sizeof *info);
    info->offset = line;
    char text[GPIO_MAX_NAME_SIZE];
    if (read_line_file(chip, line, "name", text, sizeof text)) {
        memcpy(info->name, text, sizeof info->name - 1);
    }
    uint64_t flags = 0;
    memset(text, 0, sizeof text);
    if (consumer_of(chip, line, text, &flags)) {
        memcpy(info->consumer, text, sizeof info->consumer - 1);
        info->flags = flags | GPIO_V2_LINE_FLAG_USED;
    }
    info->flags |= pin_is_output(chip, line) ? GPIO_V2_LINE_FLAG_OUTPUT : GPIO_V2_LINE_FLAG_INPUT;
    return 0;
}

static void record(const struct request *request, const char *consumer, const char *fifo)
{
    for (unsigned i = 0; i < request->count; i++) {
        char text[TEXT + 64];
        unsigned long long flags = flags_of(&request->config, i);
        snprintf(text, sizeof text, "%ld %llu %s %u %s\n", (long)getpid(), flags, consumer[0] ? consumer : "?",
                 debounce_of(&request->config, i), fifo);
        write_line_file(request->chip, request->lines[i], "request", text);
    }
}

static int request_lines(unsigned chip, struct gpio_v2_line_request *wanted)
{
    if (wanted->num_lines == 0 || wanted->num_lines > GPIO_V2_LINES_MAX ||
        !is_valid(&wanted->config, wanted->num_lines)) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned i = 0; i < wanted->num_lines; i++) {
        char consumer[GPIO_MAX_NAME_SIZE];
        uint64_t flags;
        if (wanted->offsets[i] >= lines_of(chip)) {
            errno = EINVAL;
            return -1;
        }
        if (fails("request", (int)wanted->offsets[i])) {
            return -1;
        }
        if (consumer_of(chip, wanted->offsets[i], consumer, &flags)) {
            errno = EBUSY;
            return -1;
        }
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (requests[i].fd >= 0) {
            continue;
        }
        char fifo[TEXT];
        line_file(fifo, chip, wanted->offsets[0], "events");
        unlink(fifo);
        /* Open for both directions it never ends, and opening it never waits. */
        int fd = mkfifo(fifo, 0600) == 0 ? open_really(fifo, O_RDWR | O_CLOEXEC, 0) : -1;
        if (fd < 0) {
            return -1;
        }
        requests[i] = (struct request){.fd = fd, .chip = chip, .count = wanted->num_lines, .config = wanted->config};
        memcpy(requests[i].lines, wanted->offsets, sizeof requests[i].lines);
        apply(&requests[i], "request");
        record(&requests[i], wanted->consumer, fifo);
        wanted->fd = fd;
        return 0;
    }
    errno = ENOMEM;
    return -1;
}

static int chip_ioctl(unsigned chip, unsigned long what, void *argument)
{
    if (what == (GPIO_GET_CHIPINFO_IOCTL & 0xffffffffUL)) {
        struct gpiochip_info *info = argument;
        char path[TEXT], text[GPIO_MAX_NAME_SIZE] = "";
        memset(info, 0, sizeof *info);
        snprintf(info->name, sizeof info->name, "gpiochip%u", chip);
        snprintf(path, sizeof path, "%s/gpio/gpiochip%u/label", board(), chip);
        read_text(path, text, sizeof text);
        memcpy(info->label, text, sizeof info->label - 1);
        info->lines = lines_of(chip);
        return 0;
    }
    if (what == (GPIO_V2_GET_LINEINFO_IOCTL & 0xffffffffUL)) {
        return line_info(chip, argument);
    }
    if (what == (GPIO_V2_GET_LINE_IOCTL & 0xffffffffUL)) {
        return request_lines(chip, argument);
    }
    errno = ENOTTY;
    return -1;
}

static int request_ioctl(struct request *request, unsigned long what, void *argument)
{
    struct gpio_v2_line_values *values = argument;
    if (what == (GPIO_V2_LINE_SET_VALUES_IOCTL & 0xffffffffUL)) {
        for (unsigned i = 0; i < request->count; i++) {
            if (!(values->mask >> i & 1)) {
                continue;
            }
            if (!(flags_of(&request->config, i) & GPIO_V2_LINE_FLAG_OUTPUT)) {
                errno = EPERM;
                return -1;
            }
            if (fails("set", (int)request->lines[i])) {
                return -1;
            }
            bool level = (values->bits >> i & 1) ^ is_active_low(&request->config, i);
            drive_pin(request->chip, request->lines[i], level, "set");
        }
        return 0;
    }
    if (what == (GPIO_V2_LINE_GET_VALUES_IOCTL & 0xffffffffUL)) {
        values->bits = 0;
        for (unsigned i = 0; i < request->count; i++) {
            if (!(values->mask >> i & 1)) {
                continue;
            }
            if (fails("get", (int)request->lines[i])) {
                return -1;
            }
            bool value = pin_level(request->chip, request->lines[i]) ^ is_active_low(&request->config, i);
            values->bits |= (uint64_t)value << i;
        }
        return 0;
    }
    if (what == (GPIO_V2_LINE_SET_CONFIG_IOCTL & 0xffffffffUL)) {
        const struct gpio_v2_line_config *config = argument;
        if (!is_valid(config, request->count)) {
            errno = EINVAL;
            return -1;
        }
        request->config = *config;
        apply(request, "reconfigure");
        return 0;
    }
    errno = ENOTTY;
    return -1;
}

/* -- PWM: what the kernel does when a file is written to ------------------------------------------------------------ */

static unsigned long long pwm_number(const char *folder, const char *file)
{
    char path[2 * TEXT], text[32];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return read_text(path, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static void pwm_file_of(const char *folder, const char *file, const char *text)
{
    char path[2 * TEXT];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    write_text(path, text);
}

/* Returns an error, or 0. */
static int pwm_written(const struct pwm_file *file, unsigned long long value)
{
    char folder[TEXT + 32];
    if (!strcmp(file->name, "export")) {
        if (fails("export", -1)) {
            return errno;
        }
        snprintf(folder, sizeof folder, "%s/pwm%llu", file->folder, value);
        if (value >= pwm_number(file->folder, "npwm")) {
            return ENODEV;
        }
        if (mkdir(folder, 0755) != 0) {
            return EBUSY;
        }
        pwm_file_of(folder, "period", "0\n");
        pwm_file_of(folder, "enable", "0\n");
        pwm_file_of(folder, "polarity", "normal\n");
        pwm_file_of(folder, "duty_cycle", "0\n"); /* last: who waits for it finds all */
        return 0;
    }
    unsigned long long period = pwm_number(file->folder, "period"), duty = pwm_number(file->folder, "duty_cycle");
    if (!strcmp(file->name, "period") && (value == 0 || value < duty)) {
        return EINVAL;
    }
    if (!strcmp(file->name, "duty_cycle") && value > period) {
        return EINVAL;
    }
    if (!strcmp(file->name, "enable") && (value > 1 || (value == 1 && period == 0))) {
        return EINVAL;
    }
    char path[2 * TEXT], text[32];
    snprintf(path, sizeof path, "%s/stuck", file->folder);
    if (NEXT(access_function, "access")(path, F_OK) != 0) {
        snprintf(text, sizeof text, "%llu\n", value);
        pwm_file_of(file->folder, file->name, text);
    }
    log_line("pwm %s %s %llu\n", strrchr(file->folder, '/') + 1, file->name, value);
    return 0;
}

static void remember_pwm_file(int fd, const char *path, int flags)
{
    const char *name = strrchr(path, '/');
    bool of_pwm = board() && !strncmp(path, board(), strlen(board())) && strstr(path, "/pwm/pwmchip");
    if (fd < 0 || !of_pwm || !name || (flags & O_ACCMODE) == O_RDONLY) {
        return;
    }
    for (unsigned i = 0; i < FILES; i++) {
        if (pwm_files[i].fd < 0) {
            pwm_files[i].fd = fd;
            snprintf(pwm_files[i].folder, TEXT, "%.*s", (int)(name - path), path);
            snprintf(pwm_files[i].name, sizeof pwm_files[i].name, "%s", name + 1);
            return;
        }
    }
}

/* -- The functions of the C library that programs call -------------------------------------------------------------- */

/* The number of the chip that a path is the device of; -1 for any other path, and for one that is not there. */
static int chip_of(const char *path)
{
    if (!path || !board() || strncmp(path, DEVICE, strlen(DEVICE)) != 0) {
        return -1;
    }
    char *end;
    long chip = strtol(path + strlen(DEVICE), &end, 10);
    if (*end || end == path + strlen(DEVICE) || chip < 0 || chip >= CHIPS || !lines_of((unsigned)chip)) {
        return -1;
    }
    return (int)chip;
}

/* The path to look at in the place of one that is asked for. */
static const char *real(const char *path, char *buffer)
{
    if (!path || !board()) {
        return path;
    }
    if (!strncmp(path, SYSFS, strlen(SYSFS))) {
        snprintf(buffer, TEXT, "%s/pwm%s", board(), path + strlen(SYSFS));
        return buffer;
    }
    if (!strncmp(path, DEVICE, strlen(DEVICE))) { /* links of old names */
        snprintf(buffer, TEXT, "%s/dev/%s", board(), path + strlen("/dev/"));
        return buffer;
    }
    return path;
}

static int open_any(const char *path, int flags, mode_t mode)
{
    char buffer[TEXT];
    int chip = chip_of(path);
    pthread_mutex_lock(&lock);
    int fd;
    if (chip >= 0) {
        char folder[TEXT];
        snprintf(folder, sizeof folder, "%s/gpio/gpiochip%d/label", board(), chip);
        fd = fails("open", chip) ? -1 : open_really(folder, O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0) {
            if (chip_fds[chip] >= 0) { /* one at a time is all that the library has open */
                close_really(chip_fds[chip]);
            }
            chip_fds[chip] = fd;
        }
    } else {
        const char *instead = real(path, buffer);
        /* What the kernel would take apart it must not see emptied first. */
        bool of_pwm = instead == buffer && strstr(instead, "/pwm/pwmchip");
        bool exports = of_pwm && !strcmp(strrchr(instead, '/'), "/export");
        flags = of_pwm ? flags & ~(O_TRUNC | O_CREAT) : flags;
        fd = exports && fails("export-open", -1) ? -1 : open_really(instead, flags, mode);
        if (instead == buffer) {
            remember_pwm_file(fd, instead, flags);
        }
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_any(path, flags, mode);
}

int close(int fd)
{
    pthread_mutex_lock(&lock);
    for (int chip = 0; fd >= 0 && chip < CHIPS; chip++) {
        if (chip_fds[chip] == fd) {
            chip_fds[chip] = -1;
        }
    }
    for (unsigned i = 0; fd >= 0 && i < FILES; i++) {
        if (pwm_files[i].fd == fd) {
            pwm_files[i].fd = -1;
        }
    }
    for (unsigned i = 0; fd >= 0 && i < REQUESTS; i++) {
        if (requests[i].fd == fd) {
            for (unsigned k = 0; k < requests[i].count; k++) {
                char path[TEXT];
                line_file(path, requests[i].chip, requests[i].lines[k], "request");
                unlink(path);
                log_line("release gpiochip%u %u\n", requests[i].chip, requests[i].lines[k]);
            }
            requests[i].fd = -1;
        }
    }
    pthread_mutex_unlock(&lock);
    return close_really(fd);
}

ssize_t write(int fd, const void *data, size_t size)
{
    for (unsigned i = 0; board() && fd >= 0 && i < FILES; i++) {
        if (pwm_files[i].fd == fd) {
            char text[32];
            snprintf(text, sizeof text, "%.*s", (int)(size < 31 ? size : 31), (const char *)data);
            pthread_mutex_lock(&lock);
            int error = pwm_written(&pwm_files[i], strtoull(text, NULL, 10));
            pthread_mutex_unlock(&lock);
            if (error) {
                errno = error;
                return -1;
            }
            return (ssize_t)size;
        }
    }
    return NEXT(write_function, "write")(fd, data, size);
}

int ioctl(int fd, unsigned long what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    unsigned long number = what & 0xffffffffUL; /* some callers extend its sign */
    int result = -1;
    bool ours = false;
    pthread_mutex_lock(&lock);
    for (unsigned chip = 0; fd >= 0 && chip < CHIPS && !ours; chip++) {
        if (chip_fds[chip] == fd) {
            ours = true;
            result = chip_ioctl(chip, number, argument);
        }
    }
    for (unsigned i = 0; fd >= 0 && i < REQUESTS && !ours; i++) {
        if (requests[i].fd == fd) {
            ours = true;
            result = request_ioctl(&requests[i], number, argument);
        }
    }
    pthread_mutex_unlock(&lock);
    return ours ? result : NEXT(ioctl_function, "ioctl")(fd, what, argument);
}

/* What a stat of a chip's device tells; its group and mode are those of the file `device`, which the tests set. */
static void device_stat(int chip, struct stat *found)
{
    memset(found, 0, sizeof *found);
    found->st_mode = S_IFCHR | 0660;
    found->st_rdev = makedev(MAJOR, (unsigned)chip);
    char path[TEXT], text[32];
    snprintf(path, sizeof path, "%s/gpio/gpiochip%d/group", board(), chip);
    found->st_gid = read_text(path, text, sizeof text) ? (gid_t)strtoul(text, NULL, 10) : 0;
}

#define STAT(name)                                                                                                    \
    int name(const char *path, struct stat *found)                                                                    \
    {                                                                                                                 \
        char buffer[TEXT];                                                                                            \
        int chip = chip_of(path);                                                                                     \
        if (chip >= 0) {                                                                                              \
            device_stat(chip, found);                                                                                 \
            return 0;                                                                                                 \
        }                                                                                                             \
        return NEXT(stat_function, #name)(real(path, buffer), found);                                                 \
    }
STAT(stat)
STAT(lstat)
#define stat64_type struct stat /* the same on 64-bit machines, which are all that we build for */

int stat64(const char *path, struct stat64 *found)
{
    return stat(path, (stat64_type *)found);
}

int lstat64(const char *path, struct stat64 *found)
{
    return lstat(path, (stat64_type *)found);
}

/* Wheels that are built for an old C library call these. */
#define XSTAT(name, plain)                                                                                            \
    int name(int version, const char *path, struct stat *found)                                                       \
    {                                                                                                                 \
        (void)version;                                                                                                \
        return plain(path, found);                                                                                    \
    }
XSTAT(__xstat, stat)
XSTAT(__lxstat, lstat)
XSTAT(__xstat64, stat)
XSTAT(__lxstat64, lstat)

static bool is_subsystem(const char *path)
{
    return path && board() && !strncmp(path, "/sys/dev/char/254:", 18) && strstr(path, "/subsystem");
}

int access(const char *path, int mode)
{
    char buffer[TEXT];
    if (chip_of(path) >= 0 || is_subsystem(path)) {
        return 0;
    }
    return NEXT(access_function, "access")(real(path, buffer), mode);
}

char *realpath(const char *path, char *resolved)
{
    const char *found = is_subsystem(path) ? "/sys/bus/gpio" : chip_of(path) >= 0 ? path : NULL;
    if (!found) {
        char buffer[TEXT];
        return NEXT(realpath_function, "realpath")(real(path, buffer), resolved);
    }
    return resolved ? strcpy(resolved, found) : strdup(found);
}

ssize_t readlink(const char *path, char *buffer, size_t size)
{
    char instead[TEXT];
    return NEXT(readlink_function, "readlink")(real(path, instead), buffer, size);
}

DIR *opendir(const char *path)
{
    char buffer[TEXT];
    if (board() && !strcmp(path, "/dev")) {
        snprintf(buffer, sizeof buffer, "%s/dev", board());
        return NEXT(opendir_function, "opendir")(buffer);
    }
    return NEXT(opendir_function, "opendir")(real(path, buffer));
}

#include "emulator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_eeprom.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_timer.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>

#define EEPROM_SIZE 1024u
#define RAM_START 0x100u
#define RAM_SIZE 0x800u
#define MCUSR 0x54
#define UCSR0A 0xC0
#define OCR1AL 0x88
#define OCR1BL 0x8A
#define UBRR0L 0xC4
#define UBRR0H 0xC5
#define TIMER1_OVERFLOW_VECTOR 13
#define USART_RX_VECTOR 18
#define TURN "board_turn" /* the firmware's main loop calls it once a turn */
/* 16.4 ms: a whole number of periods of every timer, so that a steady duty is measured well. */
#define WINDOW (32u * 8192u)
#define TIMER1_TOP_BITS 13u /* the firmware's ICR1 is 8191 */
#define OUTPUTS 8u
#define INPUTS 4u
#define RECEIVED_ROOM 4096u

/* An output as wiring.md has it: its pin, and the timer's bits that take it from its port. */
struct output {
    const char *name;
    char port;
    uint8_t bit;
    uint16_t control; /* address of TCCRnA; 0 for a pin without a timer */
    uint8_t connect;
    char timer;
    uint8_t compare;
};

static const struct output outputs[OUTPUTS] = {
    {"D9", 'B', 1, 0x80, 0xC0, '1', 0},  {"D10", 'B', 2, 0x80, 0x30, '1', 1}, {"D6", 'D', 6, 0x44, 0xC0, '0', 0},
    {"D5", 'D', 5, 0x44, 0x30, '0', 1},  {"D11", 'B', 3, 0xB0, 0xC0, '2', 0}, {"D3", 'D', 3, 0xB0, 0x30, '2', 1},
    {"D4", 'D', 4, 0, 0, 0, 0},          {"D7", 'D', 7, 0, 0, 0, 0},
};

/* What was seen of an output. */
struct seen {
    bool high;
    uint64_t since;   /* the cycle of its last edge */
    uint64_t high_for; /* in this window */
    double duty;      /* of the last window */
    uint64_t edges;
    uint64_t changed; /* the cycle of the timer's last new compare value */
};

/* An interrupt, and the most cycles from its flag to its routine. */
struct vector {
    uint8_t number;
    uint64_t pending_at;
    uint64_t latency_most;
};

static struct vector vectors[] = {{.number = USART_RX_VECTOR}, {.number = TIMER1_OVERFLOW_VECTOR}};
#define VECTORS (sizeof vectors / sizeof vectors[0])

static avr_t *avr;
static avr_uart_t *uart;
static avr_irq_t *uart_in;
static void (*core_reset)(struct avr_t *);
static const char *eeprom_file;
static struct seen seen[OUTPUTS];
static bool closed[INPUTS];
static unsigned waiting_ms; /* in the bootloader */
static bool expected_reset;
static unsigned power_resets, external_resets, watchdog_resets;
static uint64_t reset_at, driven_at, first_byte_at, received_at, window_at;
static uint64_t asleep_for;
static avr_flashaddr_t turn_at; /* where TURN is; 0 in an image without it */
static uint16_t variables_end;  /* above it is the stack's */
static uint8_t ram_at_power[RAM_SIZE];
static uint64_t turn_began, turn_most, turn_all, turns; /* in cycles awake */
static uint8_t received[RECEIVED_ROOM];
static unsigned received_in, received_out, received_last, received_stuck;
static unsigned long bytes_in, bytes_out, overruns;

static void on_edge(struct avr_irq_t *irq, uint32_t value, void *of)
{
    struct seen *pin = of;
    bool high = (value & 1u) != 0;

    (void)irq;
    if (high == pin->high) {
        return;
    }
    if (pin->high) {
        pin->high_for += avr->cycle - pin->since;
    }
    pin->high = high;
    pin->since = avr->cycle;
    pin->edges++;
}

static void on_compare(struct avr_irq_t *irq, uint32_t value, void *of)
{
    (void)irq;
    (void)value;
    ((struct seen *)of)->changed = avr->cycle;
}

static void on_byte(struct avr_irq_t *irq, uint32_t value, void *of)
{
    (void)irq;
    (void)of;
    bytes_out++;
    if (first_byte_at == 0) {
        first_byte_at = avr->cycle;
    }
    port_send((uint8_t)value);
}

static void on_pending(struct avr_irq_t *irq, uint32_t value, void *of)
{
    struct vector *vector = of;

    (void)irq;
    if (value != 0) {
        vector->pending_at = avr->cycle;
    }
}

static void on_running(struct avr_irq_t *irq, uint32_t value, void *of)
{
    struct vector *vector = of;

    (void)irq;
    if (value != 0 && vector->pending_at != 0) {
        uint64_t took = avr->cycle - vector->pending_at;

        vector->latency_most = took > vector->latency_most ? took : vector->latency_most;
        vector->pending_at = 0;
    }
}

/* A turn of the main loop begins: the one before has taken the cycles since its own beginning, without those asleep. */
static void on_turn(void)
{
    uint64_t awake = avr->cycle - asleep_for;

    if (turn_began != 0) {
        uint64_t took = awake - turn_began;

        turn_most = took > turn_most ? took : turn_most;
        turn_all += took;
        turns++;
    }
    turn_began = awake;
}

void chip_measure(void)
{
    turn_most = turn_all = turns = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        vectors[i].latency_most = 0;
    }
}

/*
 * Gives the receiver a byte at the rate that the firmware set. simavr's receiver holds 64 bytes where the chip holds
 * two, so a full one is modelled: a byte that is due and finds two unread for three more byte times is lost, and the
 * chip's overrun bit is set.
 */
static avr_cycle_count_t give_byte(struct avr_t *chip, avr_cycle_count_t when, void *of)
{
    uint32_t divisor = (chip->data[UCSR0A] & 2u) != 0 ? 8u : 16u;
    uint32_t ubrr = chip->data[UBRR0L] | (uint32_t)(chip->data[UBRR0H] & 15u) << 8;
    unsigned unread = (unsigned)(uart->input.write - uart->input.read) & 63u;

    (void)of;
    if (uart->input.read != received_last) {
        received_last = uart->input.read;
        received_stuck = 0;
    }
    if (received_in != received_out) {
        if (unread < 2) {
            avr_raise_irq(uart_in, received[received_out]);
            received_out = (received_out + 1) % RECEIVED_ROOM;
            bytes_in++;
            received_at = chip->cycle;
            received_stuck = 0;
        } else if (++received_stuck > 3) {
            received_out = (received_out + 1) % RECEIVED_ROOM;
            overruns++;
            avr_regbit_set(chip, uart->dor);
        }
    }
    return when + 10ull * divisor * (ubrr + 1);
}

/*
 * A timer that lets go of its pin, and a reset, are no edges to simavr: the pin is then its port's, whose bit is the
 * pull-up where it is not driven.
 */
static void look_at_pins(void)
{
    static const uint16_t ports[] = {['B'] = 0x25, ['D'] = 0x2B};
    bool all_driven = true;

    for (unsigned i = 0; i < OUTPUTS; i++) {
        const struct output *output = &outputs[i];
        uint16_t port = ports[(unsigned)output->port];
        bool driven = (avr->data[port - 1] >> output->bit & 1u) != 0;
        bool by_timer = output->control != 0 && (avr->data[output->control] & output->connect) != 0;

        all_driven = all_driven && driven;
        if (!driven || !by_timer) {
            on_edge(NULL, avr->data[port] >> output->bit & 1u, &seen[i]);
        }
    }
    if (all_driven && driven_at == 0) {
        driven_at = avr->cycle;
    }
}

static avr_cycle_count_t end_window(struct avr_t *chip, avr_cycle_count_t when, void *of)
{
    (void)of;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        struct seen *pin = &seen[i];
        uint64_t high_for = pin->high_for;

        if (pin->high) {
            high_for += chip->cycle - pin->since;
            pin->since = chip->cycle;
        }
        pin->high_for = 0;
        pin->duty = chip->cycle > window_at ? (double)high_for / (double)(chip->cycle - window_at) : 0;
    }
    window_at = chip->cycle;
    return when + WINDOW;
}

/* Also the watchdog ends here, and every reset clears simavr's timers. */
static void on_reset(struct avr_t *chip)
{
    if (core_reset != NULL) {
        core_reset(chip);
    }
    if (!expected_reset) {
        watchdog_resets++;
    }
    expected_reset = false;
    reset_at = chip->cycle;
    driven_at = first_byte_at = turn_began = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        vectors[i].pending_at = 0;
    }
    chip_forget_received();
    for (unsigned i = 0; i < INPUTS; i++) {
        chip_press(i, closed[i]);
    }
    window_at = chip->cycle;
    avr_cycle_timer_register(chip, 16, give_byte, NULL);
    avr_cycle_timer_register(chip, WINDOW, end_window, NULL);
}

static void on_sleep(struct avr_t *chip, avr_cycle_count_t how_long)
{
    (void)chip;
    asleep_for += how_long + 1; /* as simavr then adds to its cycles */
}

/*
 * simavr 1.6 takes timer 1's mode 14, fast PWM up to ICR1, for a mode in which a new compare value is not heard before
 * the timer is set up anew. Its fast PWM of a fixed width does right, and can have any number of bits.
 */
static void mend_mode_14(void)
{
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        avr_timer_t *timer = (avr_timer_t *)io;

        if (strcmp(io->kind, "timer") == 0 && timer->name == '1') {
            timer->wgm_op[14] = (avr_timer_wgm_t){.kind = avr_timer_wgm_fast_pwm, .size = TIMER1_TOP_BITS};
        }
    }
}

/*
 * simavr 1.6 looks for a new compare value when its low byte is written, the high one being there already: 0x0108 and
 * 0x1C08 are one to it, and the pin stays as it is. So it is shown another low byte before.
 */
struct low_byte {
    uint16_t address;
    avr_io_write_t write;
    void *of;
};

static struct low_byte low_bytes[] = {{.address = OCR1AL}, {.address = OCR1BL}};

static void write_low_byte(struct avr_t *chip, avr_io_addr_t address, uint8_t value, void *of)
{
    struct low_byte *low = of;

    chip->data[address] = (uint8_t)~value;
    low->write(chip, address, value, low->of);
}

static void mend_compare_values(void)
{
    for (unsigned i = 0; i < sizeof low_bytes / sizeof low_bytes[0]; i++) {
        struct low_byte *low = &low_bytes[i];
        unsigned io = AVR_DATA_TO_IO(low->address);

        low->write = avr->io[io].w.c;
        low->of = avr->io[io].w.param;
        avr->io[io].w.c = write_low_byte;
        avr->io[io].w.param = low;
    }
}

static void load_eeprom(void)
{
    uint8_t bytes[EEPROM_SIZE];
    avr_eeprom_desc_t all = {.ee = bytes, .offset = 0, .size = sizeof bytes};
    FILE *file = eeprom_file == NULL ? NULL : fopen(eeprom_file, "rb");

    memset(bytes, 0xFF, sizeof bytes);
    if (file != NULL) {
        if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes) {
            memset(bytes, 0xFF, sizeof bytes);
        }
        fclose(file);
    }
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &all);
}

void chip_save_eeprom(void)
{
    avr_eeprom_desc_t all = {.ee = NULL, .offset = 0, .size = EEPROM_SIZE};
    FILE *file = eeprom_file == NULL ? NULL : fopen(eeprom_file, "wb");

    if (file != NULL) {
        avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &all);
        fwrite(all.ee, 1, EEPROM_SIZE, file);
        fclose(file);
    }
}

void chip_load(const char *elf_path, const char *eeprom_path)
{
    elf_firmware_t firmware;
    uint32_t no_flags = 0;

    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(elf_path, &firmware) != 0) {
        fprintf(stderr, "%s is no image\n", elf_path);
        exit(1);
    }
    avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        fprintf(stderr, "this libsimavr has no atmega328p\n");
        exit(1);
    }
    strcpy(firmware.mmcu, "atmega328p");
    firmware.frequency = (uint32_t)CHIP_HZ;
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr->sleep = on_sleep;
    avr->log = LOG_ERROR;
    eeprom_file = eeprom_path;
    load_eeprom();
    mend_mode_14();
    mend_compare_values();

    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &no_flags);
    uart_in = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_byte, NULL);
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "uart") == 0) {
            uart = (avr_uart_t *)io;
            break;
        }
    }
    for (unsigned i = 0; i < VECTORS; i++) {
        avr_irq_t *irqs = avr_get_interrupt_irq(avr, vectors[i].number);

        avr_irq_register_notify(irqs + AVR_INT_IRQ_PENDING, on_pending, &vectors[i]);
        avr_irq_register_notify(irqs + AVR_INT_IRQ_RUNNING, on_running, &vectors[i]);
    }
    for (uint32_t i = 0; i < firmware.symbolcount; i++) {
        if (strcmp(firmware.symbol[i]->symbol, TURN) == 0) {
            turn_at = firmware.symbol[i]->addr;
        } else if (strcmp(firmware.symbol[i]->symbol, "_end") == 0) {
            variables_end = (uint16_t)firmware.symbol[i]->addr; /* the linker's RAM begins at 0x800000 */
        }
    }
    for (unsigned i = 0; i < OUTPUTS; i++) {
        const struct output *output = &outputs[i];

        avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(output->port), output->bit), on_edge,
                                &seen[i]);
        if (output->timer != 0) {
            avr_irq_register_notify(
                avr_io_getirq(avr, AVR_IOCTL_TIMER_GETIRQ(output->timer), TIMER_IRQ_OUT_PWM0 + output->compare),
                on_compare, &seen[i]);
        }
    }
    core_reset = avr->reset;
    avr->reset = on_reset;
}

void chip_reset(enum reset reset, unsigned bootloader_ms)
{
    static uint64_t seed = 88172645463325252u;

    expected_reset = true;
    avr_reset(avr);
    avr->state = cpu_Running;
    if (reset == RESET_POWER) {
        power_resets++;
        avr->data[MCUSR] = 1;
        for (unsigned i = 0; i < RAM_SIZE; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            avr->data[RAM_START + i] = (uint8_t)(seed >> 24);
        }
        memcpy(ram_at_power, avr->data + RAM_START, sizeof ram_at_power);
    } else {
        external_resets++;
        avr->data[MCUSR] = 2;
    }
    waiting_ms = bootloader_ms;
}

/*
 * An interrupt pin that is low would be polled in every cycle, though no interrupt is asked for: D3 is a lamp. A reset
 * asks for that anew.
 */
static void poll_no_interrupt_pins(void)
{
    avr_extint_set_strict_lvl_trig(avr, 0, 0);
    avr_extint_set_strict_lvl_trig(avr, 1, 0);
}

void chip_run_millisecond(void)
{
    static uint64_t end; /* from the last one's, not from where a long sleep has led to */

    end += CHIP_SLICE;
    poll_no_interrupt_pins();
    if (waiting_ms != 0) {
        waiting_ms--;
        avr->cycle += CHIP_SLICE;
        chip_forget_received();
        return;
    }
    while (avr->cycle < end) {
        int state;

        /* Awake it is looked at after every instruction; asleep nothing can happen before the next timer. */
        avr->run_cycle_limit = avr->state == cpu_Sleeping ? CHIP_SLICE : 1;
        state = avr_run(avr);

        if (state == cpu_Done || state == cpu_Crashed) {
            fprintf(stderr, "the processor stopped at 0x%x in state %d\n", avr->pc, state);
            exit(1);
        }
        if (avr->pc == turn_at && turn_at != 0) {
            on_turn();
        }
        if (driven_at == 0) {
            look_at_pins(); /* to the cycle, for the time that a start takes */
        }
    }
    look_at_pins();
}

bool chip_hang(void)
{
    /* cli, rjmp to itself: what avr-libc puts after main. */
    static const uint8_t for_ever[] = {0xF8, 0x94, 0xFF, 0xCF};

    for (avr_flashaddr_t at = 0; at + sizeof for_ever <= avr->codeend; at += 2) {
        if (memcmp(avr->flash + at, for_ever, sizeof for_ever) == 0) {
            avr->pc = at;
            avr->state = cpu_Running;
            return true;
        }
    }
    return false;
}

bool chip_press(unsigned input, bool is_closed)
{
    if (input >= INPUTS) {
        return false;
    }
    avr_irq_t *pin = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('C'), (int)input);

    closed[input] = is_closed;
    /* A reset has emptied the port's register, and simavr leaves out a level that the pin had before. */
    pin->flags |= IRQ_FLAG_INIT;
    avr_raise_irq(pin, is_closed ? 0 : 1);
    return true;
}

size_t chip_receive_room(void)
{
    return (received_out + RECEIVED_ROOM - received_in - 1) % RECEIVED_ROOM;
}

void chip_receive(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        received[received_in] = bytes[i];
        received_in = (received_in + 1) % RECEIVED_ROOM;
    }
}

void chip_forget_received(void)
{
    received_in = received_out = received_stuck = 0;
}

/* How deep the stack has been since the power came: down to the first byte above all variables that has changed. */
static unsigned stack_used(void)
{
    unsigned at = variables_end > RAM_START ? variables_end - RAM_START : 0;

    while (at < RAM_SIZE && avr->data[RAM_START + at] == ram_at_power[at]) {
        at++;
    }
    return RAM_SIZE - at;
}

void chip_tell(char *to, size_t size)
{
    size_t used = 0;
    static const char *const between[] = {"", ", "};

    used += (size_t)snprintf(to + used, size - used,
                             "\"cycle\": %" PRIu64 ", \"reset_cycle\": %" PRIu64 ", \"driven_cycle\": %" PRIu64
                             ", \"first_byte_cycle\": %" PRIu64 ", \"received_cycle\": %" PRIu64
                             ", \"power_resets\": %u, \"external_resets\": %u, \"watchdog_resets\": %u"
                             ", \"in_bootloader\": %s, \"latency_cycles\": %" PRIu64
                             ", \"clock_latency_cycles\": %" PRIu64 ", \"turns\": %" PRIu64
                             ", \"turn_cycles_most\": %" PRIu64 ", \"turn_cycles\": %" PRIu64
                             ", \"window_cycle\": %" PRIu64 ", \"stack\": %u, \"asleep_cycles\": %" PRIu64
                             ", \"received\": %lu, \"sent\": %lu, \"overruns\": %lu, \"outputs\": [",
                             (uint64_t)avr->cycle, reset_at, driven_at, first_byte_at, received_at, power_resets,
                             external_resets, watchdog_resets, waiting_ms != 0 ? "true" : "false",
                             vectors[0].latency_most, vectors[1].latency_most, turns, turn_most, turn_all, window_at,
                             stack_used(), asleep_for, bytes_in, bytes_out, overruns);
    look_at_pins();
    for (unsigned i = 0; i < OUTPUTS && used < size; i++) {
        used += (size_t)snprintf(to + used, size - used,
                                 "%s{\"pin\": \"%s\", \"high\": %s, \"duty\": %.5f, \"edges\": %" PRIu64
                                 ", \"changed_cycle\": %" PRIu64 "}",
                                 between[i != 0], outputs[i].name, seen[i].high ? "true" : "false", seen[i].duty,
                                 seen[i].edges, seen[i].changed);
    }
    if (used < size) {
        (void)snprintf(to + used, size - used, "]");
    }
}

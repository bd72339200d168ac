#include "fake_chip.h"

#include <string.h>

#include "../src/board.h"
#include "../src/devices/memory.h"

struct fake_chip chip;

void fake_chip_new(void)
{
    memset(&chip, 0, sizeof chip);
    memset(chip.eeprom, 0xFF, sizeof chip.eeprom);
    fake_chip_lose_power();
}

void fake_chip_lose_power(void)
{
    /* What no checksum fits is as good as random. */
    uint16_t nothing[CHANNELS];

    memset(nothing, 0xA5, sizeof nothing);
    memory_keep_levels(nothing);
}

void fake_chip_boot(uint8_t reset_cause)
{
    chip.reset_cause = reset_cause;
    chip.driving = false;
    chip.output_changes = 0;
    memset(chip.counts, 0, sizeof chip.counts);
    memset(chip.relays, 0, sizeof chip.relays);
    chip.received_left = 0;
    chip.sent_used = chip.sent_read = 0;
    board_start();
    board_turn();
}

void fake_chip_run(uint32_t milliseconds)
{
    for (uint32_t i = 0; i < milliseconds; i++) {
        chip.us += 1000u;
        board_turn();
    }
}

void fake_chip_receive(const uint8_t *bytes, size_t length)
{
    unsigned turns = 0;

    chip.received = bytes;
    chip.received_left = length;
    while (chip.received_left != 0 && ++turns < 100000u) {
        board_turn();
    }
    board_turn();
}

bool fake_chip_ask(uint8_t type, const uint8_t *body, uint8_t length, struct frame *answer)
{
    static uint8_t sequence;
    struct frame request = {.length = length, .type = type};
    uint8_t wire[FRAME_WIRE_MAX];

    sequence = sequence == UINT8_MAX ? 1 : (uint8_t)(sequence + 1);
    request.sequence = sequence;
    if (length != 0) {
        memcpy(request.body, body, length);
    }
    fake_chip_receive(wire, frame_write(&request, wire));
    while (fake_chip_sent(answer)) {
        if (answer->sequence == sequence) {
            return true;
        }
    }
    return false;
}

bool fake_chip_sent(struct frame *frame)
{
    static struct decoder decoder;

    decoder_start(&decoder);
    while (chip.sent_read < chip.sent_used) {
        if (decoder_take(&decoder, chip.sent[chip.sent_read++], frame) == DECODER_FRAME) {
            return true;
        }
    }
    return false;
}

void hal_start(void)
{
    chip.counted_ms = chip.us / 1000u;
}

void hal_outputs_on(void)
{
    chip.driving = true;
    chip.set_before_driving = chip.output_changes;
}

uint8_t hal_reset_cause(void)
{
    return chip.reset_cause;
}

void hal_watchdog_feed(void)
{
}

void hal_sleep(void)
{
}

uint8_t hal_milliseconds(void)
{
    uint32_t passed = chip.us / 1000u - chip.counted_ms;

    chip.counted_ms += passed;
    return (uint8_t)passed;
}

uint16_t hal_microseconds(void)
{
    return (uint16_t)chip.us;
}

void hal_pwm_set(uint8_t channel, uint16_t counts)
{
    chip.counts[channel] = counts;
    chip.output_changes++;
}

uint16_t hal_pwm_all(uint8_t channel)
{
    return channel < 2u ? 8192u : 256u;
}

uint16_t hal_pwm_least(uint8_t channel)
{
    return channel < 2u ? 8u : 1u;
}

void hal_relay_set(uint8_t relay, bool on)
{
    chip.relays[relay] = on;
    chip.output_changes++;
}

uint8_t hal_inputs(void)
{
    return chip.inputs;
}

bool hal_serial_read(uint8_t *byte)
{
    if (chip.received_left == 0) {
        return false;
    }
    *byte = *chip.received++;
    chip.received_left--;
    return true;
}

uint8_t hal_serial_lost(void)
{
    uint8_t lost = chip.lost;

    chip.lost = 0;
    return lost;
}

uint8_t hal_serial_room(void)
{
    return chip.deaf_host ? 0 : UINT8_MAX;
}

void hal_serial_write(uint8_t byte)
{
    /* What nobody reads for so long is begun anew. */
    if (chip.sent_used == SENT_ROOM) {
        chip.sent_used = chip.sent_read = 0;
    }
    chip.sent[chip.sent_used++] = byte;
}

bool hal_eeprom_ready(void)
{
    return !chip.eeprom_busy;
}

uint8_t hal_eeprom_read(uint16_t at)
{
    return chip.eeprom[at];
}

void hal_eeprom_write(uint16_t at, uint8_t byte)
{
    if (chip.eeprom[at] != byte) {
        chip.eeprom[at] = byte;
        chip.eeprom_writes++;
    }
}

/*
 * An Arduino Nano with our firmware, as a program: the release image on simavr's ATmega328P, its serial port as a
 * pty, its pins measured, its troubles on command.
 *
 * This folder is our own code; the library it links, libsimavr, is GPL-3. The program is built where it is used, for
 * tests and for `make run`, and is never shipped.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- chip.c: the processor, its pins, its EEPROM --- */

#define CHIP_HZ 16000000ull
#define CHIP_SLICE (CHIP_HZ / 1000u) /* cycles of a millisecond */

enum reset { RESET_POWER, RESET_EXTERNAL };

/* Loads an image (ELF); exits with a sentence where it cannot. eeprom_path may be NULL. */
void chip_load(const char *elf_path, const char *eeprom_path);
void chip_save_eeprom(void);
/* A reset by the pin, or by power that was away: then RAM is random. The processor waits for bootloader_ms. */
void chip_reset(enum reset reset, unsigned bootloader_ms);
/* A millisecond of the chip's time. */
void chip_run_millisecond(void);
/* The processor loops for ever with interrupts off; only the watchdog can end that. */
bool chip_hang(void);
/* An input's wire: true is closed to ground. */
bool chip_press(unsigned input, bool closed);
/* Begins the longest turn of the loop and the latencies anew. */
void chip_measure(void);
/* All there is to tell, as one line of JSON. */
void chip_tell(char *to, size_t size);
/* Bytes that wait for the chip's receiver. */
size_t chip_receive_room(void);
void chip_receive(const uint8_t *bytes, size_t count);
void chip_forget_received(void);

/* --- port.c: the cable --- */

void port_plug(const char *link);
void port_unplug(void);
bool port_plugged(void);
/* A byte of the chip; lost where nobody has the port open, as with a USB adapter. */
void port_send(uint8_t byte);
/* Hands what the host wrote to the chip, as far as it has room. True where the port was opened since the last call. */
bool port_receive(void);
/* Bytes to spoil or lose from now on. */
void port_corrupt(unsigned bytes);
void port_drop(unsigned bytes);
/* A random bit of one byte in a million times per_million is turned, both ways. */
void port_noise(unsigned per_million, uint64_t seed);
void port_tell(char *to, size_t size);

/* --- control.c: the socket --- */

/* What main.c does on command. */
struct orders {
    bool quit;
    bool frozen;
    unsigned long run_ms; /* still to run where the chip is held */
    bool held;
    bool resets_on_open;
    unsigned bootloader_ms;
    const char *link;
};

void control_open(const char *path);
void control_close(void);
/* Does what has come, without waiting. */
void control_serve(struct orders *orders);

#endif

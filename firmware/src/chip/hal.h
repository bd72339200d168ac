/* What a chip is to the layers above. Each chip is one file that defines all of it: atmega328p.c, host.c. */
#ifndef HAL_H
#define HAL_H

#include <stdbool.h>
#include <stdint.h>

/* Clock, timers, serial port and inputs run; outputs do not drive yet; the watchdog bites after 250 ms. */
void hal_start(void);
/* From now on the outputs drive what they were set to. */
void hal_outputs_on(void);

/* Bits of the wire's reset_cause. */
uint8_t hal_reset_cause(void);
void hal_watchdog_feed(void);
/* Until there is something to do, a millisecond at most. */
void hal_sleep(void);

/* Milliseconds since the last call. */
uint8_t hal_milliseconds(void);
/* Runs freely and wraps at 65536. */
uint16_t hal_microseconds(void);

/* Counts of the channel's timer: 0 is dark, hal_pwm_all is full; hal_pwm_least is the shortest pulse worth making. */
void hal_pwm_set(uint8_t channel, uint16_t counts);
uint16_t hal_pwm_all(uint8_t channel);
uint16_t hal_pwm_least(uint8_t channel);
void hal_relay_set(uint8_t relay, bool on);
/* Bit n is input n, 1 is pressed; not debounced. */
uint8_t hal_inputs(void);

/* False when no byte has come. */
bool hal_serial_read(uint8_t *byte);
/* Bytes lost or damaged since the last call. */
uint8_t hal_serial_lost(void);
/* How many bytes can be written now. */
uint8_t hal_serial_room(void);
/* Only with room. */
void hal_serial_write(uint8_t byte);

#define HAL_EEPROM_SIZE 1024u

/* Reads and writes only while ready. A write of what is there already costs nothing; others take 3.4 ms. */
bool hal_eeprom_ready(void);
uint8_t hal_eeprom_read(uint16_t at);
void hal_eeprom_write(uint16_t at, uint8_t byte);

/* For what survives every reset but a loss of power, and is random then. */
#ifdef __AVR__
#define HAL_KEPT __attribute__((section(".noinit")))
#else
#define HAL_KEPT
#endif

#endif

/*
 * ATmega328P at 16 MHz, as on the Arduino Nano and Uno.
 *
 *   channel   pin   Arduino   output   frequency   counts
 *   0         PB1   D9        OC1A     1953 Hz     8192
 *   1         PB2   D10       OC1B     1953 Hz     8192
 *   2         PD6   D6        OC0A     7812 Hz      256
 *   3         PD5   D5        OC0B     7812 Hz      256
 *   4         PB3   D11       OC2A     7812 Hz      256
 *   5         PD3   D3        OC2B     7812 Hz      256
 *   6 (relay) PD4   D4
 *   7 (relay) PD7   D7
 *   inputs    PC0-PC3  A0-A3, to ground, with the chip's pull-ups
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "../logic/channels.h"
#include "hal.h"

#if F_CPU != 16000000
#error "timers and baud rate are worked out for 16 MHz"
#endif

/* Relay boards that switch on with a low input: make firmware RELAYS=low. */
#ifndef RELAYS_ACTIVE_LOW
#define RELAYS_ACTIVE_LOW 0
#endif

#define TIMER1_TOP 8191u
#define OVERFLOW_US 512u /* 8192 cycles */
/* 115200 baud at double speed is 117647, 2.1 % fast: as Arduino has it, whose USB chip errs the same way. */
#define UBRR_115200 16u

struct pin {
    volatile uint8_t *port;
    volatile uint8_t *direction;
    uint8_t mask;
};

struct pwm_pin {
    struct pin pin;
    volatile uint8_t *control; /* with the bit that connects the timer to the pin */
    uint8_t connect;
    volatile uint8_t *compare8; /* NULL where compare16 is meant */
    volatile uint16_t *compare16;
};

static const struct pwm_pin pwm_pins[DIM_CHANNELS] PROGMEM = {
    {{&PORTB, &DDRB, 1u << PB1}, &TCCR1A, 1u << COM1A1, 0, &OCR1A},
    {{&PORTB, &DDRB, 1u << PB2}, &TCCR1A, 1u << COM1B1, 0, &OCR1B},
    {{&PORTD, &DDRD, 1u << PD6}, &TCCR0A, 1u << COM0A1, &OCR0A, 0},
    {{&PORTD, &DDRD, 1u << PD5}, &TCCR0A, 1u << COM0B1, &OCR0B, 0},
    {{&PORTB, &DDRB, 1u << PB3}, &TCCR2A, 1u << COM2A1, &OCR2A, 0},
    {{&PORTD, &DDRD, 1u << PD3}, &TCCR2A, 1u << COM2B1, &OCR2B, 0},
};

static const struct pin relay_pins[RELAY_CHANNELS] PROGMEM = {
    {&PORTD, &DDRD, 1u << PD4},
    {&PORTD, &DDRD, 1u << PD7},
};

#define INPUT_MASK 0x0Fu /* PC0 to PC3 */

/* --- the reset and its cause --- */

static HAL_KEPT uint8_t reset_cause;

void chip_before_start(void) __attribute__((naked, used, section(".init3")));

/*
 * Before anything else: after a watchdog reset the watchdog runs on at its shortest, 16 ms. The cause is read here
 * once. Optiboot clears MCUSR and hands it on in r2, which nothing before .init3 changes; without a bootloader
 * MCUSR itself is never 0.
 */
void chip_before_start(void)
{
    uint8_t cause = MCUSR;
    uint8_t handed_on;

    __asm__ volatile("mov %0, r2" : "=r"(handed_on));
    if (cause == 0 && (handed_on & 0xF0u) == 0) {
        cause = handed_on;
    }
    MCUSR = 0;
    wdt_disable();
    reset_cause = (uint8_t)(cause & 0x0Fu);
}

uint8_t hal_reset_cause(void)
{
    return reset_cause;
}

void hal_watchdog_feed(void)
{
    wdt_reset();
}

/* --- time --- */

static volatile uint16_t overflows;       /* of timer 1, since the start */
static volatile uint16_t part_us;         /* of the millisecond under way */
static volatile uint8_t milliseconds_due; /* not told yet */

ISR(TIMER1_OVF_vect)
{
    uint16_t us = (uint16_t)(part_us + OVERFLOW_US);

    overflows++;
    if (us >= 1000u) {
        us = (uint16_t)(us - 1000u);
        milliseconds_due++;
    }
    part_us = us;
}

uint8_t hal_milliseconds(void)
{
    uint8_t passed;

    cli();
    passed = milliseconds_due;
    milliseconds_due = 0;
    sei();
    return passed;
}

uint16_t hal_microseconds(void)
{
    uint16_t count;
    uint16_t passed;

    cli();
    count = TCNT1;
    passed = overflows;
    /* An overflow that came after cli() waits in its flag. */
    if ((TIFR1 & (1u << TOV1)) != 0 && count < TIMER1_TOP / 2u) {
        passed++;
    }
    sei();
    return (uint16_t)(passed * OVERFLOW_US + count / 16u);
}

/* --- the serial port --- */

#define RECEIVED_ROOM 256u /* its positions are bytes, which wrap by themselves */
#define TO_SEND_ROOM 128u

static volatile uint8_t received[RECEIVED_ROOM];
static volatile uint8_t received_in;
static volatile uint8_t received_out;
static volatile uint8_t received_lost;
static volatile uint8_t to_send[TO_SEND_ROOM];
static volatile uint8_t to_send_in;
static volatile uint8_t to_send_out;

ISR(USART_RX_vect)
{
    uint8_t status = UCSR0A; /* before UDR0, which takes it away */
    uint8_t byte = UDR0;
    uint8_t next = (uint8_t)(received_in + 1u);

    if ((status & ((1u << FE0) | (1u << DOR0))) != 0 && received_lost < UINT8_MAX) {
        received_lost++;
    }
    if (next != received_out) {
        received[received_in] = byte;
        received_in = next;
    } else if (received_lost < UINT8_MAX) {
        received_lost++;
    }
}

ISR(USART_UDRE_vect)
{
    uint8_t out = to_send_out;

    if (out == to_send_in) {
        UCSR0B = (uint8_t)(UCSR0B & ~(1u << UDRIE0));
        return;
    }
    UDR0 = to_send[out];
    to_send_out = (uint8_t)((out + 1u) % TO_SEND_ROOM);
}

bool hal_serial_read(uint8_t *byte)
{
    uint8_t out = received_out;

    if (out == received_in) {
        return false;
    }
    *byte = received[out];
    received_out = (uint8_t)(out + 1u);
    return true;
}

uint8_t hal_serial_lost(void)
{
    uint8_t lost;

    cli();
    lost = received_lost;
    received_lost = 0;
    sei();
    return lost;
}

uint8_t hal_serial_room(void)
{
    uint8_t used = (uint8_t)((to_send_in + TO_SEND_ROOM - to_send_out) % TO_SEND_ROOM);

    return (uint8_t)(TO_SEND_ROOM - 1u - used);
}

void hal_serial_write(uint8_t byte)
{
    to_send[to_send_in] = byte;
    to_send_in = (uint8_t)((to_send_in + 1u) % TO_SEND_ROOM);
    cli();
    UCSR0B = (uint8_t)(UCSR0B | (1u << UDRIE0));
    sei();
}

/* --- the outputs --- */

static void set_pin(volatile uint8_t *port, uint8_t mask, bool high)
{
    if (high) {
        *port = (uint8_t)(*port | mask);
    } else {
        *port = (uint8_t)(*port & ~mask);
    }
}

static bool is_16_bit(uint8_t channel)
{
    return channel < 2u;
}

uint16_t hal_pwm_all(uint8_t channel)
{
    return is_16_bit(channel) ? TIMER1_TOP + 1u : 256u;
}

/* Half a microsecond on all of them: less does not open a MOSFET. */
uint16_t hal_pwm_least(uint8_t channel)
{
    return is_16_bit(channel) ? 8u : 1u;
}

/* Fast PWM is high for compare + 1 counts, so it has no darkness; darkness and full light take the pin from the timer. */
void hal_pwm_set(uint8_t channel, uint16_t counts)
{
    volatile uint8_t *port = pgm_read_ptr(&pwm_pins[channel].pin.port);
    volatile uint8_t *control = pgm_read_ptr(&pwm_pins[channel].control);
    uint8_t mask = pgm_read_byte(&pwm_pins[channel].pin.mask);
    uint8_t connect = pgm_read_byte(&pwm_pins[channel].connect);

    if (counts == 0 || counts >= hal_pwm_all(channel)) {
        set_pin(port, mask, counts != 0);
        *control = (uint8_t)(*control & ~connect);
        return;
    }
    if (is_16_bit(channel)) {
        volatile uint16_t *compare = pgm_read_ptr(&pwm_pins[channel].compare16);

        cli(); /* both halves go through one hidden byte, which the clock's reading shares */
        *compare = (uint16_t)(counts - 1u);
        sei();
    } else {
        volatile uint8_t *compare = pgm_read_ptr(&pwm_pins[channel].compare8);

        *compare = (uint8_t)(counts - 1u);
    }
    *control = (uint8_t)(*control | connect);
}

void hal_relay_set(uint8_t relay, bool on)
{
    set_pin(pgm_read_ptr(&relay_pins[relay].port), pgm_read_byte(&relay_pins[relay].mask),
            on != (RELAYS_ACTIVE_LOW != 0));
}

static void drive(const struct pin *pin)
{
    volatile uint8_t *direction = pgm_read_ptr(&pin->direction);
    uint8_t mask = pgm_read_byte(&pin->mask);

    *direction = (uint8_t)(*direction | mask);
}

void hal_outputs_on(void)
{
    for (uint8_t i = 0; i < DIM_CHANNELS; i++) {
        drive(&pwm_pins[i].pin);
    }
    for (uint8_t i = 0; i < RELAY_CHANNELS; i++) {
        drive(&relay_pins[i]);
    }
}

uint8_t hal_inputs(void)
{
    return (uint8_t)((PINC & INPUT_MASK) ^ INPUT_MASK);
}

/* --- EEPROM --- */

bool hal_eeprom_ready(void)
{
    return eeprom_is_ready();
}

uint8_t hal_eeprom_read(uint16_t at)
{
    return eeprom_read_byte((const uint8_t *)at);
}

void hal_eeprom_write(uint16_t at, uint8_t byte)
{
    eeprom_update_byte((uint8_t *)at, byte);
}

/* --- start and sleep --- */

static void start_timers(void)
{
    /* Fast PWM of 8 bits at 16 MHz / 8 / 256. */
    TCCR0A = (1u << WGM01) | (1u << WGM00);
    TCCR0B = 1u << CS01;
    TCCR2A = (1u << WGM21) | (1u << WGM20);
    TCCR2B = 1u << CS21;
    /* Fast PWM up to ICR1; its overflow is the clock. */
    ICR1 = TIMER1_TOP;
    TCCR1A = 1u << WGM11;
    TCCR1B = (1u << WGM13) | (1u << WGM12) | (1u << CS10);
    TIMSK1 = 1u << TOIE1;
}

void hal_start(void)
{
    wdt_enable(WDTO_250MS);
    PORTC = INPUT_MASK;
    DIDR0 = 0;
    ACSR = 1u << ACD;
    start_timers();
    UBRR0 = UBRR_115200;
    UCSR0A = 1u << U2X0;
    UCSR0C = (1u << UCSZ01) | (1u << UCSZ00);
    UCSR0B = (1u << RXEN0) | (1u << TXEN0) | (1u << RXCIE0);
    SMCR = 0; /* idle: the timers and the serial port run on */
    sei();
}

void hal_sleep(void)
{
    cli();
    if (received_in == received_out && milliseconds_due == 0) {
        sleep_enable();
        sei(); /* the instruction after sei() is still without interrupts, so none comes between */
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

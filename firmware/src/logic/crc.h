/* CRC-16/CCITT-FALSE: polynomial 0x1021, begins with 0xFFFF, nothing reflected. */
#ifndef CRC_H
#define CRC_H

#include <stdint.h>

#define CRC_START 0xFFFFu

uint16_t crc_update(uint16_t crc, uint8_t byte);
uint16_t crc_of(const uint8_t *bytes, uint8_t length);

#endif

#include "crc.h"

/* Without a table: 256 words of flash save nothing at 11,520 bytes a second. */
uint16_t crc_update(uint16_t crc, uint8_t byte)
{
    uint8_t x = (uint8_t)((crc >> 8) ^ byte);

    x = (uint8_t)(x ^ (x >> 4));
    return (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^ x);
}

uint16_t crc_of(const uint8_t *bytes, uint8_t length)
{
    uint16_t crc = CRC_START;

    for (uint8_t i = 0; i < length; i++) {
        crc = crc_update(crc, bytes[i]);
    }
    return crc;
}

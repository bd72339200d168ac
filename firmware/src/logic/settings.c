#include "settings.h"

#include <string.h>

void settings_clear(struct settings *settings)
{
    memset(settings, 0, sizeof *settings);
}

bool settings_have_id(const struct settings *settings)
{
    for (uint8_t i = 0; i < BOARD_ID_SIZE; i++) {
        if (settings->board_id[i] != 0) {
            return true;
        }
    }
    return false;
}

void settings_write(const struct settings *settings, uint8_t *bytes)
{
    memcpy(bytes, settings->board_id, BOARD_ID_SIZE);
    bytes += BOARD_ID_SIZE;
    protocol_put_u16(bytes, settings->silence);
    bytes += 2;
    for (uint8_t i = 0; i < CHANNELS; i++) {
        protocol_put_u16(bytes, settings->channels[i].safe_level);
        bytes[2] = settings->channels[i].boot_level;
        bytes += 3;
    }
}

bool settings_read(struct settings *settings, const uint8_t *bytes)
{
    memcpy(settings->board_id, bytes, BOARD_ID_SIZE);
    bytes += BOARD_ID_SIZE;
    settings->silence = protocol_u16(bytes);
    bytes += 2;
    for (uint8_t i = 0; i < CHANNELS; i++) {
        settings->channels[i].safe_level = protocol_u16(bytes);
        settings->channels[i].boot_level = bytes[2];
        if (!channel_takes(i, settings->channels[i].safe_level) || bytes[2] > BOOT_LEVEL_LAST) {
            settings_clear(settings);
            return false;
        }
        bytes += 3;
    }
    return true;
}

/* The light controller: its start, and one turn of its loop. */
#ifndef BOARD_H
#define BOARD_H

void board_start(void);
/* Serves what has come, moves what is due, and sleeps until there is more to do. */
void board_turn(void);

#endif

"""What both sides of MQTT need, the channel and the driver: a connection, a message with its answer, a cause."""

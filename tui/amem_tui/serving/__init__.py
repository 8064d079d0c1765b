"""The browser outside a terminal: on a web page of this machine, in a window of its own."""

"""Random input to everything that reads what others wrote: `make fuzz` for as long as you like."""

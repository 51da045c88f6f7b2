"""Bad and odd input, as one table: what is given, and what must come of it. One file per area."""

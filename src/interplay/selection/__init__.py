"""select()."""

"""Table, outcome and all that is known of the samples, checked."""

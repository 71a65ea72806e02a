"""Row patterns: automata, conditions, measures, and the rules for them."""

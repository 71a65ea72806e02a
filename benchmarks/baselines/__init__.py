"""What segment patterns are measured against: automata, by hand for each template and one for all."""

"""How people write row pattern queries: texts and builders in, values of the algebra out."""

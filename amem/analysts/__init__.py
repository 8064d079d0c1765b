"""What reads notes: a model by the prompts, or the rules."""

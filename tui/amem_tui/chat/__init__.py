"""The assistant, with what it recalled and what it learnt."""

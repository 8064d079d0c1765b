"""Conversations: messages cut into episodes, learnt from, and the assistant that remembers them."""

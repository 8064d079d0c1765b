"""Language models: reaching them, asking them about notes, and reading what they answer.

Importing this loads neither LiteLLM nor the Ollama package; the first call to a model does.
"""

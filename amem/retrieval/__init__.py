"""Retrieval: read a question, ask the legs, fuse, follow links, rerank, weigh by the prior, explain the hits."""

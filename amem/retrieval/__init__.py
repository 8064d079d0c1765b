"""A question on its way out: legs, fusion, links, prior, and hits that say why."""

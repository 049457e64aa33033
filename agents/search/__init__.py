"""Search in what an agent remembers: passages (archival memory) and messages (recall memory).

Lexical always: `index` keeps the terms of each row in the database, `lexical` ranks.
Semantic too where an embedding model is configured: `embedder` gives each row a vector in the
background, `semantic` finds the nearest by way of `exact` (numpy) or `pgvector`. `hybrid` puts the
two lists together, and is what everything else calls.
"""

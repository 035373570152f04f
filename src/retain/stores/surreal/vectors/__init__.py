"""Finding memories by vector: sign bits in this process, HNSW in the database."""

"""The way to an engine of SurrealDB: in this process, or behind a socket."""

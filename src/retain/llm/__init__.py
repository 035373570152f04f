"""Language models behind one port: a provider asks, `retrying` asks again, `metered` counts what it costs."""

"""What `retain setup`, `retain init` and `retain teardown` do beside editing clients' files."""

"""Indexes of code."""

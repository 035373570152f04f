"""Telling clients about this Retain, and taking it back."""

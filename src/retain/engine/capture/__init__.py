"""Capturing: what a conversation holds that is worth remembering."""

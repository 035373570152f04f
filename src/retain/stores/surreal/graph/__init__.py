"""Entities, links and relations, and walks over them."""

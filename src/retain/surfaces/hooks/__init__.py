"""What runs when Claude Code calls: quick, quiet, and never in the way."""

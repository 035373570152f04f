"""The programs that Retain is registered with: where they keep their settings, and how those are edited."""

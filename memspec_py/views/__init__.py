"""Views: read-only answers, each one frozen value that every front shows."""

"""What ``bin/schema`` writes: the JSON Schemas in ``schema/`` and their reading form, SCHEMA.md."""

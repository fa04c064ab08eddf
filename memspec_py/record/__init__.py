"""Records as pure values: model, parsing, printing and rules. No files, no clock."""

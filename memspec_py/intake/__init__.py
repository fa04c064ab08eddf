"""Outside text shaped into drafts: pure readers, one for each kind of source."""

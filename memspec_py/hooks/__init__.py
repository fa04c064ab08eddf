"""The front that agents' harnesses call: ``memspec hook``, without what a person's shell needs."""

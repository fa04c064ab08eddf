"""The acts: a module for each verb that changes a store, and the rules they share."""

"""The MCP server: the acts and views as tools, over standard input and output.

A front: it parses, calls and prints. Only ``server`` knows the SDK, and nothing outside this
package does.
"""

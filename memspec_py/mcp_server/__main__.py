"""``python -m memspec_py.mcp_server``."""

from memspec_py.mcp_server.main import entry

entry()

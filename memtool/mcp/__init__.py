"""The MCP server: it parses, calls and renders, as the command line does. Only this package imports the SDK."""

/**
 * The relay program: stands between an agent host and one MCP server.
 *
 * @since 0.1.0
 */
export {}

/**
 * The broker: stands between many MCP clients and many servers.
 *
 * **Details**
 *
 * What is here so far are its parts: the registry, the grants, the tokens and the public names. There is no program yet.
 *
 * @since 0.1.0
 */
export {}

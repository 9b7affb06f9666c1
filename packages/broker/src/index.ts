/**
 * The broker program: stands between many MCP clients and many servers.
 *
 * **Details**
 *
 * This package is empty on purpose: the broker is built in a later release. The name and its place in the
 * workspace are fixed now, so that what it may import is checked from the start.
 *
 * @since 0.1.0
 */
export {}

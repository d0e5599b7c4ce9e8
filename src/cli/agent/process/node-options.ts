/**
 * Options of Node.js for the process of the agent. Its young objects live in three spaces that otherwise grow to 16 MiB each while
 * a thousand peers are read, and stay so large.
 */
export const AGENT_NODE_OPTIONS = '--max-semi-space-size=2'

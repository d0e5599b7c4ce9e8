import type { OwnCommands } from '../../argv/own-commands.ts'

/** The agent of this machine. */
export const agentCommands: OwnCommands = {
  'agent up': {
    summary: 'Make this machine a node of the mesh, and start its agent',
    load: async () => (await import('./up.ts')).up,
  },
  'agent run': {
    summary: 'Run the agent in the foreground, as a service manager does',
    load: async () => (await import('./run.ts')).run,
  },
  'agent down': {
    summary: 'Stop the agent and remove its interface, policies and names',
    load: async () => (await import('./down.ts')).down,
  },
  'agent status': {
    summary: 'Show the agent, its server and what does not work',
    load: async () => (await import('./status.ts')).status,
  },
  'agent peers': {
    summary: 'List the peers of this node and how they are reached',
    load: async () => (await import('./peers.ts')).peers,
  },
  'agent logs': {
    summary: 'Print the log of the agent',
    load: async () => (await import('./logs.ts')).logs,
  },
}

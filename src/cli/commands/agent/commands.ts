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
  'agent doctor': {
    summary: 'Check what the agent needs of this machine and of its server',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  'agent netcheck': {
    summary: 'Show how this node and its peers reach each other',
    load: async () => (await import('./netcheck.ts')).netcheck,
  },
  'agent install': {
    summary: 'Run the agent as a service of systemd, from each start of the machine on',
    load: async () => (await import('./install.ts')).install,
  },
  'agent uninstall': {
    summary: 'Stop the service and remove its unit, interface, policies and names',
    load: async () => (await import('./uninstall.ts')).uninstall,
  },
  'agent logs': {
    summary: 'Print the log of the agent',
    load: async () => (await import('./logs.ts')).logs,
  },
}

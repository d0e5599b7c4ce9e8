import type { OwnCommands } from '../argv/own-commands.ts'

/** Commands of one word. */
export const oneWordCommands: OwnCommands = {
  serve: {
    summary: 'Run a server: storage, authorization and API in one process',
    load: async () => (await import('./serve.ts')).serve,
  },
  'agent-sim': {
    summary: 'Play a fleet of node agents against the server',
    load: async () => (await import('./agent-sim.ts')).agentSim,
  },
  ssh: {
    summary: 'Open a shell on a node, through a mediated session',
    load: async () => (await import('./node-sessions/ssh.ts')).ssh,
  },
  tcp: {
    summary: 'Reach a port of a node, through a mediated session',
    load: async () => (await import('./node-sessions/tcp.ts')).tcp,
  },
  login: {
    summary: 'Sign in to a server and keep the credential',
    load: async () => (await import('./login.ts')).login,
  },
  logout: {
    summary: 'Forget the credential of a context on this machine',
    load: async () => (await import('./logout.ts')).logout,
  },
  whoami: {
    summary: 'Show who you are to the server',
    load: async (manifest) => (await import('./whoami.ts')).whoami(manifest),
  },
  status: {
    summary: 'Show server, identity and fleet on one screen',
    load: async () => (await import('./status.ts')).status,
  },
  doctor: {
    summary: 'Look for what is wrong here and with the server',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  export: {
    summary: 'Write a Domain as files',
    load: async () => (await import('./export.ts')).exportDomain,
  },
  diff: {
    summary: 'Compare files with a Domain, and show what applying them would do',
    load: async () => (await import('./diff.ts')).diff,
  },
  apply: {
    summary: 'Make a Domain what files say',
    load: async () => (await import('./apply.ts')).apply,
  },
  api: {
    summary: 'Make any request of the API',
    load: async () => (await import('./api.ts')).api,
  },
  openapi: {
    summary: 'Print the OpenAPI document of the server',
    load: async () => (await import('./openapi.ts')).openapi,
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl nodes` offers beside, or in place of, what derives from its operations. */
export const nodesCommands: OwnCommands = {
  'nodes events': {
    summary: 'Show the signed events of a node, those that are kept or those that come',
    load: async (manifest) => (await import('./events.ts')).events(manifest),
  },
  'nodes rotate': {
    summary: 'Rotate the keys of a node, or of a fleet in waves with a proof at the end',
    load: async () => (await import('./rotate.ts')).rotate,
  },
  'nodes wait': {
    summary: 'Wait until nodes are in a state',
    load: async () => (await import('./wait.ts')).wait,
  },
  'nodes prune': {
    summary: 'Deregister nodes that have been silent for long',
    load: async () => (await import('./prune.ts')).prune,
  },
  'nodes outdated': {
    summary: 'Show which nodes run which version, against the newest release',
    load: async () => (await import('./outdated.ts')).outdated,
  },
  'nodes topology': {
    summary: 'Show how the nodes of a Domain reach each other: table, tree, or a picture',
    load: async (manifest) => (await import('./topology.ts')).topology(manifest),
  },
  'nodes update': {
    load: async (manifest) => (await import('./update.ts')).update(manifest),
  },
}

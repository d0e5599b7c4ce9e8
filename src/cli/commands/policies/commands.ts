import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl policies` offers in place of what derives from its operations, and beside it. */
export const policiesCommands: OwnCommands = {
  'policies create': {
    load: async (manifest) => (await import('./writing.ts')).create(manifest),
  },
  'policies list': {
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
  'policies update': {
    load: async (manifest) => (await import('./writing.ts')).update(manifest),
  },
  'policies delete': {
    load: async (manifest) => (await import('./writing.ts')).remove(manifest),
  },
  'policies rollback': {
    load: async () => (await import('./rollback.ts')).rollback,
  },
  'policies preview': {
    summary: 'Show what policies in files would change, without changing it',
    load: async () => (await import('./preview.ts')).preview,
  },
  'policies test': {
    summary: 'Run the tests of policies in files, together with those that are stored',
    load: async () => (await import('./test.ts')).test,
  },
  'policies graph': {
    load: async (manifest) => (await import('./graph.ts')).graph(manifest),
  },
  'policies reach': {
    summary: 'Say whether one node may reach another, and by which rules',
    load: async () => (await import('./reachability.ts')).reach,
  },
}

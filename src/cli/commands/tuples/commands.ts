import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl tuples` offers beside, or in place of, what derives from its operations. */
export const tuplesCommands: OwnCommands = {
  'tuples export': {
    summary: 'Write the tuples of a Project so that they can be imported again',
    load: async (manifest) => (await import('./export.ts')).exportTuples(manifest),
  },
  'tuples list': {
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
  'tuples create': {
    load: async (manifest) => (await import('./create.ts')).create(manifest),
  },
  'tuples update': {
    load: async (manifest) => (await import('./update.ts')).update(manifest),
  },
  'tuples delete': {
    load: async (manifest) => (await import('./delete.ts')).deleteTuple(manifest),
  },
  'tuples import': {
    load: async (manifest) => (await import('./import.ts')).importTuples(manifest),
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl capacity` offers beside, or in place of, what derives from its operations. */
export const capacityCommands: OwnCommands = {
  'capacity show': { load: async (manifest) => (await import('./show.ts')).show(manifest) },
  'capacity watch': {
    summary: 'Watch what Domains use of their capacity',
    load: async () => (await import('./watch.ts')).watch,
  },
  'capacity history': { load: async (manifest) => (await import('./history.ts')).history(manifest) },
  'capacity targets set': { load: async (manifest) => (await import('./set-targets.ts')).setTargets(manifest) },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl rollouts` offers beside, or in place of, what derives from its operations. */
export const rolloutsCommands: OwnCommands = {
  'rollouts create': {
    load: async (manifest) => (await import('./create.ts')).create(manifest),
  },
  'rollouts show': {
    load: async (manifest) => (await import('./show.ts')).show(manifest),
  },
  'rollouts watch': {
    summary: 'Watch a rollout up to its end: a bar for each wave',
    load: async () => (await import('./watch.ts')).watch,
  },
}

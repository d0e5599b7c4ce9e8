import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl events` offers beside, or in place of, what derives from its operations. */
export const eventsCommands: OwnCommands = {
  'events tail': {
    summary: 'Show what changes in a Domain as it happens',
    load: async (manifest) => (await import('./tail.ts')).tail(manifest),
  },
  'events verify': {
    summary: 'Verify saved events of nodes: their signatures, and that none is missing',
    load: async (manifest) => (await import('./verify.ts')).verify(manifest),
  },
}

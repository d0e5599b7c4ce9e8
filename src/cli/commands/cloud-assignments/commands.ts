import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl cloud-assignments` offers in place of what derives from its operations. */
export const cloudAssignmentsCommands: OwnCommands = {
  'cloud-assignments list': {
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
}

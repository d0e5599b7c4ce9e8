import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl idp` offers beside, or in place of, what derives from its operations. */
export const idpCommands: OwnCommands = {
  'idp update': {
    load: async (manifest) => (await import('./changes.ts')).updateBinding(manifest),
  },
  'idp delete': {
    load: async (manifest) => (await import('./changes.ts')).deleteBinding(manifest),
  },
  'idp test': {
    load: async (manifest) => (await import('./test.ts')).testBinding(manifest),
  },
}

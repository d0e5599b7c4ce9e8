import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl cloud-credentials` offers beside what derives from its operations. */
export const cloudCredentialsCommands: OwnCommands = {
  'cloud-credentials suspend': {
    summary: 'Suspend a credential: no Project is configured with it until it is resumed',
    load: async (manifest) => (await import('./suspension.ts')).suspend(manifest),
  },
  'cloud-credentials resume': {
    summary: 'Make a suspended credential active again',
    load: async (manifest) => (await import('./suspension.ts')).resume(manifest),
  },
}

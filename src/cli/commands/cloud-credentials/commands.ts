import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl cloud-credentials` offers beside what derives from its operations. */
export const cloudCredentialsCommands: OwnCommands = {
  'cloud-credentials suspend': {
    summary: 'Keep a credential from being lent until it is resumed; what is lent stays',
    load: async (manifest) => (await import('./suspension.ts')).suspend(manifest),
  },
  'cloud-credentials resume': {
    summary: 'Let a suspended credential be lent again',
    load: async (manifest) => (await import('./suspension.ts')).resume(manifest),
  },
}

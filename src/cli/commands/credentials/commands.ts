import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl credentials` offers in place of what derives from its operations. */
export const credentialsCommands: OwnCommands = {
  'credentials request': {
    load: async (manifest) => (await import('./request.ts')).request(manifest),
  },
  'credentials list': {
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
}

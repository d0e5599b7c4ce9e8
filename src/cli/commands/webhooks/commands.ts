import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl webhooks` offers in place of what derives from its operations. */
export const webhooksCommands: OwnCommands = {
  'webhooks test': { load: async (manifest) => (await import('./test.ts')).test(manifest) },
}

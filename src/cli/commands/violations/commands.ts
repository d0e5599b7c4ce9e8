import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl violations` offers in place of what derives from its operations. */
export const violationsCommands: OwnCommands = {
  'violations ack': { load: async (manifest) => (await import('./ack.ts')).acknowledge(manifest) },
}

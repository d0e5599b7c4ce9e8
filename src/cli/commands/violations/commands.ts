import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl violations` offers in place of what derives from its operations. */
export const violationsCommands: OwnCommands = {
  'violations list': { load: async (manifest) => (await import('./list.ts')).list(manifest) },
  'violations show': { load: async (manifest) => (await import('./show.ts')).show(manifest) },
  'violations ack': { load: async (manifest) => (await import('./ack.ts')).acknowledge(manifest) },
}

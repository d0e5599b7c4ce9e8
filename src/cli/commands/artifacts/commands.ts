import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl artifacts` offers in place of what derives from its operations. */
export const artifactsCommands: OwnCommands = {
  'artifacts show': {
    load: async (manifest) => (await import('./show.ts')).show(manifest),
  },
  'artifacts sigstore': {
    load: async (manifest) => (await import('./sigstore.ts')).sigstore(manifest),
  },
}

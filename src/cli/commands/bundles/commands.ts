import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl bundles` offers in place of what derives from its operations. */
export const bundlesCommands: OwnCommands = {
  'bundles create': {
    load: async (manifest) => (await import('./create.ts')).create(manifest),
  },
  'bundles clouds': {
    load: async (manifest) => (await import('./clouds.ts')).clouds(manifest),
  },
}

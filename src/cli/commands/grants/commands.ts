import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl grants` offers beside, or in place of, what derives from its operations. */
export const grantsCommands: OwnCommands = {
  'grants list': {
    load: async (manifest) => (await import('./lists.ts')).listGrants(manifest),
  },
  'grants platform list': {
    load: async (manifest) => (await import('./lists.ts')).listPlatformGrants(manifest),
  },
  'grants create': {
    load: async (manifest) => (await import('./changes.ts')).createGrant(manifest),
  },
  'grants delete': {
    load: async (manifest) => (await import('./changes.ts')).deleteGrant(manifest),
  },
  'grants platform create': {
    load: async (manifest) => (await import('./changes.ts')).createPlatformGrant(manifest),
  },
  'grants platform delete': {
    load: async (manifest) => (await import('./changes.ts')).deletePlatformGrant(manifest),
  },
}

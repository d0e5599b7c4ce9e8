import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl groups` offers beside, or in place of, what derives from its operations. */
export const groupsCommands: OwnCommands = {
  'groups delete': {
    load: async (manifest) => (await import('./delete.ts')).deleteGroup(manifest),
  },
  'groups add-member': {
    load: async (manifest) => (await import('./members.ts')).addMember(manifest),
  },
  'groups remove-member': {
    load: async (manifest) => (await import('./members.ts')).removeMember(manifest),
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl config` offers beside, or in place of, what derives from its operations. */
export const configCommands: OwnCommands = {
  'config view': {
    summary: 'Show the settings in force',
    load: async () => (await import('./view.ts')).view,
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl help` offers beside, or in place of, what derives from its operations. */
export const helpCommands: OwnCommands = {
  'help exit-codes': {
    summary: 'Explain the exit codes',
    load: async () => (await import('./exit-codes.ts')).exitCodes,
  },
  'help flags': {
    summary: 'Explain the flags that many commands share',
    load: async () => (await import('./flags.ts')).flags,
  },
}

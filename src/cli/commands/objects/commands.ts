import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl objects` offers. */
export const objectsCommands: OwnCommands = {
  'objects search': {
    summary: 'Find objects by their labels',
    load: async () => (await import('./search.ts')).search,
  },
}

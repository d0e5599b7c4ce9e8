import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl contexts` offers beside, or in place of, what derives from its operations. */
export const contextsCommands: OwnCommands = {
  'contexts list': {
    summary: 'List contexts',
    load: async () => (await import('./list.ts')).list,
  },
  'contexts add': {
    summary: 'Add a context: a server with the choices that go with it',
    load: async () => (await import('./add.ts')).add,
  },
  'contexts use': {
    summary: 'Choose the context that commands use, or change one',
    load: async () => (await import('./use.ts')).use,
  },
  'contexts previous': {
    summary: 'Go back to the context used before',
    load: async () => (await import('./previous.ts')).previous,
  },
  'contexts rename': {
    summary: 'Rename a context',
    load: async () => (await import('./rename.ts')).rename,
  },
  'contexts remove': {
    summary: 'Remove contexts with their credentials',
    load: async () => (await import('./remove.ts')).remove,
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl labels` offers in place of what derives from its operations, and beside it. */
export const labelsCommands: OwnCommands = {
  'labels define': {
    load: async () => (await import('./define.ts')).define,
  },
  'labels definitions': {
    load: async () => (await import('./definitions.ts')).definitions,
  },
  'labels definition': {
    load: async () => (await import('./definitions.ts')).definition,
  },
  'labels redefine': {
    load: async () => (await import('./define.ts')).redefine,
  },
  'labels undefine': {
    load: async () => (await import('./define.ts')).undefine,
  },
  'labels set': {
    load: async () => (await import('./set.ts')).set,
  },
  'labels list': {
    load: async () => (await import('./list.ts')).list,
  },
  'labels remove': {
    load: async () => (await import('./remove.ts')).remove,
  },
  'labels preview': {
    summary: 'Check a selector, and count what it matches',
    load: async () => (await import('./preview.ts')).preview,
  },
}

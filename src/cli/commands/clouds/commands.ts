import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl clouds` offers beside, or in place of, what derives from its operations. */
export const cloudsCommands: OwnCommands = {
  'clouds list': {
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
  'clouds promote': {
    summary: 'Move a Cloud to another version of its bundle, the newest one unless --to names it',
    load: async () => (await import('./promote.ts')).promote,
  },
  'clouds override': {
    summary: 'Replace packages of its bundle for one Cloud, or take its replacements back',
    load: async () => (await import('./override.ts')).override,
  },
  'clouds inline': {
    summary: 'Give a Cloud packages of its own in place of its bundle',
    load: async () => (await import('./inline.ts')).inline,
  },
  'clouds upgrade': {
    summary: 'Move the Clouds of a bundle to a newer version: a plan first, then Cloud by Cloud',
    load: async () => (await import('./upgrade.ts')).upgrade,
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl tokens` offers beside, or in place of, what derives from its operations. */
export const tokensCommands: OwnCommands = {
  'tokens issue': {
    summary: 'Issue an API token, for yourself or with --for for another identity',
    load: async (manifest) => (await import('./issue.ts')).issue(manifest),
  },
  'tokens list': {
    summary: 'List API tokens, newest first',
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
  'tokens revoke': {
    summary: 'Revoke API tokens at once',
    load: async (manifest) => (await import('./revoke.ts')).revoke(manifest),
  },
  'tokens rotate': {
    summary: 'Replace an API token; the old one works a while longer',
    load: async (manifest) => (await import('./rotate.ts')).rotate(manifest),
  },
}

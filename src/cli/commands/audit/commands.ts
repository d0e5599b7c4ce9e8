import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl audit` offers beside, or in place of, what derives from its operations. */
export const auditCommands: OwnCommands = {
  'audit list': {
    summary: 'List audited decisions, newest first',
    load: async (manifest) => (await import('./list.ts')).list(manifest),
  },
  'audit verify': {
    summary: 'Verify the chain of audited decisions, or an export of it with the public keys alone',
    load: async (manifest) => (await import('./verify.ts')).verify(manifest),
  },
  'audit export': {
    summary: 'Write sealed decisions with their hashes and signed heads as JSON lines',
    load: async (manifest) => (await import('./export.ts')).exportChain(manifest),
  },
  'audit tail': {
    summary: 'Show audited decisions as they come',
    load: async (manifest) => (await import('./tail.ts')).tail(manifest),
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl approvals` offers in place of what derives from its operations. */
export const approvalsCommands: OwnCommands = {
  'approvals list': {
    load: async (manifest) => (await import('./list.ts')).listApprovals(manifest),
  },
  'approvals policy show': {
    load: async (manifest) => (await import('./policy.ts')).showPolicy(manifest),
  },
  'approvals policy set': {
    load: async (manifest) => (await import('./policy.ts')).setPolicy(manifest),
  },
}

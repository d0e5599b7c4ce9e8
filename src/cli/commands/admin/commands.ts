import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl admin` offers beside, or in place of, what derives from its operations. */
export const adminCommands: OwnCommands = {
  'admin bootstrap-token': {
    summary: 'Issue another bootstrap token, beside a stopped server or on its database',
    load: async () => (await import('../serve.ts')).bootstrapToken,
  },
  'admin after-restore': {
    summary: 'Tell a restored datastore so, before a server starts on it, so that agents pull their state',
    load: async () => (await import('../serve.ts')).afterRestore,
  },
  'admin backup create': {
    summary: 'Make a backup of the datastore in one file, while servers run',
    load: async () => (await import('./backup.ts')).createBackup,
  },
  'admin backup verify': {
    summary: 'Prove a backup: restore it beside everything else and check it',
    load: async () => (await import('./backup.ts')).verifyBackup,
  },
  'admin backup restore': {
    summary: 'Restore a backup into an empty datastore, before a server starts on it',
    load: async () => (await import('./backup.ts')).restoreBackup,
  },
  'admin upgrade rehearse': {
    summary: 'Try the migrations and the start of this version on a copy made from a backup',
    load: async () => (await import('./backup.ts')).rehearseUpgrade,
  },
  'admin master-key rotate': {
    summary: 'Wrap the keyring under a new master key, beside a stopped server or on its database',
    load: async () => (await import('../serve.ts')).rotateMasterKey,
  },
  'admin artifacts import': {
    summary: 'Add a release of the node agent from a folder, on the host of the server',
    load: async () => (await import('../serve.ts')).importArtifact,
  },
  'admin artifacts support': {
    summary: 'Make a deprecated release a supported one, on the host of the server',
    load: async () => (await import('../serve.ts')).changeArtifact('support'),
  },
  'admin artifacts deprecate': {
    summary: 'Mark a release as deprecated, on the host of the server',
    load: async () => (await import('../serve.ts')).changeArtifact('deprecate'),
  },
  'admin artifacts withdraw': {
    summary: 'Withdraw a release for good, on the host of the server',
    load: async () => (await import('../serve.ts')).changeArtifact('withdraw'),
  },
  'admin users disable': {
    summary: 'Disable local accounts and end their sessions',
    load: async (manifest) => (await import('./users/patches.ts')).disable(manifest),
  },
  'admin users enable': {
    summary: 'Let disabled local accounts sign in again',
    load: async (manifest) => (await import('./users/patches.ts')).enable(manifest),
  },
  'admin users reset-factors': {
    summary: 'Forget passkeys and authenticator apps of local accounts and end their sessions',
    load: async (manifest) => (await import('./users/patches.ts')).resetFactors(manifest),
  },
  'admin users reset-password': {
    summary: 'Give local accounts a new one-time password and end their sessions',
    load: async (manifest) => (await import('./users/patches.ts')).resetPassword(manifest),
  },
  'admin users add': {
    load: async (manifest) => (await import('./users/add.ts')).add(manifest),
  },
}

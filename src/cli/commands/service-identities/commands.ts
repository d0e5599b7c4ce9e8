import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl service-identities` offers beside, or in place of, what derives from its operations. */
export const serviceIdentitiesCommands: OwnCommands = {
  'service-identities list': {
    summary: 'List the service identities of a Domain, newest first',
    load: async (manifest) => (await import('./views.ts')).list(manifest),
  },
  'service-identities show': {
    summary: 'Show a service identity',
    load: async (manifest) => (await import('./views.ts')).show(manifest),
  },
  'service-identities disable': {
    summary: 'Refuse the tokens and assertions of service identities from now on',
    load: async (manifest) => (await import('./patches.ts')).disable(manifest),
  },
  'service-identities enable': {
    summary: 'Let disabled service identities authenticate again',
    load: async (manifest) => (await import('./patches.ts')).enable(manifest),
  },
  'service-identities create': {
    load: async (manifest) => (await import('./create.ts')).create(manifest),
  },
  'service-identities update': {
    load: async (manifest) => (await import('./patches.ts')).change(manifest),
  },
}

import type { OwnCommands } from '../../argv/own-commands.ts'

/** What `ctl bridge` offers in place of what derives from its operations, and beside it. */
export const bridgeCommands: OwnCommands = {
  'bridge show': {
    summary: 'Show a bridge on one screen: hosts, relay, providers, rules, tunnels',
    load: async () => (await import('./show.ts')).show,
  },
  'bridge check': {
    load: async (manifest) => (await import('./check.ts')).check(manifest),
  },
  'bridge status': {
    load: async (manifest) => (await import('./status.ts')).status(manifest),
  },
  'bridge graph': {
    summary: 'Draw bridges: sites, subnets, ingress hosts, relays',
    load: async () => (await import('./graph.ts')).graph,
  },
  'bridge relay show': {
    load: async (manifest) => (await import('./relay.ts')).show(manifest),
  },
  'bridge relay set': {
    load: async (manifest) => (await import('./relay.ts')).set(manifest),
  },
  'bridge relay enable': {
    summary: 'Enable the relay of a bridge, on the port that it has',
    load: async (manifest) => (await import('./relay.ts')).enable(manifest),
  },
  'bridge relay disable': {
    summary: 'Disable the relay of a bridge; it keeps its port',
    load: async (manifest) => (await import('./relay.ts')).disable(manifest),
  },
  'bridge user-access create': {
    load: async (manifest) => (await import('./writing.ts')).create(manifest, 'user-access'),
  },
  'bridge user-access update': {
    load: async (manifest) => (await import('./writing.ts')).update(manifest, 'user-access'),
  },
  'bridge user-access enroll': {
    summary: 'Admit a device to a user-access provider, and print its configuration or a QR code',
    load: async () => (await import('./enroll/enroll.ts')).enroll,
  },
  'bridge ingress create': {
    load: async (manifest) => (await import('./writing.ts')).create(manifest, 'ingress'),
  },
  'bridge ingress update': {
    load: async (manifest) => (await import('./writing.ts')).update(manifest, 'ingress'),
  },
  'bridge site-to-site create': {
    load: async (manifest) => (await import('./writing.ts')).create(manifest, 'site-to-site'),
  },
  'bridge site-to-site update': {
    load: async (manifest) => (await import('./writing.ts')).update(manifest, 'site-to-site'),
  },
}

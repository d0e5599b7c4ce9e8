import { usageError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { Row } from '../../output/members.ts'
import { remoteFrom, targetFrom } from './endpoint-text.ts'
import { secretFrom } from './secret-text.ts'

export type PartName = 'user-access' | 'ingress' | 'site-to-site'

/** How the parts of a bridge of one kind are typed. */
export interface PartKind {
  /** Operations that create, show and update one. */
  readonly create: string
  readonly show: string
  readonly update: string
  /** Derived flags that those below replace. */
  readonly replaced: readonly string[]
  readonly flags: FlagSpecs
  /** Members of a new one that need not be typed, with their values. */
  readonly defaults: Row
  /** Derived flags of these members, with what holds when they are absent. */
  readonly fallbacks: Readonly<Record<string, string>>
  /** The members that the flags say. Throws a usage error. */
  readonly read: (flags: Given['flags']) => Row
  /** Members that a new one must have, with the flags that give them. */
  readonly needed: Readonly<Record<string, string>>
  readonly examples: Readonly<Record<'create' | 'update', readonly string[]>>
}

const SECRET: FlagSpecs = {
  secret: {
    kind: 'text',
    value: 'SECRET',
    describe: 'Secret of the Project that authenticates: hq-key, hq-key:3 for one version, or the whole reference',
    required: true,
  },
}

function secretOf({ secret }: Given['flags']): Row {
  if (typeof secret !== 'string') return {}
  secretFrom(secret, '--secret')
  return { auth_secret_ref: secret }
}

export const PART_KINDS: Readonly<Record<PartName, PartKind>> = {
  'user-access': {
    create: 'CreateBridgeUserAccessProvider',
    show: 'GetBridgeUserAccessProvider',
    update: 'UpdateBridgeUserAccessProvider',
    replaced: [],
    flags: SECRET,
    defaults: { routing_policy: {} },
    fallbacks: { 'routing-policy': '{}' },
    read: secretOf,
    needed: { auth_secret_ref: '--secret SECRET' },
    examples: {
      create: [
        'ctl bridge user-access create staff --bridge edge-1 --kind wireguard --interface wg-staff --port 51830 --max-peers 50 --secret staff-key',
      ],
      update: ['ctl bridge user-access update staff --max-peers 100'],
    },
  },
  ingress: {
    create: 'CreateBridgeIngressRule',
    show: 'GetBridgeIngressRule',
    update: 'UpdateBridgeIngressRule',
    replaced: ['target-node', 'target-port'],
    flags: {
      target: {
        kind: 'text',
        value: 'NODE:PORT',
        noun: 'nodes',
        describe: 'Node that gets the connections, by name or id, and its port',
        required: true,
      },
      acme: {
        kind: 'text',
        value: 'URL',
        describe: 'https URL of an ACME directory, or secret:NAME for a secret of the Project that has one',
      },
      'no-acme': { kind: 'switch', describe: 'Pass TLS through to the node, which has the certificate' },
    },
    defaults: {},
    fallbacks: {},
    read: ingressMembers,
    needed: { target_node_id: '--target NODE:PORT' },
    examples: {
      create: [
        'ctl bridge ingress create shop --host shop.example.org --target web-1:8080',
        'ctl bridge ingress create shop --host shop.example.org --target web-1:8080 --acme https://acme.example.org/directory',
      ],
      update: ['ctl bridge ingress update shop --target web-2:8080', 'ctl bridge ingress update shop --no-acme'],
    },
  },
  'site-to-site': {
    create: 'CreateBridgeSiteToSiteTunnel',
    show: 'GetBridgeSiteToSiteTunnel',
    update: 'UpdateBridgeSiteToSiteTunnel',
    replaced: ['remote-host', 'remote-port'],
    flags: {
      remote: {
        kind: 'text',
        value: 'HOST:PORT',
        describe: 'The other end; an IPv6 address is in brackets',
        required: true,
      },
      ...SECRET,
    },
    defaults: { routing_policy: 'bidirectional' },
    fallbacks: { 'routing-policy': 'bidirectional' },
    read: tunnelMembers,
    needed: { remote_host: '--remote HOST:PORT', auth_secret_ref: '--secret SECRET' },
    examples: {
      create: [
        'ctl bridge site-to-site create hq --kind wireguard --remote vpn.example.org:51820 --subnets 10.20.0.0/16 --secret hq-key',
      ],
      update: ['ctl bridge site-to-site update hq --subnets 10.20.0.0/16,10.21.0.0/16'],
    },
  },
}

function ingressMembers({ target, acme, 'no-acme': without }: Given['flags']): Row {
  if (acme !== undefined && without === true) throw usageError('--acme and --no-acme exclude each other')
  return { ...targetOf(target), ...(without === true && { acme_account_ref: null }), ...acmeOf(acme) }
}

function targetOf(target: unknown): Row {
  if (typeof target !== 'string') return {}
  const { host, port } = targetFrom(target)
  return { target_node_id: host, target_port: port }
}

function acmeOf(acme: unknown): Row {
  if (typeof acme !== 'string') return {}
  if (acme.startsWith('secret:')) secretFrom(acme, '--acme')
  return { acme_account_ref: acme }
}

function tunnelMembers({ remote, ...flags }: Given['flags']): Row {
  if (typeof remote !== 'string') return secretOf(flags)
  const { host, port } = remoteFrom(remote)
  return { remote_host: host, remote_port: port, ...secretOf(flags) }
}

import { fileURLToPath } from 'node:url'
import type { Command, CommandRow } from '../../../src/cli/argv/command.ts'
import type { ArgumentSpec, FlagSpec } from '../../../src/cli/argv/flags.ts'
import { commandRows } from '../../../src/cli/argv/registry.ts'
import { manifest } from './cli-run.ts'

const UUID = '019c1a10-0000-7000-8000-000000110001'
/** A set of files that names nothing. */
const FILES = fileURLToPath(new URL('domain-files', import.meta.url))

/** A value that a noun's references may have without anything being looked up. */
const REFERENCES: Readonly<Record<string, string>> = {
  subjects: `user:${UUID}`,
  objects: `project:${UUID}`,
  selectors: 'env=prod',
  'label-keys': UUID,
  'label-values': 'text=web',
  tuples: `project:${UUID}#viewer@user:${UUID}`,
}

/** Values of flags, by what help calls them. */
const TYPED: Readonly<Record<string, string>> = {
  'SOURCE@VERSION': 'oci://example.com/web@v1',
  'KEY=VALUE': 'key=web',
  RULE: 'none',
  'NODE:PORT': `${UUID}:8080`,
  'HOST:PORT': 'vpn.example.org:51820',
}

interface Special {
  readonly args: readonly string[]
  readonly stdin?: string | undefined
}

const POLICY = '{"slug":"web","selector":"*","rules":[]}'

/** What commands take that cannot be told from their flags, by their words. */
const SPECIAL: Readonly<Record<string, Special>> = {
  api: { args: ['/nodes'] },
  login: { args: ['--with-token'], stdin: 'a-token' },
  'agent-sim': { args: ['--nodes', '1', '--duration', '1s', '--no-mesh'] },
  'admin users add': { args: ['cara', '--display-name', 'Cara', '--platform-admin'] },
  apply: { args: [FILES, '--domain', UUID, '--yes'] },
  'audit verify': { args: [] },
  'authz impact': { args: ['--from-file', '-'], stdin: '{"edits":[{"kind":"tuple","op":"delete"}]}' },
  'authz lookup-resources': { args: ['me', 'read', 'node'] },
  'authz lookup-subjects': { args: ['user', 'read', `project:${UUID}`] },
  'authz what-can': { args: [`user:${UUID}`, 'read'] },
  diff: { args: [FILES, '--domain', UUID] },
  'events verify': { args: ['-'], stdin: '{}' },
  'policies rollback': { args: [UUID, '--to', '1', '--domain', UUID, '--yes'] },
  'policies preview': { args: ['-', '--domain', UUID], stdin: POLICY },
  'policies test': { args: ['-', '--domain', UUID], stdin: POLICY },
  'nodes prune': { args: ['--unreachable-for', '30d', '--domain', UUID, '--yes'] },
  'nodes rotate': { args: [UUID, '--yes'] },
  'rollouts create': { args: ['web', '--version', '1.5.0', '--all', '--domain', UUID, '--yes'] },
  'nodes wait': { args: [UUID, '--for', 'reachability=healthy'] },
  tcp: { args: [`${UUID}:5432`] },
  'trust-bundles set': { args: ['--bundles', '[]', '--domain', UUID, '--yes'] },
  'tuples import': { args: ['-', '--project', UUID, '--yes'], stdin: `project:${UUID}#viewer@user:${UUID}` },
  'tuples export': { args: ['--project', UUID] },
}

/** A patch must change something, and a policy is made of flags or of a file. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'approvals policy set': ['--require', 'domain.delete=1'],
  'bridge ingress update': ['--no-acme'],
  'bridge site-to-site update': ['--subnets', '10.20.0.0/16'],
  'bridge user-access update': ['--max-peers', '50'],
  'capacity targets set': ['--nodes', '20000'],
  'nodes update': ['--name', 'web-2'],
  'domains update': ['--display-name', 'Web'],
  'service-identities update': ['--display-name', 'Build'],
  'groups update': ['--display-name', 'Web'],
  'projects update': ['--display-name', 'Web'],
  'credentials request': ['--cloud', UUID],
  'cloud-credentials update': ['--display-name', 'Web'],
  'clouds update': ['--display-name', 'Web'],
  'clouds override': ['--clear'],
  'bundles update': ['--display-name', 'Web'],
  'resources update': ['--display-name', 'Web'],
  'labels redefine': ['--description', 'Web'],
  'policies create': ['--selector', '*', '--rule', 'none'],
  'policies update': ['--display-name', 'Web'],
  'idp update': ['--label', 'Web'],
  'admin users update': ['--display-name', 'Web'],
  'tuples update': ['--relation', 'editor'],
  'webhooks update': ['--description', 'Web'],
}

export interface CommandLine {
  readonly words: string
  readonly command: Command
  /** Arguments that the command can run with, its words first. */
  readonly argv: readonly string[]
  readonly stdin: string | undefined
}

/** A line of every command. */
export function commandLines(): Promise<readonly CommandLine[]> {
  return Promise.all(commandRows(manifest).map(lineOf))
}

async function lineOf(row: CommandRow): Promise<CommandLine> {
  const command = await row.load(manifest)
  const usual = { args: [...usualWords(command), ...(CHANGES[row.words] ?? [])], stdin: secretOf(command) }
  const { args, stdin } = SPECIAL[row.words] ?? usual
  return { words: row.words, command, argv: [...row.words.split(' '), ...args], stdin }
}

/** A secret for a command that must be given one: any text is one, and so is an object. */
function secretOf({ flags = {} }: Command): string | undefined {
  const isNeeded = Object.values(flags).some(({ isSecret, required }) => isSecret === true && required === true)
  return isNeeded ? '{"token":"web"}' : undefined
}

function usualWords({ args = [], flags = {}, asks, uses = [] }: Command): readonly string[] {
  const places = ['domain', 'project', 'bridge'].filter((name) => name in flags)
  return [
    ...args.map(valueOf),
    ...Object.entries(flags).flatMap(([name, spec]) => (spec.required === true ? [`--${name}`, valueOf(spec)] : [])),
    ...places.flatMap((name) => [`--${name}`, UUID]),
    ...(asks === true || uses.includes('confirm') ? ['--yes'] : []),
  ]
}

function valueOf(spec: ArgumentSpec | FlagSpec): string {
  if (spec.choices !== undefined) return spec.choices[0] ?? ''
  if ('name' in spec && spec.name === 'relation') return 'read'
  if ('value' in spec && Object.hasOwn(TYPED, spec.value ?? '')) return TYPED[spec.value ?? ''] ?? ''
  if (spec.noun !== undefined) return REFERENCES[spec.noun] ?? UUID
  if ('isSecret' in spec && spec.isSecret) return '-'
  const kind = 'kind' in spec ? spec.kind : 'text'
  return { integer: '7', number: '7', duration: '1h' }[kind as string] ?? 'web'
}

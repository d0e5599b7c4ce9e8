import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { policiesIn, type PolicyFile } from './documents.ts'
import { writeInOrder } from './in-order.ts'
import { namedPolicy, revisionHeader, revisionOf, typedRevision } from './reading.ts'
import { assertSelectors } from './selectors.ts'
import type { Policy } from './answers.ts'

const SENTENCES = [
  'A rule is "ingress PROTOCOL[:PORTS] from PEERS" or "egress PROTOCOL[:PORTS] to PEERS", where PEERS is a selector of nodes or networks; "except PEERS" may follow.',
  'A test is "allowed PROTOCOL[:PORT] from SELECTOR to SELECTOR", or the same with denied: it must hold for every pair, and every later change of a policy is refused that breaks it.',
]

const IN_ORDER =
  'Several policies of a file are applied in order, up to the first that is refused. All tests run after each of them: a test that needs a later policy belongs into the last one.'

/** Creates a policy out of flags, or out of a file. */
export function create(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'CreatePolicy')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    args: (derived.args ?? []).map((one) => ({ ...one, required: false })),
    flags: { ...derived.flags, ...withoutFileRequired(derived.flags) },
    description: [
      ...SENTENCES,
      IN_ORDER,
      'Labels in selectors have to be defined: ctl labels define tier --kinds node.',
      'See before what it would change: ctl policies preview FILE; and whether all tests hold: ctl policies test FILE.',
    ].join('\n'),
    examples: [
      'ctl policies create -f tiers.yaml',
      'ctl policies create db-in --selector tier=db --rule "ingress tcp:5432 from tier=api"',
      'ctl policies create default-deny --selector "*" --isolates ingress --rule none',
    ],
    async run(session, given) {
      const write = async ({ members }: PolicyFile): Promise<void> => {
        const plan = { operation, body: members, settled: warnOfVacuous(session) }
        await perform(session, plan, withoutFile(given))
      }
      await writeInOrder(session, { files: await writtenIn(session, given), slug: given.args[0], write })
    },
  }
}

/** Required flags that a file makes unnecessary, as those that it may replace. */
function withoutFileRequired(flags: FlagSpecs = {}): FlagSpecs {
  const required = Object.entries(flags).filter(([, spec]) => spec.required === true)
  return Object.fromEntries(
    required.map(([name, { describe, ...spec }]) => [
      name,
      { ...spec, required: false, describe: `${describe}; required without -f` },
    ]),
  )
}

const REVISION: FlagSpecs = {
  revision: {
    kind: 'text',
    value: 'REVISION',
    describe:
      'Number or id of the revision that the change was made from; the one that the file names, else the newest one',
  },
}

/** Changes a policy. */
export function update(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PatchPolicy')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    args: (derived.args ?? []).map((one) => ({ ...one, required: false, many: false })),
    description: [
      'Members that are given replace those of the policy; the others stay. A change makes a new revision.',
      'Write the policy to a file with "ctl policies show NAME -o yaml", edit it and update with -f: when somebody else has changed the policy in the meantime, the update is refused with exit code 6, and nothing is changed.',
      ...SENTENCES,
      IN_ORDER,
    ].join('\n'),
    flags: { ...derived.flags, ...REVISION },
    examples: [
      'ctl policies update -f db-in.yaml',
      'ctl policies update db-in --rule "ingress tcp:5432 from tier in (api,jobs)"',
    ],
    async run(session, given) {
      const { revision: typed } = given.flags
      const revision = typeof typed === 'string' ? typedRevision(typed) : undefined
      const files = await writtenIn(session, given)
      if (files.length > 1 && revision !== undefined) throw usageError('--revision goes with one policy, not several')
      const write = (file: PolicyFile): Promise<void> => change(session, { manifest, file, revision }, given)
      await writeInOrder(session, { files, slug: given.args[0], write })
    },
  }
}

interface Written {
  readonly manifest: Manifest
  readonly file: PolicyFile
  /** Id or number of the revision that was typed. */
  readonly revision: string | number | undefined
}

async function change(session: Session, { manifest, file, revision }: Written, given: Given): Promise<void> {
  const { revision: _typed, ...flags } = given.flags
  const { slug, ...members } = file.members
  const policy = await namedPolicy(session, nameOf(given.args, slug), flags)
  if (slug !== undefined && slug !== policy.slug)
    throw usageError(`${file.name} is of policy ${JSON.stringify(slug)}, not ${policy.slug}`)
  const based = typeof revision === 'number' ? (await revisionOf(session, policy, revision)).revision_id : revision
  const headers = revisionHeader(policy, based ?? file.revisionId)
  const operation = operationOf(manifest, 'PatchPolicy')
  const plan = { operation, headers, body: members, settled: warnOfVacuous(session) }
  await perform(session, plan, withoutFile({ args: [policy.id], flags }))
}

/** The policy that is meant: the one that is named, else that of the file. */
function nameOf([name]: readonly string[], slug: unknown): string {
  if (name !== undefined) return name
  if (typeof slug === 'string') return slug
  throw usageError('<policy> is missing', 'See: ctl policies update --help')
}

/** Deletes policies, each in the revision that was shown. */
export function remove(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'DeletePolicy')
  const derived = derivedCommand(operation, manifest)
  const [policy] = derived.args ?? []
  return {
    ...derived,
    args: policy === undefined ? [] : [{ ...policy, many: false }],
    description: 'A policy that has changed since it was shown is not deleted: exit code 6.',
    examples: ['ctl policies delete db-in', 'ctl policies delete db-in --yes'],
    async run(session, given) {
      const { assertAnswerable } = await import('../../derive/confirm.ts')
      if (session.shared.curl !== true) await assertAnswerable(session, operation)
      const found = await namedPolicy(session, given.args[0] ?? '', given.flags)
      const { done: _usual, ...cli } = operation.cli ?? { command: 'policies delete' }
      const object = { id: found.id, label: found.slug, row: found }
      const plan = { operation: { ...operation, cli }, object, headers: revisionHeader(found, undefined) }
      const exitCode = await perform(session, plan, { ...given, args: [found.id] })
      if (session.shared.curl !== true) session.note(`Deleted policy ${found.slug}.`)
      return exitCode
    },
  }
}

/** What the file of `-f` says, nothing without one. Selectors are checked, also those of flags, before anything is asked. */
async function writtenIn({ io }: Session, { args, flags }: Given): Promise<readonly PolicyFile[]> {
  const path = flags['from-file']
  const files = typeof path === 'string' ? await policiesIn(path, io) : [NO_FILE]
  if (files.length > 1 && args.length > 0) throw usageError(`${String(path)} has several policies, and one is named`)
  await assertSelectors(files)
  const selector = flags['selector']
  if (typeof selector === 'string') await assertSelectors([{ name: '--selector', members: { selector } }])
  return files
}

const NO_FILE: PolicyFile = { name: 'flags', members: {}, revisionId: undefined }

function withoutFile({ args, flags }: Given): Given {
  const { 'from-file': _read, ...others } = flags
  return { args, flags: others }
}

/** Says which tests say nothing, since a selector of theirs matches no node. */
function warnOfVacuous(session: Session): (value: unknown) => Promise<void> {
  return async (value) => {
    const { vacuous_tests: tests = [], id, slug } = value as Policy // What the contract says of the answer.
    for (const { policy_id: policy, test, selector } of tests) {
      const of = policy === id ? slug : policy
      session.warn(`test ${test + 1} of ${of} says nothing: no node matches ${selector}`)
    }
  }
}

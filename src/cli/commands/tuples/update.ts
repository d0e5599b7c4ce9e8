import { ProblemAnswer } from '../../../client/failures.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { printedCurl } from '../authz/question.ts'
import type { Edit } from '../authz/impact-answer.ts'
import { DRY_RUN, preview } from '../authz/preview.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { quoted } from '../../output/curl.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { CAVEAT } from './caveat-flag.ts'
import { caveatOf, type TupleRequest } from './tuple-request.ts'
import { operationOf } from '../../session/noun-lists.ts'
import {
  currentProject,
  isWritten,
  listedTuples,
  projectOf,
  writtenTuple,
  type ListedTuple,
} from './tuple-reference.ts'

const changed = (what: string, noun?: string): FlagSpec => ({
  kind: 'text',
  describe: `${what}; as it is when absent`,
  ...(noun !== undefined && { noun }),
})

export function update(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PatchRelationTuple')
  const { domain, project } = derivedCommand(operation, manifest).flags ?? {}
  return {
    description:
      'Give only what changes. The server deletes the old tuple and then writes the new one, which has another id. If it fails between the two, ctl prints the command that writes the new tuple.',
    args: [
      {
        name: 'tuple',
        describe: 'Tuple',
        noun: 'tuples',
        required: true,
      },
    ],
    flags: {
      subject: changed('Another subject', 'subjects'),
      relation: changed('Another role'),
      resource: changed('Another object of the Project', 'objects'),
      caveat: { ...CAVEAT, describe: 'Another caveat, or none' },
      'dry-run': DRY_RUN,
      ...(domain && { domain }),
      ...(project && { project }),
    },
    uses: ['connection', 'curl', 'output', 'confirm'],
    examples: [
      "ctl tuples update 'project:web#viewer@user:alice' --relation deployer",
      'ctl tuples update 7c2a91 --project web --caveat none --dry-run',
    ],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode | void> {
  const text = givenTuple(given)
  const confirm = await import('../../derive/confirm.ts')
  await confirm.assertAnswerable(session, operation)
  const resolver = createResolver(session)
  const old = await findTuple(session, resolver, text)
  const body = await replacement(resolver, old, given)
  const input = { id: old.id, body }
  const project = await projectOf(resolver, old)
  if (given.flags['dry-run'] === true) return preview(session, editsOf(input, project), resolver)
  if (await printedCurl(session, operation, input)) return EXIT.ok
  const { expectedOf } = await import('../../derive/perform.ts')
  await session.assertEmittable(expectedOf(operation))
  await confirm.confirmChange(session, operation, [{ input, labels: {}, object: { id: old.id, label: text } }])
  await replace(session, operation, { ...input, project })
}

/** The tuple that was typed. @throws CliError where there is none, or nothing to change. */
function givenTuple({ args: [text], flags }: Given): string {
  if (text === undefined) throw usageError('<tuple> is missing', 'See: ctl tuples update --help')
  const known = ['subject', 'relation', 'resource', 'caveat']
  if (known.some((name) => flags[name] !== undefined)) return text
  throw usageError('there is nothing to change', `Give at least one of ${known.map((name) => `--${name}`).join(', ')}`)
}

async function findTuple(session: Session, resolver: Resolver, text: string): Promise<ListedTuple> {
  if (isWritten(text)) return writtenTuple(session, resolver, text)
  const project = await currentProject(resolver)
  const { id } = await resolver.object('tuples', text, { projects: project })
  for await (const tuple of listedTuples(session, project)) if (tuple.id === id) return tuple
  throw new CliError(`there is no tuple "${text}" in this Project, or you may not see it`, {
    exitCode: EXIT.notFound,
    code: 'reference_not_found',
    hints: ['See which there are: ctl tuples list'],
  })
}

/** The whole new tuple: what was named, and the old for the rest. */
async function replacement(resolver: Resolver, old: ListedTuple, { flags }: Given): Promise<TupleRequest> {
  const { subject, relation, resource, caveat } = flags
  const context = typeof caveat === 'string' ? contextOf(caveat) : old.caveat_context
  return {
    subject: typeof subject === 'string' ? await resolver.subject(subject, {}) : old.subject,
    relation: typeof relation === 'string' ? relation : old.relation,
    resource: typeof resource === 'string' ? await resolver.resource(resource, {}) : old.resource,
    ...(context !== undefined && { caveat_context: context }),
  }
}

function contextOf(caveat: string): TupleRequest['caveat_context'] {
  return caveat === 'none' ? undefined : { caveat_name: caveat }
}

interface Replacement {
  readonly id: string
  readonly body: TupleRequest
}

function editsOf({ id, body }: Replacement, project_id: string): readonly Edit[] {
  return [
    { kind: 'tuple', op: 'delete', tuple_id: id },
    { kind: 'tuple', op: 'create', project_id, ...body },
  ]
}

async function replace(
  session: Session,
  operation: ManifestOperation,
  { id, body, project }: Replacement & { readonly project: string },
): Promise<void> {
  const caller = await session.caller()
  session.expectOutput()
  try {
    const { value } = await caller.call(operation, { id, body })
    await session.emit(value, (await import('../../derive/perform.ts')).viewOf(operation))
    session.note('Replaced; the new tuple has an id of its own.')
  } catch (error) {
    if (isHalfDone(error))
      session.warn(`the old tuple may be gone. If it is, write the new one: ${creating(body, project)}`)
    throw error
  }
}

/** Between its two legs the old tuple is gone already, and a second call does not find it. */
function isHalfDone(error: unknown): boolean {
  return !(error instanceof ProblemAnswer) || error.status >= 500 || error.code === 'tuple_not_found'
}

function creating(tuple: TupleRequest, project: string): string {
  const caveat = caveatOf(tuple)
  const words = [tuple.subject, tuple.relation, tuple.resource, '--project', project].map(quoted).join(' ')
  return `ctl tuples create ${words}${caveat === '' ? '' : ` --caveat ${quoted(caveat)}`}`
}

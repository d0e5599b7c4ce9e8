import { ProblemAnswer } from '../../../client/failures.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { DRY_RUN } from '../authz/preview.ts'
import { printedCurl } from '../authz/question.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isRow } from '../../output/members.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import { isScreen } from '../../output/screen.ts'
import type { Session } from '../../session/session.ts'
import { currentProject, listedTuples, resolvedTuple } from './tuple-reference.ts'
import { caveatOf, type Fault, type TupleRequest, type TupleRow } from './tuple-request.ts'
import { assertBody, faulty, tuplesFrom } from './tuple-source.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function importTuples(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'BulkCreateRelationTuples')
  return {
    description: [
      'Takes JSON lines, a JSON or YAML list, or relationships as SpiceDB writes them, whichever the file holds; subjects and objects may be named.',
      'All of the file is created, in one revision, or nothing: at most 1000 tuples and 1 MiB. Tuples that are there already are left out. Rows are checked here first, and the first 20 that are wrong are listed by line.',
    ].join('\n'),
    args: [{ name: 'file', describe: 'File to read; - for stdin', required: true }],
    flags: {
      project: { ...placeFlag('projects'), describe: 'Project that the objects lie in' },
      domain: placeFlag('domains'),
      'dry-run': DRY_RUN,
    },
    uses: ['connection', 'curl', 'output', 'confirm'],
    examples: [
      'ctl tuples import tuples.jsonl --project web',
      'ctl tuples import team.yaml --project web --dry-run',
      'ctl tuples export --project web | ctl tuples import - --project web --context staging',
    ],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode | void> {
  const [path] = given.args
  if (path === undefined) throw usageError('<file> is missing', 'See: ctl tuples import --help')
  await (await import('../../derive/confirm.ts')).assertAnswerable(session, operation)
  const read = await tuplesFrom(path, session.io)
  if (read.length === 0) return session.note('There is nothing to import.')
  const resolver = createResolver(session)
  const project_id = await currentProject(resolver)
  const rows = await resolvedRows(resolver, { path, rows: read, project_id })
  assertBody(path, bodyOf(project_id, rows))
  const reading = { path, rows, project_id }
  if (given.flags['dry-run'] === true)
    return orWithoutExisting(session, reading, (of) => previewed(session, resolver, bodyOf(project_id, of).tuples))
  if (await printedCurl(session, operation, { body: bodyOf(project_id, rows) })) return
  await session.assertEmittable((await import('../../derive/perform.ts')).expectedOf(operation))
  await (await import('../../derive/confirm.ts')).confirmChange(session, operation, [])
  await orWithoutExisting(session, reading, (of) =>
    send(session, operation, { path, rows: of, body: bodyOf(project_id, of) }),
  )
}

type Attempt = (rows: readonly TupleRow[]) => Promise<ExitCode | void>

/** Tries all rows, then those that the Project has not: what was exported from it may be imported again. */
async function orWithoutExisting(session: Session, reading: Reading, attempt: Attempt): Promise<ExitCode | void> {
  try {
    return await attempt(reading.rows)
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
    const left = await withoutExisting(session, reading)
    // The caller may not see the tuple that is there.
    if (left.length === reading.rows.length) throw error
    noteExisting(session, reading.rows.length - left.length, left.length)
    return left.length === 0 ? undefined : attempt(left)
  }
}

function bodyOf(project_id: string, rows: readonly TupleRow[]) {
  return { tuples: rows.map(({ tuple }) => ({ project_id, ...tuple })) }
}

function isAlreadyThere(error: unknown): boolean {
  const cause = error instanceof CliError ? error.cause : error
  return cause instanceof ProblemAnswer && cause.code === 'tuple_already_exists'
}

/** The rows that the Project does not show. */
async function withoutExisting(session: Session, { rows, project_id }: Reading): Promise<readonly TupleRow[]> {
  const there = new Set<string>()
  for await (const tuple of listedTuples(session, project_id)) there.add(keyOf(tuple))
  return rows.filter(({ tuple }) => !there.has(keyOf(tuple)))
}

function noteExisting(session: Session, existing: number, left: number): void {
  const are = existing === 1 ? '1 tuple is' : `${existing} tuples are`
  session.note(`${left === 0 ? 'Nothing to do: ' : ''}${are} there already.`)
}

function keyOf(tuple: TupleRequest): string {
  return JSON.stringify([tuple.subject, tuple.relation, tuple.resource, caveatOf(tuple)])
}

interface Reading {
  readonly path: string
  readonly rows: readonly TupleRow[]
  readonly project_id: string
}

/** Rows with the ids of what they name. Every name that is not known is listed. */
async function resolvedRows(resolver: Resolver, { path, rows, project_id }: Reading): Promise<readonly TupleRow[]> {
  const found: TupleRow[] = []
  const faults: Fault[] = []
  for (const { line, tuple } of rows) {
    try {
      found.push({ line, tuple: await resolvedTuple(resolver, tuple, { projects: project_id }) })
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      faults.push({ line, message: error.message })
    }
  }
  if (faults.length > 0) throw faulty(path, faults)
  return found
}

async function previewed(session: Session, resolver: Resolver, tuples: readonly TupleRequest[]): Promise<ExitCode> {
  const { preview } = await import('../authz/preview.ts')
  return preview(
    session,
    tuples.map((tuple) => ({ kind: 'tuple', op: 'create', ...tuple })),
    resolver,
  )
}

interface Sending {
  readonly path: string
  readonly rows: readonly TupleRow[]
  readonly body: Readonly<Record<string, unknown>>
}

async function send(session: Session, operation: ManifestOperation, { path, rows, body }: Sending): Promise<void> {
  const caller = await session.caller()
  session.expectOutput()
  const { value } = await caller.call(operation, { body }).catch((error: unknown) => {
    throw refusal(error, path, rows) ?? error
  })
  if (!(await isScreen(session))) await session.emit(value, (await import('../../derive/perform.ts')).viewOf(operation))
  session.note(`Imported ${rows.length} tuple${rows.length === 1 ? '' : 's'}.`)
}

/** The rows that the server refused, by their lines in the file. */
function refusal(error: unknown, path: string, rows: readonly TupleRow[]): CliError | undefined {
  if (!(error instanceof ProblemAnswer) || !Array.isArray(error.document['errors'])) return undefined
  const faults = error.document['errors'].filter(isRow).flatMap(({ row, code, detail }): readonly Fault[] => {
    const at = typeof row === 'number' ? rows[row - 1] : undefined
    return at === undefined ? [] : [{ line: at.line, message: `${String(detail)} (${String(code)})` }]
  })
  if (faults.length === 0) return undefined
  const count = error.document['error_count']
  const failure = faulty(path, faults, typeof count === 'number' ? count : faults.length)
  return new CliError(failure.message, {
    exitCode: BY_STATUS[error.status] ?? EXIT.invalid,
    code: error.code,
    hints: [...failure.hints, `correlation_id=${error.correlationId ?? ''}`],
    cause: error,
  })
}

const BY_STATUS: Readonly<Record<number, ExitCode>> = { 403: EXIT.denied, 404: EXIT.notFound, 409: EXIT.conflict }

import { CliError, usageError } from '../../errors/cli-error.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import { handleOf, memberOf } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { inLanes } from '../nodes/in-lanes.ts'
import { exitCodeOf } from '../../errors/exit-code.ts'
import type { PolicyPreview } from './answers.ts'
import { policiesIn, type PolicyFile } from './documents.ts'
import { domainOf } from './reading.ts'
import { assertSelectors, faultySelectors, memberAt, textAt } from './selectors.ts'
import { structuralErrors } from './structure.ts'

/** Flags of commands that read policies from files. */
export const FILES = {
  file: { kind: 'many', short: 'f', value: 'FILE', describe: 'Policy file; may come again, - for stdin' },
  domain: { ...placeFlag('domains'), describe: 'Domain of the policies; your own when absent' },
} as const satisfies FlagSpecs

/** Policies that one question takes. */
const POLICIES_MAX = 32

/** Reads the policies of files. Throws a usage error for no file, and refuses selectors that cannot be read. */
export async function policiesOf(session: Session, references: readonly string[]): Promise<readonly PolicyFile[]> {
  const files: PolicyFile[] = []
  for (const reference of references) files.push(...(await policiesIn(reference, session.io)))
  if (files.length > POLICIES_MAX)
    throw usageError(`at most ${POLICIES_MAX} policies are previewed at once, not ${files.length}`)
  assertNamed(files)
  await assertSelectors(files)
  const faults = files.flatMap(structuralErrors)
  if (faults.length > 0)
    throw new CliError('a policy is malformed', { exitCode: exitCodeOf(400), code: 'invalid_policy', hints: faults })
  return files
}

function assertNamed(files: readonly PolicyFile[]): void {
  const slugs = new Set<unknown>()
  for (const { name, members } of files) {
    const slug = members['slug']
    if (typeof slug !== 'string') throw usageError(`${name} has no slug`)
    if (slugs.has(slug)) throw usageError(`policy ${slug} comes twice`)
    slugs.add(slug)
  }
}

/** Asks what policies would change in the Domain of the command. Nothing is stored. Selectors with errors are refused, underlined. */
export async function previewOf(session: Session, files: readonly PolicyFile[]): Promise<PolicyPreview> {
  const operation = session.operation('PreviewPolicies')
  const id = await domainOf(session)
  const caller = await session.caller()
  session.expectOutput()
  const input = { id, body: { policies: files.map(({ members }) => members) } }
  const reply = await caller.call(operation, input).catch((error: unknown) => {
    throw withPlaces(error, files)
  })
  const found = reply.value as PolicyPreview // What the contract says of 200.
  const faulty = (found.selector_errors ?? []).map(({ pointer, errors }) => {
    const [, , index = '', ...inside] = pointer.split('/')
    const [file, member] = [files[Number(index)], `/${inside.join('/')}`]
    const text = file === undefined ? '' : (textAt(file.members, member) ?? '')
    return { place: `${file?.name ?? 'policies'}: ${memberAt(member)}`, text, faults: errors }
  })
  if (faulty.length > 0) throw faultySelectors(faulty)
  return found
}

const MEMBER = /^\/policies\/(\d+)(\/.+)$/

/** A refusal of members of policies as one that names file and member of each; any other failure as it is. */
function withPlaces(error: unknown, files: readonly PolicyFile[]): unknown {
  if (!(error instanceof ProblemAnswer) || !Array.isArray(error.document['errors'])) return error
  const hints = error.document['errors'].flatMap((one) => {
    const [, index = '', member = ''] = MEMBER.exec(String(memberOf(one, 'pointer'))) ?? []
    const file = files[index === '' ? -1 : Number(index)]
    return file === undefined ? [] : [`  ${file.name}: ${memberAt(member)}: ${String(memberOf(one, 'detail'))}`]
  })
  if (hints.length === 0) return error
  const message = hints.length === 1 ? 'a policy is malformed' : 'policies are malformed'
  return new CliError(message, { exitCode: exitCodeOf(error.status), code: error.code, hints, cause: error })
}

/** Names that are looked up one by one; behind them ids are shown. */
const LOOKED_UP_MAX = 40
const LANES = 4

/** Names of nodes by id: those that are known, and those that can be read. */
export async function nodeNames(
  session: Session,
  ids: Iterable<string>,
  known: ReadonlyMap<string, string>,
): Promise<(id: string) => string> {
  const names = new Map(known)
  const unknown = [...new Set(ids)].filter((id) => !names.has(id)).slice(0, LOOKED_UP_MAX)
  const caller = await session.caller()
  await inLanes(unknown, { lanes: LANES }, async (id) => {
    const name = await caller.call(session.operation('GetNode'), { id }).then(
      ({ value }) => handleOf(value),
      (error: unknown) => {
        // A node that went away in between, or that the caller may not read by itself, is shown by its id.
        if (error instanceof ProblemAnswer) return id
        throw error
      },
    )
    names.set(id, name ?? id)
  })
  return (id) => names.get(id) ?? id
}

/** Names that an answer has beside ids. */
export function namesIn({ policies, gained, lost }: PolicyPreview): ReadonlyMap<string, string> {
  const pairs = [...gained.sample, ...lost.sample]
  return new Map([
    ...policies.flatMap(({ sample }) => sample.map(({ node_id: id, name }) => [id, name] as const)),
    ...pairs.flatMap((pair) => [[pair.from_node_id, pair.from] as const, [pair.to_node_id, pair.to] as const]),
  ])
}

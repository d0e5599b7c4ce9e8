import { z } from 'zod'
import { AdminRefusal, type AdminCommand, type AdminRequest } from '../ports/admin-command.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { ReleaseVerifier } from '../ports/release-verifier.ts'
import type { Change, UnitOfWork } from '../ports/unit-of-work.ts'
import { judgeArchitectures } from './judgement.ts'
import { putRelease, type PutRelease } from './put-release.ts'
import { releaseAudit } from './release-audit.ts'
import { architectureMembers, firstFaultOf, releaseMembers, type ReleaseContent } from './release-content.ts'
import { ReleaseRefused } from './release-refused.ts'
import { changeSupportStatus } from './support-status.ts'

export interface ReleaseCommandsDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
  /** Undefined where no signers are configured: then nothing is imported. */
  readonly releaseVerifier: ReleaseVerifier | undefined
}

/** The place of an attachment. */
const Attachment = z.int().min(0)

const ImportInput = z.strictObject(
  releaseMembers(z.strictObject({ ...architectureMembers, bundle: Attachment, binary: Attachment.optional() })),
)

/** The input of `artifacts.import`. */
export type ReleaseImport = z.infer<typeof ImportInput>

const StatusInput = z.strictObject({ version: z.string() })

const SUBJECT = 'system:admin-artifacts'

/** How the support status of a release is changed, and what was done then. */
const STATUSES = [
  { verb: 'support', status: 'supported', done: 'is supported' },
  { verb: 'deprecate', status: 'deprecated', done: 'is deprecated' },
  { verb: 'withdraw', status: 'withdrawn', done: 'is withdrawn' },
] as const

/** The commands of operators over releases: `ctl admin artifacts`. */
export function createReleaseCommands(deps: ReleaseCommandsDeps): readonly AdminCommand[] {
  const statuses = STATUSES.map((row): AdminCommand => ({
    name: `artifacts.${row.verb}`,
    run: ({ input }) => changeStatus(deps, parsed(StatusInput, input).version, row),
  }))
  return [{ name: 'artifacts.import', run: (request) => importRelease(deps, request) }, ...statuses]
}

async function importRelease(
  { releaseVerifier: verifier, ...deps }: ReleaseCommandsDeps,
  request: Omit<AdminRequest, 'command'>,
): Promise<string> {
  if (verifier === undefined)
    throw new AdminRefusal('Without --release-signers the server does not know whose releases to trust.')
  const content = contentOf(request)
  const { version } = content
  const verdicts = await judgeArchitectures(verifier, version, content.architectures)
  const put = await inChange(deps, async (change) => {
    const done = await putRelease(change.db, content, { verifier, verdicts, now: new Date(deps.clock.now()) })
    const { outcome, supportStatus, judgement } = done
    const context = { outcome, support_status: supportStatus, verdict: judgement.verdict }
    if (outcome !== 'unchanged') change.audit(releaseAudit(SUBJECT, 'import', { version, context }))
    return done
  })
  return sentenceOf(version, put)
}

function contentOf({ input, attachments }: Omit<AdminRequest, 'command'>): ReleaseContent {
  const { version, support_status: supportStatus, architectures } = parsed(ImportInput, input)
  const attached = (place: number | undefined) => (place === undefined ? undefined : attachments[place])
  return {
    version,
    supportStatus,
    architectures: architectures.map(({ architecture, checksum, bundle, binary }) => ({
      architecture,
      checksum,
      bundle: attached(bundle),
      binary: attached(binary),
    })),
  }
}

const DONE = { added: 'was added', changed: 'was changed', unchanged: 'is as it was' } as const

function sentenceOf(version: string, { outcome, judgement }: PutRelease): string {
  const done = `Release ${version} ${DONE[outcome]}`
  if (judgement.verdict === 'verified') return `${done}: verified, signed by ${judgement.signed_by}.`
  const reason = judgement.verdict_reason?.replace(/\.$/, '')
  return `${done}, but nothing is upgraded to it: it is unverified (${reason}).`
}

async function changeStatus(
  deps: Omit<ReleaseCommandsDeps, 'releaseVerifier'>,
  version: string,
  { verb, status, done }: (typeof STATUSES)[number],
): Promise<string> {
  const isChanged = await inChange(deps, async (change) => {
    const isOther = await changeSupportStatus(change.db, version, { status, now: new Date(deps.clock.now()) })
    if (isOther) change.audit(releaseAudit(SUBJECT, verb, { version, context: { support_status: status } }))
    return isOther
  })
  return isChanged ? `Release ${version} ${done} now.` : `Release ${version} ${done} already.`
}

async function inChange<T>(
  { unitOfWork, ids }: Pick<ReleaseCommandsDeps, 'unitOfWork' | 'ids'>,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  try {
    return await unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, work)
  } catch (error) {
    if (error instanceof ReleaseRefused) throw new AdminRefusal(error.message, error)
    throw error
  }
}

function parsed<S extends z.ZodType>(schema: S, input: unknown): z.infer<S> {
  const result = schema.safeParse(input)
  if (!result.success)
    throw new AdminRefusal(`The command was given what it does not take (${firstFaultOf(result.error)}).`)
  return result.data
}

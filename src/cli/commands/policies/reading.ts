import type { Given } from '../../argv/command.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { rowsOfList } from '../clouds/reading.ts'
import type { Policy, Revision } from './answers.ts'

/** Finds a policy by slug or id in the Domain of the command, and reads it as it is now. Throws what a look-up and a call throw. */
export async function namedPolicy(session: Session, text: string, flags: Given['flags']): Promise<Policy> {
  const resolver = createResolver(session)
  const typed = flags['domain']
  const domain = typeof typed === 'string' ? await resolver.object('domains', typed, {}) : undefined
  const { id } = await resolver.object('policies', text, domain === undefined ? {} : { domains: domain.id })
  const { value } = await (await session.caller()).call(session.operation('GetPolicy'), { id })
  return value as Policy // What the contract says of 200.
}

/** The header by which a change is refused unless the policy has that revision; the newest one when absent. */
export function revisionHeader(policy: Policy, based: string | undefined): { readonly 'if-match': string } {
  return { 'if-match': `"${based ?? policy.revision_id}"` }
}

/** The revision of a policy with a number. Throws not found where there is none. */
export async function revisionOf(session: Session, policy: Policy, wanted: number): Promise<Revision> {
  for await (const one of rowsOfList<Revision>(session, 'ListPolicyRevisions', { id: policy.id }))
    if (one.revision === wanted) return one
  throw new CliError(`policy ${policy.slug} has no revision ${wanted}`, {
    exitCode: EXIT.notFound,
    code: 'policy_revision_not_found',
    hints: [`See which there are: ctl policies revisions ${policy.slug}`],
  })
}

const NUMBER = /^[1-9]\d{0,8}$/

/** A revision as it was typed: its id, or its number within the policy. Throws a usage error for another text. */
export function typedRevision(text: string): string | number {
  if (isNonZeroUuid(text)) return text.toLowerCase()
  if (NUMBER.test(text)) return Number(text)
  throw usageError(`"${text}" names no revision`, 'Give its number or its id: ctl policies revisions NAME')
}

/** The Domain in which a command works. Throws a usage error where there is none. */
export async function domainOf(session: Session): Promise<string> {
  const domain = await createResolver(session).fallback('domains', {})
  if (domain === undefined) throw usageError('--domain is missing', 'Add --domain, or set CTL_DOMAIN')
  return domain.id
}

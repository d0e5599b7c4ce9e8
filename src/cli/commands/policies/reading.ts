import type { Given } from '../../argv/command.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Policy } from './answers.ts'

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

/** The Domain in which a command works. Throws a usage error where there is none. */
export async function domainOf(session: Session): Promise<string> {
  const domain = await createResolver(session).fallback('domains', {})
  if (domain === undefined) throw usageError('--domain is missing', 'Add --domain, or set CTL_DOMAIN')
  return domain.id
}

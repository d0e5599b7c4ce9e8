import type { FlagSpecs } from '../../argv/flags.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { PLACES, scopeNamed } from './keys.ts'

/** Where a selector is used. */
export const QUERY_SCOPE = {
  scope: {
    kind: 'text',
    value: 'SCOPE',
    describe: 'Where: platform, domain:NAME or project:NAME; your Domain when absent',
  },
  ...PLACES,
} as const satisfies FlagSpecs

/** Where a selector is used, as the API takes it. */
export interface QueryScope {
  readonly scope: 'platform' | 'domain' | 'project'
  readonly scope_id?: string
}

/** The scope of the flag, else the Domain in which the command works, else the platform. */
export async function queryScope(session: Session, typed: string | undefined): Promise<QueryScope> {
  const resolver = createResolver(session)
  if (typed !== undefined) return parts(await scopeNamed(resolver, typed))
  const domain = await resolver.fallback('domains', {})
  return domain === undefined ? { scope: 'platform' } : { scope: 'domain', scope_id: domain.id }
}

function parts(text: string): QueryScope {
  const [scope, id] = text.split(':')
  if (id === undefined || scope === 'platform') return { scope: 'platform' }
  return { scope: scope === 'project' ? 'project' : 'domain', scope_id: id }
}

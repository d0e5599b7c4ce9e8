import type { ApiClient } from '../../client/agent/agent-deps.ts'
import { usageError } from '../errors/cli-error.ts'
import { createResolver } from '../session/references.ts'
import type { Session } from '../session/session.ts'
import { readTokenFile } from '../session/token-file.ts'
import type { JoinToken } from './fleet.ts'
import { PLAN_MAX } from './plan.ts'
import type { SimulationFlags } from './plan-of-flags.ts'

/** The Domains that the nodes join, and their join tokens. */
export interface Joining {
  /** Ids, as named; one that is undefined where none is named: your own, or that of the token that was given. */
  readonly domains: readonly (string | undefined)[]
  /** The token that was given, or one that is minted for this number of nodes. */
  readonly joinToken: (uses: number, domain: string | undefined) => Promise<JoinToken>
}

/**
 * Reads the join token, if one was given, and finds the Domains.
 *
 * @throws CliError if the file is empty or cannot be read, if a Domain is unknown, or if there is one token for several Domains.
 */
export async function joiningOf(
  session: Session,
  flags: SimulationFlags,
  client: () => Promise<ApiClient>,
): Promise<Joining> {
  const file = flags['join-token-file']
  const named = flags.domain ?? []
  if (file !== undefined && named.length > 1)
    throw usageError(
      '--join-token-file has one token, which is for one Domain: leave it out, and a token is minted for each',
    )
  if (named.length > PLAN_MAX.domains) throw usageError(`--domain takes at most ${PLAN_MAX.domains} Domains`)
  if (file !== undefined) {
    const token = readTokenFile(file, '--join-token-file', (line) => session.warn(line))
    return { domains: [undefined], joinToken: async () => ({ token, isEphemeral: undefined }) }
  }
  const resolver = createResolver(session)
  const domains: (string | undefined)[] = []
  for (const name of named) domains.push((await resolver.object('domains', name, {})).id)
  return {
    domains: domains.length === 0 ? [undefined] : [...new Set(domains)],
    joinToken: async (uses, domain) => mintJoinToken(await client(), uses, domain ?? (await ownDomain(session))),
  }
}

/** Mints an ephemeral token for this number of nodes. The server deregisters them after their last heartbeat. */
async function mintJoinToken(client: ApiClient, uses: number, id: string): Promise<JoinToken> {
  const body = { max_uses: uses, ttl_seconds: 3600, ephemeral: true, labels: { simulated: 'true' } }
  return { token: (await client.CreateJoinToken({ id, body })).token, isEphemeral: true }
}

async function ownDomain(session: Session): Promise<string> {
  const { domain } = await session.settings()
  if (domain.value !== undefined) return (await createResolver(session).object('domains', domain.value, {})).id
  const { domain_id: own } = await session.whoami()
  return String(own)
}

import { createLocalJWKSet, errors, type CryptoKey, type JWSHeaderParameters } from 'jose'
import { LRUCache } from 'lru-cache'
import { Problem, problem } from '../../../shared/problems.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IssuerAddress, IssuerMetadata, Issuers } from '../../ports/issuers.ts'
import type { OutgoingFetch } from '../../ports/outgoing-fetch.ts'
import { fetchOver, type OwnIssuer } from './guarded-fetch.ts'
import { discoveryUrl, documentIn, DOCUMENT_BYTES_MAX, keySetIn, metadataIn } from './issuer-documents.ts'
import { createKept, type Kept } from './cached-fetch.ts'

/** How long discovery and keys are cached. */
const KEPT_MS = 3_600_000
/** Minimum time between two fetches of keys for an unknown `kid`, for any caller. */
const REFRESH_PAUSE_MS = 60_000
/** Maximum of cached issuers; the least recently used ones are evicted. */
const ISSUERS_MAX = 256

export interface IssuersDeps {
  readonly fetch: OutgoingFetch
  readonly clock: Clock
  /** The bundled provider, which is called without a socket; undefined where it is off. */
  readonly ownIssuer?: OwnIssuer | undefined
}

type FindKey = (header: JWSHeaderParameters) => Promise<CryptoKey>

interface Known {
  readonly at: IssuerAddress
  readonly metadata: Kept<IssuerMetadata>
  readonly keys: Kept<FindKey>
}

/** Creates the issuers: discovery and JWK Sets, each cached for an hour and fetched by one call at a time. */
export function createIssuers({ fetch: outgoing, clock, ownIssuer }: IssuersDeps): Issuers {
  const known = new LRUCache<string, Known>({ max: ISSUERS_MAX })
  const fetchFor = fetchOver(outgoing, ownIssuer)
  const kept = { clock, keptMs: KEPT_MS }

  /** The cache key contains how the issuer may be reached: a binding must not use what only another one may fetch. */
  function knownAt(at: IssuerAddress): Known {
    const name = `${reachOf(at)} ${at.issuer}`
    const found = known.get(name)
    if (found !== undefined) return found
    const met = meet(at)
    known.set(name, met)
    return met
  }

  function meet(at: IssuerAddress): Known {
    const metadata = createKept(async () => metadataIn(await documentAt(at, discoveryUrl(at.issuer)), at), kept)
    const findKey = async (): Promise<FindKey> => finderOf(await documentAt(at, (await metadata.get()).jwks_uri))
    return { at, metadata, keys: createKept(findKey, kept) }
  }

  async function documentAt(at: IssuerAddress, url: string): Promise<unknown> {
    const answer = at.isBundled
      ? await bufferedAnswer(await fetchFor(at)(url))
      : await outgoing(url, { allowPrivateNetwork: at.allowPrivateNetwork, bodyBytesMax: DOCUMENT_BYTES_MAX })
    return documentIn(answer, url)
  }

  return {
    fetchFor,
    metadata: (at) => available(knownAt(at).metadata.get()),
    async key(at, header) {
      const { keys } = knownAt(at)
      const findKey = await available(keys.get())
      try {
        return await findKey(header)
      } catch (error) {
        const refreshed = error instanceof errors.JWKSNoMatchingKey ? keys.refresh(REFRESH_PAUSE_MS) : undefined
        if (refreshed === undefined) throw error
        return (await available(refreshed))(header)
      }
    },
    forget(issuer) {
      for (const [name, { at }] of known.entries()) if (at.issuer === issuer) known.delete(name)
    },
  }
}

function reachOf({ isBundled, allowPrivateNetwork }: IssuerAddress): string {
  if (isBundled) return 'in this process'
  return allowPrivateNetwork ? 'anywhere' : 'in public'
}

async function bufferedAnswer(response: Response): Promise<{ readonly status: number; readonly body: Buffer }> {
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
}

/** The set as a function. A malformed key and one that does not fit raise the same error: both are the issuer's mistake. */
function finderOf(document: unknown): FindKey {
  const find = createLocalJWKSet(keySetIn(document))
  return async (header) => {
    try {
      return await find(header)
    } catch (error) {
      if (error instanceof errors.JOSEError) throw error
      throw new errors.JWKInvalid('the key that the signature names is malformed', { cause: error })
    }
  }
}

/** Callers see one problem for every failure to load an issuer; its cause has the details. */
async function available<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw error instanceof Problem ? error : problem('idp_unavailable', {}, error)
  }
}

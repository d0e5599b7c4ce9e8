import type { ReadBridge } from './own-bridges.ts'
import { parseNsk } from '../../../shared/credential-formats.ts'
import { openSecretEnvelope } from '../../../shared/mesh/secret-envelope.ts'
import { attempt } from '../calls/attempt.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { SealedSecret } from '../calls/node-wire.ts'
import type { HeldSecret, HeldSecrets, Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'

/** The node does not host the bridge any more, or the secret does not exist. An event or a hint follows. */
const NOT_FOUND = 'secret_not_found'

interface Needed {
  readonly bridge: ReadBridge
  /** Secrets that are not fetched again. */
  readonly known: HeldSecrets
}

interface FetchedSecrets {
  readonly secrets: HeldSecrets
  /** Undefined: all of them were fetched. */
  readonly error: string | undefined
  /** Another try may fetch the others. */
  readonly isUnfinished: boolean
}

/** Fetches the secrets that a configuration names, one after another, and opens their envelopes. */
export async function fetchSecrets<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { bridge, known }: Needed,
): Promise<FetchedSecrets> {
  const secrets = new Map<string, HeldSecret>()
  const codes = new Map<string, string>()
  for (const ref of bridge.secretRefs) {
    const secret = known.get(ref) ?? (await fetchSecret(deps, node, ref))
    if ('code' in secret) codes.set(ref, secret.code)
    else secrets.set(ref, secret)
  }
  const [first] = codes
  return {
    secrets,
    error: first && `${first[0]} could not be fetched: ${first[1]}`,
    isUnfinished: [...codes.values()].some((code) => code !== NOT_FOUND),
  }
}

/** A secret that was fetched and opened, or why it was not. */
export async function fetchSecret<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  ref: string,
): Promise<HeldSecret | { readonly code: string }> {
  const { node_id: nodeId } = node.identity
  let outcome: Outcome<SealedSecret> = { ok: false, code: 'aborted', tries: 0 }
  await deps.mesh.limiters.secrets(deps.until, async () => {
    outcome = await attempt(deps, node, {
      operation: 'secret',
      isRepeatable: true,
      toleratedCodes: [NOT_FOUND],
      call: (nsk) => deps.mesh.wire.fetchSecret({ nodeId, nsk, ref }),
    })
  })
  return heldSecret(deps, { nodeId, ref }, outcome)
}

interface Place {
  readonly nodeId: string
  readonly ref: string
}

function heldSecret(
  deps: MemberDeps<Member>,
  place: Place,
  outcome: Outcome<SealedSecret>,
): HeldSecret | { readonly code: string } {
  if (!outcome.ok) return { code: outcome.code }
  const value = opened(outcome.value, place)
  if (value === undefined) {
    deps.statistics.count('bad_envelopes')
    return { code: 'bad_envelope' }
  }
  deps.statistics.count('secrets_fetched')
  return { version: outcome.value.version, value }
}

function opened({ envelope, kid, version, nsk }: SealedSecret, place: Place): Uint8Array | undefined {
  const fields = parseNsk(nsk)
  if (fields === undefined || fields.kid !== kid) return undefined
  const result = openSecretEnvelope(envelope, fields.key, { ...place, version })
  return result.ok ? result.secret : undefined
}

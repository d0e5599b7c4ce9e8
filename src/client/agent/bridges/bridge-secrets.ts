import type { ReadBridge } from './own-bridges.ts'
import { parseNsk } from '../../../shared/credential-formats.ts'
import { openSecretEnvelope } from '../../../shared/mesh/secret-envelope.ts'
import type { SecretVersions } from '../../../shared/bridges/host-report.ts'
import { attempt } from '../calls/attempt.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { SealedSecret } from '../calls/node-wire.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'

/** The node does not host the bridge any more, or the secret does not exist. An event or a hint follows. */
const NOT_FOUND = 'secret_not_found'

interface Needed {
  readonly bridge: ReadBridge
  /** Versions of secrets that are not fetched again. */
  readonly known: SecretVersions
}

interface FetchedSecrets {
  readonly secrets: SecretVersions
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
  const versions: Record<string, number> = {}
  const codes = new Map<string, string>()
  for (const ref of bridge.secretRefs) {
    const version = known[ref] ?? (await fetchVersion(deps, node, ref))
    if (typeof version === 'number') versions[ref] = version
    else codes.set(ref, version.code)
  }
  const [first] = codes
  return {
    secrets: versions,
    error: first && `${first[0]} could not be fetched: ${first[1]}`,
    isUnfinished: [...codes.values()].some((code) => code !== NOT_FOUND),
  }
}

/** The version of a secret that was fetched and opened, or why it was not. */
export async function fetchVersion<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  ref: string,
): Promise<number | { readonly code: string }> {
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
  return versionOf(deps, { nodeId, ref }, outcome)
}

interface Place {
  readonly nodeId: string
  readonly ref: string
}

function versionOf(
  deps: MemberDeps<Member>,
  { nodeId, ref }: Place,
  outcome: Outcome<SealedSecret>,
): number | { readonly code: string } {
  if (!outcome.ok) return { code: outcome.code }
  if (!opens(outcome.value, { nodeId, ref })) {
    deps.statistics.count('bad_envelopes')
    return { code: 'bad_envelope' }
  }
  deps.statistics.count('secrets_fetched')
  return outcome.value.version
}

function opens({ envelope, kid, version, nsk }: SealedSecret, place: Place): boolean {
  const fields = parseNsk(nsk)
  if (fields === undefined || fields.kid !== kid) return false
  return openSecretEnvelope(envelope, fields.key, { ...place, version }).ok
}

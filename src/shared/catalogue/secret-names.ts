/** Parts of member names that announce a secret, without separators. */
const SECRET_PARTS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'privatekey',
  'accesskey',
  'apikey',
  'accountkey',
  'credential',
]

/** Ends of names that tell where something is fetched, not what it is: `token_endpoint`. */
const LOCATION_ENDS = ['url', 'uri', 'endpoint']

/** Whether a member of that name would hold a secret. Case and separators do not count. */
function isNamedLikeSecret(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (LOCATION_ENDS.some((end) => plain.endsWith(end))) return false
  return SECRET_PARTS.some((part) => plain.includes(part))
}

/**
 * Whether an object has a member, at any depth, that is named like a secret (decisions: Catalogue). `endpoint` and
 * `region_defaults` of a Cloud are shown to everybody who may observe it; its secrets are in its credentials.
 */
export function holdsSecretName(value: unknown): boolean {
  // A loop, not recursion: a body may nest as deep as its size allows.
  const waiting = [value]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at !== 'object' || at === null) continue
    if (!Array.isArray(at) && Object.keys(at).some(isNamedLikeSecret)) return true
    waiting.push(...Object.values(at).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return false
}

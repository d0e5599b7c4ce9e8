import type { Bundle, TransparencyLogEntry } from '@sigstore/bundle'
import { Unverified } from './unverified.ts'

const ENTRIES_MAX = 8

/** Kinds of entries that are accepted. Those of Rekor v2 are not: the library does not verify all of them (docs/decisions/0059). */
const ACCEPTED_KINDS: Readonly<Record<Bundle['content']['$case'], readonly string[]>> = {
  dsseEnvelope: ['dsse 0.0.1', 'intoto 0.0.2'],
  messageSignature: ['hashedrekord 0.0.1'],
}

/** The names of logs: the library uses a name in a checkpoint as a regular expression before it verifies anything. */
const CHECKPOINT_NAME = /^[\w.:/~-]{1,256}$/
const CHECKPOINT_SIGNATURE = /\u2014 (\S+) \S+\n/g

/**
 * Asserts that the entries of transparency logs are of accepted kinds, and distinct.
 *
 * @throws Unverified
 */
export function assertLogEntries({ content, verificationMaterial }: Bundle): void {
  const entries = verificationMaterial.tlogEntries
  if (entries.length === 0) throw new Unverified('The bundle has no entry of a transparency log.')
  if (entries.length > ENTRIES_MAX)
    throw new Unverified(`The bundle has more than ${ENTRIES_MAX} entries of transparency logs.`)
  for (const entry of entries) {
    assertAcceptedKind(entry, ACCEPTED_KINDS[content.$case])
    assertCheckpointNames(entry)
  }
  if (hasRepetition(entries.map(placeOf)) || hasRepetition(entries.map(bodyOf)))
    throw new Unverified('The bundle has the same entry of a transparency log twice.')
}

function assertAcceptedKind(
  { kindVersion: { kind, version } }: TransparencyLogEntry,
  accepted: readonly string[],
): void {
  const name = `${kind} ${version}`
  if (accepted.includes(name)) return
  // What the bundle says goes into a sentence only where it looks like a kind.
  const shown = /^\w{1,32} \d[\d.]{0,15}$/.test(name) ? `kind ${name}` : 'an unknown kind'
  throw new Unverified(`The entry of the transparency log is of ${shown}, which is not supported.`)
}

function assertCheckpointNames({ inclusionProof }: TransparencyLogEntry): void {
  const signatures = (inclusionProof?.checkpoint?.envelope ?? '').matchAll(CHECKPOINT_SIGNATURE)
  for (const [, name = ''] of signatures) {
    if (!CHECKPOINT_NAME.test(name)) throw new Unverified('A checkpoint in the bundle has a malformed name of a log.')
  }
}

/** Numbers as the library reads them: `1` and `01` are the same place. */
function placeOf({ logId, logIndex }: TransparencyLogEntry): string {
  return `${logId.keyId.toString('hex')} ${Number(logIndex)}`
}

function bodyOf({ canonicalizedBody }: TransparencyLogEntry): string {
  return canonicalizedBody.toString('base64')
}

function hasRepetition(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length
}

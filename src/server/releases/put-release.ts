import type { Db } from '../ports/datastore.ts'
import type { ReleaseVerifier, Verdict } from '../ports/release-verifier.ts'
import { judgeArchitectures, judgementOf, type Judgement, type Verdicts } from './judgement.ts'
import type { ArchitectureContent, ReleaseContent, SupportStatus } from './release-content.ts'
import { ReleaseRefused } from './release-refused.ts'
import {
  insertRelease,
  lockRelease,
  readArchitectures,
  updateRelease,
  writeArchitectures,
  type ReleaseRecord,
} from './release-store.ts'

/** How a release is put. */
export interface Putting {
  readonly verifier: ReleaseVerifier
  /** Of the architectures of the content, made before the transaction: verification takes time. */
  readonly verdicts: Verdicts
  readonly now: Date
}

/** What came of it. */
export interface PutRelease {
  readonly outcome: 'added' | 'changed' | 'unchanged'
  readonly supportStatus: SupportStatus
  readonly judgement: Judgement
}

/**
 * Stores a release, or what is new about a known one: further architectures, other attestations, another support status.
 * Binaries of a known version never change. A withdrawn release stays withdrawn.
 *
 * @throws ReleaseRefused where a known architecture has another checksum, or where a verified release would no longer be
 * verified because of the attestations that come with the content.
 */
export async function putRelease(db: Db, content: ReleaseContent, putting: Putting): Promise<PutRelease> {
  const { version, architectures, supportStatus: status = 'supported' } = content
  const { verifier, verdicts, now } = putting
  const judgement = judgementOf(verifier, verdicts)
  if (await insertRelease(db, { ...judgement, version, support_status: status, created_at: now })) {
    await writeArchitectures(db, version, architectures)
    return { outcome: 'added', supportStatus: status, judgement }
  }
  const known = await lockRelease(db, version)
  if (known === undefined) throw new Error('a release vanished, although none is ever deleted')
  return putKnown(db, { known, content, putting })
}

interface KnownPut {
  readonly known: ReleaseRecord
  readonly content: ReleaseContent
  readonly putting: Putting
}

async function putKnown(db: Db, { known, content, putting }: KnownPut): Promise<PutRelease> {
  const { version } = known
  const stored = await readArchitectures(db, version)
  refuseOtherBinaries(stored, content)
  const changed = content.architectures.filter((one) => isNews(one, stored))
  const judgement = await judgeTogether(known, { stored, changed, content }, putting)
  refuseLoss(known, judgement)
  const supportStatus =
    known.support_status === 'withdrawn' ? 'withdrawn' : (content.supportStatus ?? known.support_status)
  const isSame = changed.length === 0 && supportStatus === known.support_status && isSameJudgement(known, judgement)
  if (isSame) return { outcome: 'unchanged', supportStatus, judgement }
  await writeArchitectures(db, version, changed)
  await updateRelease(db, version, { ...judgement, support_status: supportStatus, updated_at: putting.now })
  return { outcome: 'changed', supportStatus, judgement }
}

function refuseOtherBinaries(stored: readonly ArchitectureContent[], { version, architectures }: ReleaseContent): void {
  const checksums = new Map(stored.map(({ architecture, checksum }) => [architecture, checksum]))
  const other = architectures.find(({ architecture, checksum }) => {
    const former = checksums.get(architecture)
    return former !== undefined && former !== checksum
  })
  if (other === undefined) return
  throw new ReleaseRefused(
    `Release ${version} is known with another checksum for ${other.architecture}; a binary that changed needs a version of its own.`,
  )
}

/** Whether the architecture is new, or has an attestation that is not stored. */
function isNews({ architecture, bundle }: ArchitectureContent, stored: readonly ArchitectureContent[]): boolean {
  const former = stored.find((one) => one.architecture === architecture)
  if (former === undefined) return true
  return bundle !== undefined && (former.bundle === undefined || !Buffer.from(bundle).equals(former.bundle))
}

/**
 * Judges what is stored and what comes. A verdict of these signers stands while its attestation is the same: a signature
 * over the bytes of a binary cannot be verified again without it.
 */
async function judgeTogether(
  known: ReleaseRecord,
  { stored, changed, content }: Merging,
  { verifier, verdicts }: Putting,
): Promise<Judgement> {
  const isNew = (name: string): boolean => changed.some(({ architecture }) => architecture === name)
  const same = stored.filter(({ architecture }) => !isNew(architecture))
  const ofChanged = [...verdicts].filter(([architecture]) => isNew(architecture))
  const standing = standingVerdict(known, verifier)
  if (standing !== undefined)
    return judgementOf(verifier, new Map([...ofChanged, ...same.map((one) => [one.architecture, standing] as const)]))
  const attested = new Set(
    content.architectures.filter((one) => one.bundle !== undefined).map((one) => one.architecture),
  )
  const ofSame = await judgeArchitectures(
    verifier,
    known.version,
    same.filter(({ architecture }) => !attested.has(architecture)),
  )
  return judgementOf(verifier, new Map([...verdicts, ...ofSame]))
}

interface Merging {
  readonly stored: readonly ArchitectureContent[]
  readonly changed: readonly ArchitectureContent[]
  readonly content: ReleaseContent
}

/** That of each architecture of a release that these signers have signed as a whole. */
function standingVerdict(known: ReleaseRecord, { fingerprint }: ReleaseVerifier): Verdict | undefined {
  const { verdict, judged_with, signed_by: signedBy } = known
  if (verdict !== 'verified' || judged_with !== fingerprint || signedBy === null) return undefined
  return { verdict, signedBy }
}

/** A bad attestation must not take the verdict of a good one away; other signers may, when they judge. */
function refuseLoss(known: ReleaseRecord, judgement: Judgement): void {
  const isLost = known.verdict === 'verified' && judgement.verdict === 'unverified'
  if (!isLost || known.judged_with !== judgement.judged_with) return
  throw new ReleaseRefused(
    `Release ${known.version} is verified and would not be any more, so it stays as it is (${judgement.verdict_reason}).`,
  )
}

function isSameJudgement(known: ReleaseRecord, judgement: Judgement): boolean {
  const names = ['verdict', 'verdict_reason', 'signed_by', 'judged_with'] as const
  return names.every((name) => known[name] === judgement[name])
}

import type { artifacts } from '../../../shared/contract/artifacts.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { harmless, type Style } from '../../output/style.ts'
import { displayWidth, padded } from '../../output/width.ts'

/** A release as the API answers it. */
export type Release = Result<(typeof artifacts)['operations']['GetPlexdArtifact']>

const LABEL_WIDTH = 9
const GAP = '  '
const ARCHITECTURE = 'ARCHITECTURE'

/** A release on one screen. Nothing is cut: people compare checksums, and copy identities. */
export function releaseLines(release: Release, style: Style): readonly string[] {
  const facts = factsOf(release, style).map(([title, text]) => `${style.bold(title.padEnd(LABEL_WIDTH))}${text}`)
  return [...facts, '', ...architectureLines(release, style)]
}

type Fact = readonly [title: string, text: string]

function factsOf(release: Release, style: Style): readonly Fact[] {
  const { version, support_status: status, verdict, verdict_reason: reason, signed_by: signer } = release
  return [
    ['release', harmless(version)],
    ['status', paintOf(style, status)(harmless(status))],
    ['verdict', style[verdict === 'verified' ? 'good' : 'bad'](verdict)],
    ...(signer === undefined ? [] : [['signer', harmless(signer)] as const]),
    ...(reason === undefined ? [] : [['reason', harmless(reason)] as const]),
  ]
}

const STATUS_PAINTS = { supported: 'good', deprecated: 'warn', withdrawn: 'bad' } as const

/** A later server may have other statuses (S1 Versioning 2). */
function paintOf(style: Style, status: string): (text: string) => string {
  const paint = Object.entries(STATUS_PAINTS).find(([known]) => known === status)?.[1]
  return paint === undefined ? (text) => text : style[paint]
}

function architectureLines({ architectures }: Release, style: Style): readonly string[] {
  const rows = architectures.map(({ architecture, checksum }) => [harmless(architecture), harmless(checksum)] as const)
  const width = Math.max(ARCHITECTURE.length, ...rows.map(([architecture]) => displayWidth(architecture)))
  const head = style.bold(`${padded(ARCHITECTURE, width)}${GAP}SHA-256`)
  return [head, ...rows.map(([architecture, checksum]) => `${padded(architecture, width)}${GAP}${checksum}`)]
}

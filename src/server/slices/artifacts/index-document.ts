import { z } from 'zod'
import { architectureMembers, firstFaultOf, releaseMembers } from '../../releases/release-content.ts'
import { SourceFault } from './source-fault.ts'

const RELEASES_MAX = 1_000

/** Below the index: no name begins with a dot, so that none leads out of its folder. */
const BUNDLE_PATH = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

const IndexedArchitecture = z.object({
  ...architectureMembers,
  bundle: z.string().max(512).regex(BUNDLE_PATH, 'must be a path below the index').optional(),
})

/** Further members are ignored: a later format may have some. */
const Index = z.object({
  serial: z.int().min(0),
  releases: z
    .array(z.object(releaseMembers(IndexedArchitecture)))
    .max(RELEASES_MAX)
    .refine((all) => new Set(all.map(({ version }) => version)).size === all.length, 'must name each version once'),
})

export type ReleaseIndex = z.infer<typeof Index>
export type IndexedRelease = ReleaseIndex['releases'][number]
export type IndexedArchitecture = z.infer<typeof IndexedArchitecture>

/** Parses an index whose signature was verified. @throws SourceFault */
export function parseIndex(bytes: Buffer): ReleaseIndex {
  const parsed = Index.safeParse(jsonIn(bytes))
  if (parsed.success) return parsed.data
  throw new SourceFault(`index.json is no index of releases (${firstFaultOf(parsed.error)})`)
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new SourceFault('index.json is not JSON', error)
  }
}

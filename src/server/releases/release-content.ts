import { z } from 'zod'
import { isSemanticVersion } from '../../shared/semantic-version.ts'

/** A release as somebody publishes it. */
export interface ReleaseContent {
  /** Semantic version. */
  readonly version: string
  /** Undefined: a new release is supported, a known one stays as it is. */
  readonly supportStatus: SupportStatus | undefined
  /** At least one, each named once. */
  readonly architectures: readonly ArchitectureContent[]
}

export type SupportStatus = 'supported' | 'deprecated' | 'withdrawn'

/** One binary of a release. */
export interface ArchitectureContent {
  readonly architecture: string
  /** SHA-256 of the binary, 64 hex digits in lower case. */
  readonly checksum: string
  /** The Sigstore bundle; undefined where there is none. */
  readonly bundle: Uint8Array | undefined
  /** The binary itself, where it is there. */
  readonly binary?: Uint8Array | undefined
}

/** Longest attestation that is taken, in bytes. */
export const BUNDLE_BYTES_MAX = 1024 * 1024

const ARCHITECTURES_MAX = 32

/** What a description of a release has for each architecture. */
export const architectureMembers = {
  architecture: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be a name such as x86_64 or aarch64'),
  checksum: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hex digits in lower case'),
}

/** What a description of a release has, for an architecture of that form. */
export function releaseMembers<A extends z.ZodType<{ readonly architecture: string }>>(architecture: A) {
  return {
    version: z.string().refine(isSemanticVersion, 'must be a semantic version such as 1.5.0'),
    support_status: z.enum(['supported', 'deprecated', 'withdrawn']).optional(),
    architectures: z
      .array(architecture)
      .min(1)
      .max(ARCHITECTURES_MAX)
      .refine((all) => new Set(all.map((one) => one.architecture)).size === all.length, 'must name each once'),
  }
}

/** The first fault of a document, as a part of a sentence: where it is, and what it must be. */
export function firstFaultOf({ issues: [first] }: z.ZodError): string {
  const place = first === undefined || first.path.length === 0 ? 'the document' : first.path.join('.')
  return `${place}: ${first?.message ?? 'is malformed'}`
}

/** Tables of the releases of the node agent. */
export interface ReleasesTables {
  releases: ReleaseRow
  release_architectures: ReleaseArchitectureRow
}

/** A release of the node agent. */
export interface ReleaseRow {
  /** Semantic version. */
  version: string
  /** Orders versions by their precedence (Semantic Versioning 2.0.0, 11) as texts, byte by byte. */
  precedence: string
  support_status: 'supported' | 'deprecated' | 'withdrawn'
  verdict: 'verified' | 'unverified'
  /** Why it is unverified; null where it is verified. */
  verdict_reason: string | null
  /** The identity in the signing certificate; null unless verified. */
  signed_by: string | null
  /** Fingerprint of the signers and trust root that the verdict follows from; another one asks for another verdict. */
  judged_with: string | null
  created_at: Date
  updated_at: Date
}

interface ReleaseArchitectureRow {
  version: string
  architecture: string
  /** SHA-256 of the binary. */
  checksum: Buffer
  /** The Sigstore bundle as it came; null where there is none. */
  bundle: Buffer | null
}
